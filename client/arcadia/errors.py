"""Errors of the client.

ArcadiaError
 ├─ ServerUnreachableError    no Arcadia server answers at the URL
 ├─ WaitTimeoutError          wait() has reached its timeout
 ├─ AmbiguousReferenceError   a name or range does not identify the intended runs
 ├─ JobFailedError            an evaluation or a recording failed or was cancelled
 ├─ DownloadError             a file is not available, or its content is damaged
 ├─ MissingPackageError       an optional package is not installed
 ├─ NotLoadedError            an AsyncRun from a list lacks a detail
 └─ ApiError                  the server rejected a request
     ├─ UnauthorizedError     401: the message names the token; or 403
     ├─ NotFoundError         404
     ├─ ConflictError         409
     └─ InvalidRequestError   422
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


class ArcadiaError(Exception):
    """An error whose message describes the problem and the solution."""


class ServerUnreachableError(ArcadiaError):
    """No Arcadia server answered."""


class WaitTimeoutError(ArcadiaError):
    """A waiting call has reached its timeout. The run or job continues."""


class AmbiguousReferenceError(ArcadiaError):
    """A name or range that does not identify exactly the intended runs."""


class JobFailedError(ArcadiaError):
    """An evaluation or a recording that failed or was cancelled."""


class DownloadError(ArcadiaError):
    """A file that is not available, or whose content is damaged."""


class MissingPackageError(ArcadiaError):
    """A call that needs an optional package."""


class NotLoadedError(ArcadiaError):
    """A detail of an AsyncRun from a list, which leaves it out."""

    def __init__(self, run_id: int) -> None:
        super().__init__(
            f"Run {run_id} is from a list, which leaves out details such as the configuration. "
            'Await its refresh() first, or list runs with include=["config"].'
        )


class ApiError(ArcadiaError):
    """A request that the server rejected."""

    def __init__(self, status: int, detail: str, fields: Sequence[Mapping[str, Any]] = ()) -> None:
        self.status, self.detail, self.fields = status, detail, list(fields)
        super().__init__("\n".join([detail, *(f"  {each['field']}: {each['message']}" for each in fields)]))


class UnauthorizedError(ApiError):
    """A missing or wrong token."""


class NotFoundError(ApiError):
    """A path or an id that does not exist."""


class ConflictError(ApiError):
    """An action that the current state does not allow."""


class InvalidRequestError(ApiError):
    """A request with invalid values."""


_BY_STATUS: dict[int, type[ApiError]] = {
    401: UnauthorizedError,
    403: UnauthorizedError,
    404: NotFoundError,
    409: ConflictError,
    422: InvalidRequestError,
}


def error_from_problem(status: int, problem: object) -> ApiError:
    """Return the error of a problem document, or of another response."""
    kind = _BY_STATUS.get(status, ApiError)
    if not isinstance(problem, Mapping) or "detail" not in problem:
        return kind(status, f"The server answered with status {status} and no explanation. Is this the URL of Arcadia?")
    return kind(status, str(problem["detail"]), problem.get("errors") or ())
