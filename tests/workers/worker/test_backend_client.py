"""Tests for how a worker interprets the backend's responses."""

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from arcadia_workers.contract.values import LONGEST_MESSAGE, LONGEST_TRACEBACK
from arcadia_workers.contract.worker_api import OfferedCheckpoint
from arcadia_workers.worker.answers import (
    MAX_INTERNAL_ERRORS,
    MAX_SECONDS,
    BackendError,
    Backoff,
    FailingError,
    RejectedError,
    SequenceGapError,
    StaleAttemptError,
    UnreachableError,
    WrongTokenError,
    retry,
)
from arcadia_workers.worker.assignment import Assignment, Ending
from arcadia_workers.worker.backend_client import BackendClient
from arcadia_workers.worker.machine import machine_facts
from tests.workers.worker_api import TOKEN, Answer, WorkerApi, problem

RUN = Assignment("runs", 1, 1)


def answering(api: WorkerApi, answer: Answer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the API respond to every request like this."""
    monkeypatch.setattr(api, "answer", lambda *_: answer)


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (problem(409, "stale-attempt"), StaleAttemptError),
        (problem(404, "not-found"), StaleAttemptError),
        (problem(409, "sequence-gap", expected=5), SequenceGapError),
        (problem(409, "upload-offset"), UnreachableError),
        (problem(422, "invalid"), RejectedError),
        (problem(413, "too-large"), RejectedError),
        (problem(401, "unauthorized"), WrongTokenError),
        (problem(421, "wrong-host"), UnreachableError),
        (problem(429, "busy"), UnreachableError),
        (problem(500, "broken"), FailingError),
        (problem(503, "busy"), UnreachableError),
    ],
)
def test_each_error_response_raises_the_matching_exception(
    api: WorkerApi,
    client: BackendClient,
    monkeypatch: pytest.MonkeyPatch,
    answer: Answer,
    error: type[BackendError],
) -> None:
    answering(api, answer, monkeypatch)
    with pytest.raises(error):
        client.post_events(RUN, [{"seq": 1}])


def test_a_client_reports_a_wrong_token_once_and_sends_nothing_more(
    api: WorkerApi, client: BackendClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    reports: list[str] = []
    requests: list[str] = []

    def answer(_method: str, url: str, _body: bytes) -> Answer:
        requests.append(url)
        return problem(401, "unauthorized")

    monkeypatch.setattr(client, "_on_wrong_token", lambda: reports.append("wrong"))
    monkeypatch.setattr(api, "answer", answer)
    for _ in range(3):
        with pytest.raises(WrongTokenError):
            retry(lambda: client.post_events(RUN, [{"seq": 1}]), lambda: False)
    assert (len(reports), len(requests)) == (1, 1)


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
def test_responses_from_a_proxy_count_as_an_unreachable_backend(
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


def test_a_proxy_page_is_not_mistaken_for_a_damaged_checkpoint(
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


def test_an_unknown_path_does_not_end_the_run(
    api: WorkerApi, client: BackendClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    answering(api, problem(404, "no-such-path", detail="There is nothing at /api/v1/worker/heartbeat."), monkeypatch)
    with pytest.raises(UnreachableError):
        held(client)


def test_rejected_fields_are_named(api: WorkerApi, client: BackendClient, monkeypatch: pytest.MonkeyPatch) -> None:
    fields = [{"field": "events.0.step", "message": "must not be negative"}]
    answering(api, problem(422, "invalid", detail="One field is wrong.", errors=fields), monkeypatch)
    with pytest.raises(RejectedError, match=r"422 One field is wrong.*events.0.step.*must not be negative"):
        client.claim()


def test_a_refused_connection_raises_unreachable_error(api: WorkerApi) -> None:
    url = api.url
    api.close()
    with pytest.raises(UnreachableError, match="is not reachable"):
        BackendClient(url, TOKEN, "tester", "cpu").claim()


def test_an_empty_queue_is_not_an_error(client: BackendClient) -> None:
    assert client.claim() is None


def test_a_long_ending_is_truncated_to_the_backends_limit(api: WorkerApi, client: BackendClient) -> None:
    client.release(
        Assignment("runs", 7, 1), Ending("failed", "m" * 2 * LONGEST_MESSAGE, "t" * LONGEST_TRACEBACK + "the end")
    )
    (release,) = api.releases
    assert release["message"] == "m" * LONGEST_MESSAGE
    assert len(release["traceback"]) == LONGEST_TRACEBACK
    assert release["traceback"].endswith("the end")


def test_delays_grow_to_a_limit_and_can_be_reset() -> None:
    backoff = Backoff()
    delays = [backoff.delay() for _ in range(20)]
    assert delays[0] <= 0.2
    assert min(delays[-5:]) >= MAX_SECONDS / 2
    assert max(delays) <= MAX_SECONDS
    backoff.reset()
    assert backoff.delay() <= 0.2


def test_retries_end_with_a_response_or_cancellation() -> None:
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


def test_an_endless_response_is_not_read_completely(
    api: WorkerApi, client: BackendClient, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("arcadia_workers.worker.backend_client.MAX_RESPONSE_BYTES", 1_000)
    answering(api, (200, {"desired": None, "lease_seconds": 60, "more": "x" * 2_000}), monkeypatch)
    with pytest.raises(UnreachableError, match="Is there a proxy in between"):
        held(client)
    answering(api, (200, b"x" * 50_000_000), monkeypatch)
    sha256 = hashlib.sha256(b"weights").hexdigest()
    offered = OfferedCheckpoint(id=5, file="checkpoints/a", sha256=sha256, bytes=7, step=1, frames=4)
    with pytest.raises(UnreachableError):
        client.download(Assignment("runs", 1, 1), offered, tmp_path / "part")
    assert (tmp_path / "part").stat().st_size < 10_000_000


def test_a_response_that_never_ends_times_out(
    api: WorkerApi, client: BackendClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("arcadia_workers.worker.backend_client.MAX_RESPONSE_SECONDS", -1.0)
    assert api.url == client.url
    with pytest.raises(UnreachableError):
        held(client)


def test_retries_stop_after_repeated_failures(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("arcadia_workers.worker.answers.MAX_SECONDS", 0.001)
    tries: list[int] = []

    def call() -> None:
        tries.append(1)
        raise FailingError("an error of its own")

    with pytest.raises(FailingError):
        retry(call, bool)
    assert len(tries) == MAX_INTERNAL_ERRORS


def test_a_large_file_is_sent_in_pieces_and_continues_where_it_was_cut(
    api: WorkerApi, client: BackendClient, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("arcadia_workers.worker.backend_client.PIECE_BYTES", 1_000)
    file = tmp_path / "a"
    file.write_bytes(bytes(range(250)) * 18)
    api.cuts = [300, 0]
    for _ in range(2):
        with pytest.raises(UnreachableError):
            client.upload(RUN, "checkpoint", "a", file)
    client.upload(RUN, "checkpoint", "a", file)
    assert api.files == {"a": file.read_bytes()}
    assert api.pieces == [300, 0, 1_000, 1_000, 1_000, 1_000, 200]
    # It is complete, so nothing is sent again.
    client.upload(RUN, "checkpoint", "a", file)
    assert len(api.pieces) == 7


def test_a_server_that_acknowledges_nothing_counts_as_unreachable(
    api: WorkerApi, client: BackendClient, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("arcadia_workers.worker.backend_client.PIECE_BYTES", 1_000)
    file = tmp_path / "a"
    file.write_bytes(bytes(2_000))
    answering(api, (200, {"file_id": None, "offset": 0}), monkeypatch)
    with pytest.raises(UnreachableError, match="received nothing of a"):
        client.upload(RUN, "checkpoint", "a", file)
