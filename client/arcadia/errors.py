"""Errors of the client.

ArcadiaError
 ├─ ServerUnreachableError    no Arcadia server answers at the URL
 ├─ WaitTimeoutError          wait() has reached its timeout
 ├─ AmbiguousReferenceError   a reference is malformed, or names several runs where one is expected
 ├─ JobFailedError            an evaluation or a recording failed or was cancelled
 ├─ DownloadError             a file is not available, or its content is damaged
 ├─ MissingPackageError       an optional package is not installed
 ├─ NotLoadedError            an AsyncRun from a list lacks a detail
 └─ ApiError                  the server rejected a request
     ├─ UnauthorizedError     401: the message names the token; or 403
     ├─ NotFoundError         404, or no run, project, alias or figure has a name
     ├─ ConflictError         409
     └─ InvalidRequestError   422
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

MAX_LISTED_NAMES = 30


class ArcadiaError(Exception):
    """An error whose message describes the problem and the solution."""


class ServerUnreachableError(ArcadiaError):
    """No Arcadia server answered."""


class WaitTimeoutError(ArcadiaError):
    """A waiting call has reached its timeout. The run or job continues."""


class AmbiguousReferenceError(ArcadiaError):
    """A malformed reference, or a name of several runs."""


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
    """A request that the server rejected. `kind` is the last part of the problem's type, such as not-found."""

    def __init__(
        self, status: int, detail: str, fields: Sequence[Mapping[str, Any]] = (), kind: str = "unknown"
    ) -> None:
        self.status, self.detail, self.fields, self.kind = status, detail, list(fields), kind
        # The detail of most errors is already the list of wrong fields.
        lines = [f"{each['field']}: {each['message']}" for each in fields]
        super().__init__("\n".join([detail, *(f"  {line}" for line in lines if line not in detail)]))


class UnauthorizedError(ApiError):
    """A missing or wrong token."""


class NotFoundError(ApiError):
    """A path, an id or a name that does not exist."""

    @classmethod
    def of_name(cls, noun: str, name: str, known: Iterable[str] = ()) -> NotFoundError:
        """Return the error for an unknown name, with similar ones or a short list of all."""
        names = list(known)
        close = get_close_matches(name, names, n=3)
        if close:
            hint = f" Did you mean {' or '.join(close)}?"
        else:
            hint = f" Known: {', '.join(names)}." if 0 < len(names) <= MAX_LISTED_NAMES else ""
        return cls(404, f"There is no {noun} named {name!r}.{hint}")


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
    error = _BY_STATUS.get(status, ApiError)
    if not isinstance(problem, Mapping) or "detail" not in problem:
        return error(
            status, f"The server answered with status {status} and no explanation. Is this the URL of Arcadia?"
        )
    kind = str(problem.get("type", "unknown")).rpartition("/")[2]
    return error(status, str(problem["detail"]), problem.get("errors") or (), kind)
