"""What the backend's answers mean to a worker."""

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.workers.worker_api import TOKEN, Answer, WorkerApi, problem
from workers.contract.values import LONGEST_MESSAGE, LONGEST_TRACEBACK
from workers.contract.worker_api import OfferedCheckpoint
from workers.worker.answers import (
    BackendError,
    FailingError,
    RejectedError,
    SequenceGapError,
    StaleAttemptError,
    UnreachableError,
)
from workers.worker.assignment import Assignment
from workers.worker.backend_client import BackendClient
from workers.worker.backoff import MAX_INTERNAL_ERRORS, MAX_SECONDS, Backoff, retry
from workers.worker.endings import Ending
from workers.worker.machine import machine_facts

RUN = Assignment("runs", 1, 1)


def answering(api: WorkerApi, answer: Answer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the API answer everything so."""
    monkeypatch.setattr(api, "answer", lambda *_: answer)


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (problem(409, "stale-attempt"), StaleAttemptError),
        (problem(404, "not-found"), StaleAttemptError),
        (problem(409, "sequence-gap", expected=5), SequenceGapError),
        (problem(422, "invalid"), RejectedError),
        (problem(413, "too-large"), RejectedError),
        (problem(401, "unauthorized"), UnreachableError),
        (problem(421, "wrong-host"), UnreachableError),
        (problem(429, "busy"), UnreachableError),
        (problem(500, "broken"), FailingError),
        (problem(503, "busy"), UnreachableError),
    ],
)
def test_an_error_says_what_to_do_about_it(
    api: WorkerApi,
    client: BackendClient,
    monkeypatch: pytest.MonkeyPatch,
    answer: Answer,
    error: type[BackendError],
) -> None:
    answering(api, answer, monkeypatch)
    with pytest.raises(error):
        client.post_events(RUN, [{"seq": 1}])


PAGE = b"<html>a proxy's page</html>"


def held(client: BackendClient) -> object:
    return client.heartbeat(machine_facts(), 1, [RUN])


@pytest.mark.parametrize("content", [PAGE, b"", {"ok": True}, [], {"type": "about:blank", "status": 404}])
@pytest.mark.parametrize(
    "call",
    [
        held,
        lambda client: client.post_events(RUN, [{"seq": 1}]),
        lambda client: client.upload(RUN, "checkpoint", "a", Path(__file__)),
        lambda client: client.release(RUN, Ending("finished")),
    ],
    ids=["heartbeat", "events", "upload", "release"],
)
def test_what_is_not_the_backends_word_only_says_that_it_was_not_reached(
    api: WorkerApi,
    client: BackendClient,
    monkeypatch: pytest.MonkeyPatch,
    content: Any,
    call: Callable[[BackendClient], object],
) -> None:
    for status in (200, 302, 404, 409, 413, 421, 422, 502):
        answering(api, (status, content), monkeypatch)
        with pytest.raises(UnreachableError):
            call(client)


def test_a_page_in_the_place_of_a_checkpoint_is_not_taken_for_a_damaged_one(
    api: WorkerApi, client: BackendClient, tmp_path: Path
) -> None:
    sha256 = hashlib.sha256(b"weights").hexdigest()
    offered = OfferedCheckpoint(id=5, file="checkpoints/a", sha256=sha256, bytes=7, step=1, frames=4)
    api.downloads[5] = PAGE
    with pytest.raises(UnreachableError, match="Is there a proxy in between"):
        client.download(RUN, offered, tmp_path / "part")
    api.hashes[5] = sha256
    assert not client.download(RUN, offered, tmp_path / "part"), "the backend's own bytes are damaged"
    api.downloads[5] = b"weights"
    assert client.download(RUN, offered, tmp_path / "part")


def test_a_backend_that_does_not_know_a_call_does_not_take_the_run_away(
    api: WorkerApi, client: BackendClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    answering(api, problem(404, "no-such-path", detail="There is nothing at /api/v1/worker/heartbeat."), monkeypatch)
    with pytest.raises(UnreachableError):
        held(client)


def test_fields_that_were_refused_are_named(
    api: WorkerApi, client: BackendClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    fields = [{"field": "events.0.step", "message": "must not be negative"}]
    answering(api, problem(422, "invalid", detail="One field is wrong.", errors=fields), monkeypatch)
    with pytest.raises(RejectedError, match=r"422 One field is wrong.*events.0.step.*must not be negative"):
        client.claim()


def test_nobody_there_is_worth_another_try(api: WorkerApi) -> None:
    url = api.url
    api.close()
    with pytest.raises(UnreachableError, match="is not reachable"):
        BackendClient(url, TOKEN, "tester", "cpu").claim()


def test_nothing_to_claim_is_no_error(client: BackendClient) -> None:
    assert client.claim() is None


def test_a_long_ending_is_cut_to_what_the_backend_takes(api: WorkerApi, client: BackendClient) -> None:
    client.release(
        Assignment("runs", 7, 1), Ending("failed", "m" * 2 * LONGEST_MESSAGE, "t" * LONGEST_TRACEBACK + "the end")
    )
    (release,) = api.releases
    assert release["message"] == "m" * LONGEST_MESSAGE
    assert len(release["traceback"]) == LONGEST_TRACEBACK
    assert release["traceback"].endswith("the end")


def test_delays_grow_to_a_limit_and_begin_again() -> None:
    backoff = Backoff()
    delays = [backoff.delay() for _ in range(20)]
    assert delays[0] <= 0.2
    assert min(delays[-5:]) >= MAX_SECONDS / 2
    assert max(delays) <= MAX_SECONDS
    backoff.reset()
    assert backoff.delay() <= 0.2


def test_persisting_ends_with_an_answer_or_with_giving_up() -> None:
    answers: list[Any] = [UnreachableError("away"), UnreachableError("away"), "here"]

    def call() -> str:
        answer = answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return str(answer)

    def is_canceled_after(tries: int) -> Callable[[], bool]:
        left = iter(range(tries))
        return lambda: next(left, None) is None

    assert retry(call, is_canceled_after(2)) == "here"
    answers[:] = [UnreachableError("away")] * 3
    with pytest.raises(UnreachableError):
        retry(call, is_canceled_after(1))
    assert len(answers) == 1


def test_an_answer_without_end_is_not_read_to_its_end(
    api: WorkerApi, client: BackendClient, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("workers.worker.backend_client.MAX_RESPONSE_BYTES", 1_000)
    answering(api, (200, {"desired": None, "lease_seconds": 60, "more": "x" * 2_000}), monkeypatch)
    with pytest.raises(UnreachableError, match="Is there a proxy in between"):
        held(client)
    answering(api, (200, b"x" * 50_000_000), monkeypatch)
    sha256 = hashlib.sha256(b"weights").hexdigest()
    offered = OfferedCheckpoint(id=5, file="checkpoints/a", sha256=sha256, bytes=7, step=1, frames=4)
    with pytest.raises(UnreachableError):
        client.download(Assignment("runs", 1, 1), offered, tmp_path / "part")
    assert (tmp_path / "part").stat().st_size < 10_000_000


def test_an_answer_that_takes_for_ever_is_not_waited_for(
    api: WorkerApi, client: BackendClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("workers.worker.backend_client.MAX_RESPONSE_SECONDS", -1.0)
    assert api.url == client.url
    with pytest.raises(UnreachableError):
        held(client)


def test_a_backend_that_fails_again_and_again_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("workers.worker.backoff.MAX_SECONDS", 0.001)
    tries: list[int] = []

    def call() -> None:
        tries.append(1)
        raise FailingError("an error of its own")

    with pytest.raises(FailingError):
        retry(call, bool)
    assert len(tries) == MAX_INTERNAL_ERRORS
