"""Errors of backend calls, and when to repeat them.

Only the expected response, or a problem document, counts as a response of the backend. Anything else comes from a
proxy in between, and means that the backend was not reached.

BackendError
├── UnreachableError    the backend was not reached: the same call may succeed later
│   ├── LaterError      the backend is busy: the same call may succeed later
│   ├── ElsewhereError  the backend belongs to another installation than the run
│   ├── WrongTokenError the worker must end, and be started again with the right token
│   └── FailingError    internal error: the same call may succeed later, or never
├── NameTakenError      another active worker has this name
├── StaleAttemptError   another worker holds the run, or it was purged
├── SequenceGapError    the backend is missing an earlier event
└── RejectedError       the same call would always fail
"""

import json
import logging
import random
import time
from collections.abc import Callable, Mapping
from typing import NoReturn, TypeVar

import httpx
from pydantic import BaseModel, ValidationError

from arcadia_workers.contract.worker_api import (
    NAME_TAKEN,
    NOT_FOUND,
    OTHER_INSTALLATION,
    PROBLEM_MEDIA_TYPE,
    SEQUENCE_GAP,
    STALE_ATTEMPT,
    UPLOAD_OFFSET,
    ToldProblem,
)

# Mistakes that an operator can fix during training, and a busy backend.
RETRYABLE_STATUSES = (403, 404, 405, 408, 421, 429)

Expected = TypeVar("Expected", bound=BaseModel)


class BackendError(Exception):
    """A call to the backend failed."""


class UnreachableError(BackendError):
    """The backend was not reached. Retry later."""


class LaterError(UnreachableError):
    """The backend is busy. The same call may succeed later."""


class ElsewhereError(UnreachableError):
    """The backend belongs to another installation than the run."""


class WrongTokenError(UnreachableError):
    """The backend does not accept the worker token. The worker must end: its next start delivers what is left."""


class FailingError(UnreachableError):
    """The backend has an internal error on this call, or on every call."""


class NameTakenError(BackendError):
    """Another active worker has this name."""


class StaleAttemptError(BackendError):
    """This worker no longer holds the run."""


class SequenceGapError(BackendError):
    """The backend is missing events before the sent ones."""

    def __init__(self, expected: int) -> None:
        super().__init__(f"the backend expects event {expected} next")
        self.expected = expected


class RejectedError(BackendError):
    """The backend rejects this call permanently."""


def expect(answer: type[Expected], reply: httpx.Response) -> Expected:
    """Parse the expected response of a call."""
    try:
        return answer.model_validate_json(reply.content)
    except ValidationError:
        raise not_the_backend(reply) from None


def not_the_backend(reply: httpx.Response) -> UnreachableError:
    """Return the error for a response that did not come from the backend."""
    kind = reply.headers.get("Content-Type", "no type")
    return UnreachableError(
        f"{reply.request.url} answered {reply.status_code} ({kind}), which is not a response of the backend. "
        "Is there a proxy in between?"
    )


def _read_problem(reply: httpx.Response) -> ToldProblem:
    """Parse a problem document of the backend."""
    kind = reply.headers.get("Content-Type", "").partition(";")[0].strip().lower()
    try:
        problem = ToldProblem.model_validate_json(reply.content)
    except ValidationError:
        raise not_the_backend(reply) from None
    if kind != PROBLEM_MEDIA_TYPE or problem.status != reply.status_code:
        raise not_the_backend(reply)
    return problem


_BY_TYPE: Mapping[str, type[BackendError]] = {
    STALE_ATTEMPT: StaleAttemptError,
    OTHER_INSTALLATION: ElsewhereError,
    UPLOAD_OFFSET: UnreachableError,  # the next try asks where to continue
}


def raise_problem(reply: httpx.Response, missing: type[BackendError]) -> NoReturn:
    """Raise the exception for a problem document, `missing` if the run or job does not exist."""
    problem = _read_problem(reply)
    text = f"{reply.status_code} {problem.detail or problem.title}"
    if problem.errors:
        text += f" {json.dumps(problem.errors)}"
    if problem.type.endswith(SEQUENCE_GAP) and problem.expected is not None:
        raise SequenceGapError(problem.expected)
    if problem.type.endswith(NAME_TAKEN):
        raise NameTakenError(problem.detail)
    for kind, error in _BY_TYPE.items():
        if problem.type.endswith(kind):
            raise error(text)
    if reply.status_code == httpx.codes.UNAUTHORIZED:
        raise WrongTokenError(text)
    if problem.type.endswith(NOT_FOUND):
        raise missing(text)
    if reply.status_code == httpx.codes.INTERNAL_SERVER_ERROR:
        raise FailingError(f"{reply.request.url} answered {text}")
    # An unknown path means that the backend has another version.
    if reply.status_code in RETRYABLE_STATUSES or reply.is_server_error:
        raise LaterError(f"{reply.request.url} answered {text}")
    raise RejectedError(text)


FIRST_SECONDS = 0.2
MAX_SECONDS = 3.0
# Only a person can change these.
FINAL = (ElsewhereError, WrongTokenError)
# Give up after this many internal errors, about half a minute.
MAX_INTERNAL_ERRORS = 15

Answer = TypeVar("Answer")

log = logging.getLogger(__name__)


class Backoff:
    """Exponential delays up to a limit, with jitter to spread the calls of many workers."""

    def __init__(self, first: float | None = None, longest: float | None = None) -> None:
        self._first = FIRST_SECONDS if first is None else first
        self._longest = MAX_SECONDS if longest is None else longest
        self._next = self._first

    def delay(self) -> float:
        """Return the next delay in seconds."""
        ceiling, self._next = self._next, min(2 * self._next, self._longest)
        return ceiling * random.uniform(0.5, 1.0)  # noqa: S311 - jitter, no secret

    def reset(self) -> None:
        """Restart with the shortest delay."""
        self._next = self._first


def retry(call: Callable[[], Answer], is_canceled: Callable[[], bool]) -> Answer:
    """Retry a call until it succeeds. Raise the last error if it is permanent or the caller cancels."""
    backoff, is_logged, failures = Backoff(), False, 0
    while True:
        try:
            return call()
        except UnreachableError as error:
            failures += isinstance(error, FailingError)
            if is_canceled() or failures >= MAX_INTERNAL_ERRORS or isinstance(error, FINAL):
                raise
            if not is_logged:
                log.warning("Retrying until the backend responds: %s", error)
            is_logged = True
            time.sleep(backoff.delay())
