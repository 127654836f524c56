"""What the backend's answers mean to a worker."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.workers.worker_api import TOKEN, Answer, WorkerApi, problem
from workers.backend_client import (
    BackendClient,
    BackendError,
    RefusedError,
    SequenceGapError,
    StaleAttemptError,
    UnreachableError,
)
from workers.backoff import LONGEST_SECONDS, Backoff, persist


def answering(api: WorkerApi, answer: Answer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the API answer everything so."""
    monkeypatch.setattr(api, "answer", lambda *_: answer)


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (problem(409, "stale-attempt"), StaleAttemptError),
        (problem(404, "not-found"), StaleAttemptError),
        (problem(409, "sequence-gap", expected=5), SequenceGapError),
        (problem(422, "invalid"), RefusedError),
        (problem(413, "too-large"), RefusedError),
        (problem(401, "unauthorized"), UnreachableError),
        (problem(429, "busy"), UnreachableError),
        (problem(500, "broken"), UnreachableError),
        ((502, b"<html>a proxy's page</html>"), UnreachableError),
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
        client.post_events(1, 1, [{"seq": 1}])


def test_fields_that_were_refused_are_named(
    api: WorkerApi, client: BackendClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    fields = [{"field": "events.0.step", "message": "must not be negative"}]
    answering(api, problem(422, "invalid", detail="One field is wrong.", errors=fields), monkeypatch)
    with pytest.raises(RefusedError, match=r"422 One field is wrong.*events.0.step.*must not be negative"):
        client.claim()


def test_nobody_there_is_worth_another_try(api: WorkerApi) -> None:
    url = api.url
    api.close()
    with pytest.raises(UnreachableError, match="is not reachable"):
        BackendClient(url, TOKEN, "tester", "cpu").claim()


def test_nothing_to_claim_is_no_error(client: BackendClient) -> None:
    assert client.claim() is None


def test_delays_grow_to_a_limit_and_begin_again() -> None:
    backoff = Backoff()
    delays = [backoff.delay() for _ in range(20)]
    assert delays[0] <= 0.2
    assert min(delays[-5:]) >= LONGEST_SECONDS / 2
    assert max(delays) <= LONGEST_SECONDS
    backoff.reset()
    assert backoff.delay() <= 0.2


def test_persisting_ends_with_an_answer_or_with_giving_up() -> None:
    answers: list[Any] = [UnreachableError("away"), UnreachableError("away"), "here"]

    def call() -> str:
        answer = answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return str(answer)

    def gives_up_after(tries: int) -> Callable[[], bool]:
        left = iter(range(tries))
        return lambda: next(left, None) is None

    assert persist(call, gives_up_after(2)) == "here"
    answers[:] = [UnreachableError("away")] * 3
    with pytest.raises(UnreachableError):
        persist(call, gives_up_after(1))
    assert len(answers) == 1
