"""What the backend's answers mean.

Only a problem document of the backend, or the answer that a call expects, is the backend's word. Anything else comes
from a proxy or a portal between, and means no more than that the backend was not reached.

BackendError
├── UnreachableError    the backend is away, busy or not reached: the same call may succeed later
│   ├── LaterError      the backend itself says that it may
│   ├── ElsewhereError  the backend is another installation than the run's
│   └── FailingError    the backend has an error of its own: the same call may succeed later, or never
├── NameTakenError      another live worker has this worker's name
├── StaleAttemptError   another worker has the run, or it was removed
├── SequenceGapError    the backend lacks an earlier event
└── RefusedError        the same call would always fail
"""

import json
from typing import NoReturn, TypeVar

import httpx
from pydantic import BaseModel, ValidationError

from workers.contract.worker_api import (
    NAME_TAKEN,
    NOT_FOUND,
    OTHER_INSTALLATION,
    PROBLEM_MEDIA_TYPE,
    SEQUENCE_GAP,
    STALE_ATTEMPT,
    ToldProblem,
)

# An operator's mistakes, put right while the trainer trains on, and a backend that is busy.
WORTH_ANOTHER_TRY = (401, 403, 404, 405, 408, 421, 429)

Expected = TypeVar("Expected", bound=BaseModel)


class BackendError(Exception):
    """A call to the backend failed."""


class UnreachableError(BackendError):
    """The backend is away, busy or not reached; try again later."""


class LaterError(UnreachableError):
    """The backend says that the same call may succeed later."""


class ElsewhereError(UnreachableError):
    """The run is of another installation than the backend that answers."""


class FailingError(UnreachableError):
    """The backend fails on this call, or on every one."""


class NameTakenError(BackendError):
    """Another live worker has this worker's name."""


class StaleAttemptError(BackendError):
    """This worker no longer has the run."""


class SequenceGapError(BackendError):
    """The backend lacks events before those sent."""

    def __init__(self, expected: int) -> None:
        super().__init__(f"the backend expects event {expected} next")
        self.expected = expected


class RefusedError(BackendError):
    """The backend refuses this call, however often it is made."""


def expect(answer: type[Expected], reply: httpx.Response) -> Expected:
    """Read the answer that a call expects."""
    try:
        return answer.model_validate_json(reply.content)
    except ValidationError:
        raise not_the_backend(reply) from None


def not_the_backend(reply: httpx.Response) -> UnreachableError:
    """Say that an answer came from somebody else."""
    kind = reply.headers.get("Content-Type", "no type")
    return UnreachableError(
        f"{reply.request.url} answered {reply.status_code} ({kind}), which is not the backend's word. "
        "Is a proxy between?"
    )


def _told(reply: httpx.Response) -> ToldProblem:
    """Read the backend's problem document; an answer that is none is not the backend's."""
    kind = reply.headers.get("Content-Type", "").partition(";")[0].strip().lower()
    try:
        problem = ToldProblem.model_validate_json(reply.content)
    except ValidationError:
        raise not_the_backend(reply) from None
    if kind != PROBLEM_MEDIA_TYPE or problem.status != reply.status_code:
        raise not_the_backend(reply)
    return problem


def raise_problem(reply: httpx.Response, missing: type[BackendError]) -> NoReturn:
    """Turn a problem into the exception that says what to do about it; a run that is missing was purged."""
    problem = _told(reply)
    text = f"{reply.status_code} {problem.detail or problem.title}"
    if problem.errors:
        text += f" {json.dumps(problem.errors)}"
    if problem.type.endswith(SEQUENCE_GAP) and problem.expected is not None:
        raise SequenceGapError(problem.expected)
    if problem.type.endswith(STALE_ATTEMPT):
        raise StaleAttemptError(text)
    if problem.type.endswith(NAME_TAKEN):
        raise NameTakenError(problem.detail)
    if problem.type.endswith(OTHER_INSTALLATION):
        raise ElsewhereError(text)
    if problem.type.endswith(NOT_FOUND):
        raise missing(text)
    if reply.status_code == httpx.codes.INTERNAL_SERVER_ERROR:
        raise FailingError(f"{reply.request.url} answered {text}")
    # A path that the backend does not know is one of another version.
    if reply.status_code in WORTH_ANOTHER_TRY or reply.is_server_error:
        raise LaterError(f"{reply.request.url} answered {text}")
    raise RefusedError(text)
