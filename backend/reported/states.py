"""State of a reported run: it follows the events of its newest writer, and fails when nothing is heard any more.

The leading attempt is the newest one that did not join another. Only its end decides the state, because the journal of
an earlier writer may arrive after a script has resumed the run.
"""

from datetime import datetime, timedelta

from sqlalchemy.orm import Session

from backend.alerts.service import raise_run_end
from backend.config import Settings
from backend.database.columns import utc_now
from backend.database.tables import Attempt, Run
from backend.events.sequence import to_datetime
from backend.logs.service import note
from backend.reported.events import LoggedEnd
from backend.runs.notices import announce_run
from workers.contract.worker_api import ENDED

_SENTENCES = {"finished": "Finished.", "stopped": "Stopped.", "paused": "Paused."}
KILLED = "The script ended without finishing the run. It was probably killed; its output may say why."
_DEFAULT_FAILURE = "The script failed without an error message."


def lead(settings: Settings, run: Run, attempt: Attempt) -> None:
    """Let a new writer lead the run, which runs again."""
    run.attempt, run.desired = attempt.attempt, "run"
    _run(settings, run)


def hear(settings: Settings, run: Run, attempt: Attempt) -> bool:
    """Record that a writer was heard. Return True if a run that failed by silence runs again."""
    if run.state == "running":
        run.lease_expires_at = _silence_ends(settings)
        return False
    if run.lease_expires_at is None or not (attempt.joins or attempt.attempt == run.attempt):
        return False
    attempt.outcome = attempt.ended_at = attempt.failure_message = None
    _run(settings, run)
    return True


def end(session: Session, run: Run, attempt: Attempt, event: LoggedEnd) -> None:
    """End an attempt. The run gets the outcome if the attempt leads it."""
    attempt.ended_at = to_datetime(event.time)
    attempt.outcome = "stopped" if event.outcome == "paused" else event.outcome
    has_failed = event.outcome == "failed"
    # An earlier end may have been reported by mistake, as for a script that was taken for killed.
    attempt.failure_message = (event.message or _DEFAULT_FAILURE) if has_failed else None
    attempt.failure_traceback = event.traceback if has_failed else None
    if attempt.attempt != run.attempt:
        return
    run.state, run.state_reason, run.lease_expires_at = event.outcome, None, None
    run.finished_at = attempt.ended_at if event.outcome in ENDED else None
    run.failure_message, run.failure_traceback = attempt.failure_message, attempt.failure_traceback
    if has_failed:
        run.state_reason = run.failure_message
        note(session, run, f"Failed: {run.failure_message}", "error")
    else:
        note(session, run, " ".join(part for part in (_SENTENCES[event.outcome], event.message) if part))
    raise_run_end(session, run)
    announce_run(session, run.id, "run.log")


def end_killed(session: Session, run: Run, attempt: Attempt, time: float) -> None:
    """End the attempt of a script that ended without an `end` event. A repeated call changes nothing.

    This is not an event of the script. If more of its events arrive, it was not killed, and the run continues.
    """
    if attempt.outcome not in (None, "lost") or attempt.failure_message == KILLED:
        return
    attempt.outcome, attempt.ended_at, attempt.failure_message = "lost", to_datetime(time), KILLED
    if attempt.attempt != run.attempt:
        return
    is_news = run.state == "running"
    run.state, run.state_reason, run.failure_message = "failed", KILLED, KILLED
    run.finished_at = attempt.ended_at
    note(session, run, f"Failed: {KILLED}", "error")
    if is_news:
        raise_run_end(session, run)
    announce_run(session, run.id, "run.changed", "run.log")


def fail_silent(session: Session, settings: Settings, run: Run) -> None:
    """Fail a run whose script is silent. Keep its lease, which marks that the script may still continue."""
    attempt = session.get_one(Attempt, (run.id, run.attempt))
    attempt.outcome, attempt.ended_at = "lost", utc_now()
    message = f"Nothing was heard from its script for {_duration(settings.reported_silence_seconds)}."
    run.state, run.state_reason, run.failure_message = "failed", message, message
    run.finished_at = attempt.ended_at
    note(session, run, f"Failed: {message}", "error")
    raise_run_end(session, run)
    announce_run(session, run.id, "run.changed", "run.log")


def _run(settings: Settings, run: Run) -> None:
    run.state, run.state_reason, run.finished_at, run.archived_at = "running", None, None, None
    run.failure_message = run.failure_traceback = None
    run.lease_expires_at = _silence_ends(settings)


def _silence_ends(settings: Settings) -> datetime:
    return utc_now() + timedelta(seconds=settings.reported_silence_seconds)


def _duration(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:g} seconds"
    return f"{seconds / 60:.3g} minutes"
