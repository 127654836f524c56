"""The log of failures. A repeated failure is logged once in full, then as a count per minute."""

import errno
import logging

import pytest
from sqlalchemy.exc import OperationalError

from arcadia_backend.failure_log import FORGET_SECONDS, FailureLog

log = logging.getLogger("test")


def error_of(failures: FailureLog, what: str, error: Exception) -> None:
    """Raise and log an error."""
    with pytest.raises(type(error)) as raised:
        raise error
    failures.failed(what, raised.value)


def test_a_repeated_failure_has_one_traceback_and_a_count_per_minute(caplog: pytest.LogCaptureFixture) -> None:
    now = [0.0]
    failures = FailureLog(log, clock=lambda: now[0])
    for number in range(121):
        now[0] = float(number)
        error_of(failures, "It failed", OSError(errno.ENOSPC, "No space left on device", f"file-{number}"))
    assert caplog.messages == ["It failed", *["It failed: OSError: No space left on device (60 more times)"] * 2]
    assert caplog.text.count("Traceback") == 1
    now[0] += FORGET_SECONDS + 1
    error_of(failures, "It failed", OSError(errno.ENOSPC, "No space left on device"))
    assert caplog.text.count("Traceback") == 2


def test_the_same_error_in_two_places_has_one_traceback(caplog: pytest.LogCaptureFixture) -> None:
    failures = FailureLog(log)
    for what in ("Reading failed", "Writing failed"):
        error_of(failures, what, OperationalError(f"SQL of {what}", None, Exception("database or disk is full")))
    assert caplog.messages == ["Reading failed", "Writing failed: Exception: database or disk is full"]
    assert caplog.text.count("SQL of") == 1


def test_a_failure_after_a_recovery_is_logged_again(caplog: pytest.LogCaptureFixture) -> None:
    failures = FailureLog(log)
    assert not failures.recovered("It failed")
    error_of(failures, "It failed", ValueError("first"))
    assert failures.recovered("It failed")
    error_of(failures, "It failed", ValueError("first"))
    assert caplog.messages == ["It failed", "It failed"]


def test_a_guarded_task_logs_a_failure_once_until_it_works_again(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    failures = FailureLog(log)
    outcomes: list[Exception | None] = [OSError("no room"), OSError("no room"), None, None, KeyError("gone")]
    for error in outcomes:
        with failures.guard("Sweeping"):
            if error is not None:
                raise error
    failed = "Sweeping failed and will be retried"
    assert caplog.messages == [failed, "Sweeping works again", failed]
    assert "no room" in caplog.text
