"""Problems told to clients as RFC 9457 documents: what was wrong, where, and what would be right.

Problem
 ├─ NotFound      404
 ├─ NoSuchPath    404
 ├─ Conflict      409   the state forbids it
 ├─ Invalid       422   names the fields
 ├─ Unstorable    422   the database cannot hold a value
 ├─ Unavailable   503   the database or the disk does not answer
 └─ Unauthorized  401 …  (backend/web/security.py)
"""

import errno
import json
import logging
from collections.abc import Sequence
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError, ValidationException, WebSocketRequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel
from sqlalchemy.exc import DataError, DBAPIError, InterfaceError, OperationalError
from starlette.exceptions import HTTPException
from starlette.requests import HTTPConnection

from backend.failure_log import FailureLog
from workers.contract.worker_api import NOT_FOUND, PROBLEM_MEDIA_TYPE, PROBLEM_TYPES

log = logging.getLogger(__name__)

DISK_FULL = "The server's disk is full. Free some space on it; until then nothing can be stored."

# A list of thousands may be wrong in each place.
MAX_FIELD_ERRORS = 20


class FieldError(BaseModel):
    """What is wrong with one field, as config.num_envs."""

    field: str
    message: str


class ProblemDocument(BaseModel):
    """An error as clients see it (RFC 9457)."""

    type: str
    title: str
    status: int
    detail: str
    errors: list[FieldError] | None = None


class Problem(Exception):  # noqa: N818 - RFC 9457 calls it so
    """An error that the client sees, as a plain sentence."""

    status = 400
    kind = "bad-request"
    title = "The request cannot be answered"

    def __init__(self, detail: str, *, errors: Sequence[FieldError] | None = None, **more: Any) -> None:
        super().__init__(detail)
        self.detail = detail
        self.errors = errors
        self.more = more
        self.headers: dict[str, str] = {}


class NotFound(Problem):
    """No such thing."""

    status = 404
    kind = NOT_FOUND
    title = "Not found"


class NoSuchPath(Problem):
    """The API has no such path: the caller is of another version, or wrong."""

    status = 404
    kind = "no-such-path"
    title = "Not found"


class Conflict(Problem):
    """The thing is in a state that forbids it."""

    status = 409
    kind = "conflict"
    title = "Not possible now"


class Invalid(Problem):
    """A field has a value that it must not have."""

    status = 422
    kind = "invalid"
    title = "Invalid value"

    def __init__(self, *errors: FieldError) -> None:
        super().__init__("; ".join(f"{error.field}: {error.message}" for error in errors), errors=errors)


class Unstorable(Problem):
    """A value that no field refuses and the database cannot hold."""

    status = 422
    kind = "unstorable"
    title = "Value cannot be stored"


class Unavailable(Problem):
    """The database or the disk does not answer, or is full; nothing is wrong with the request."""

    status = 503
    kind = "unavailable"
    title = "Not available now"


class _ProblemResponse(JSONResponse):
    """Half a character, which a request may have in it and a message may repeat, becomes a question mark."""

    media_type = PROBLEM_MEDIA_TYPE

    def render(self, content: Any) -> bytes:
        """Write the document."""
        return json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


def respond(problem: Problem) -> JSONResponse:
    """The problem as a response."""
    content: dict[str, Any] = {
        "type": f"{PROBLEM_TYPES}{problem.kind}",
        "title": problem.title,
        "status": problem.status,
        "detail": problem.detail,
        **problem.more,
    }
    if problem.errors:
        content["errors"] = [error.model_dump() for error in problem.errors]
    return _ProblemResponse(content, problem.status, headers=problem.headers)


def field_errors(errors: Sequence[Any]) -> list[FieldError]:
    """Pydantic's errors by dotted field; `body` is not part of a field's name."""
    told = [error for before, error in zip([None, *errors], errors, strict=False) if not _follows(before, error)]
    found = []
    for error in told[:MAX_FIELD_ERRORS]:
        path = [str(part) for part in error["loc"]]
        if path and path[0] in ("body", "query", "path", "header"):
            path = path[1:]
        message = str(error["msg"]).removeprefix("Value error, ")
        if error["type"] == "extra_forbidden":
            message = "no such field"
        found.append(FieldError(field=".".join(path) or "body", message=message))
    if len(told) > MAX_FIELD_ERRORS:
        found.append(FieldError(field="body", message=f"{len(told) - MAX_FIELD_ERRORS:,} more values are not right"))
    return found


def _follows(before: Any, error: Any) -> bool:
    """Whether a list only counts as too short since what was in it is refused, as the error before says."""
    part = len(error["loc"])
    return bool(
        before and error["type"] == "too_short" and len(before["loc"]) > part and before["loc"][:part] == error["loc"]
    )


def describe(document: dict[str, Any]) -> dict[str, Any]:
    """Say in an OpenAPI document that every call may answer with a problem, 422 included."""
    schemas = document["components"]["schemas"]
    for fastapis_own in ("HTTPValidationError", "ValidationError"):
        schemas.pop(fastapis_own, None)
    schemas["ProblemDocument"] = ProblemDocument.model_json_schema(ref_template="#/components/schemas/{model}")
    schemas.update(schemas["ProblemDocument"].pop("$defs"))
    content = {PROBLEM_MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/ProblemDocument"}}}
    for item in document["paths"].values():
        for call in item.values():
            call["responses"].pop("422", None)
            call["responses"]["default"] = {
                "description": "What was wrong, where, and what is right.",
                "content": content,
            }
    _spell_out_constants(document)
    return document


def _spell_out_constants(part: Any) -> None:
    """Write a constant number as a range: the common generator of Python clients makes broken code of it."""
    for each in part.values() if isinstance(part, dict) else part if isinstance(part, list) else ():
        _spell_out_constants(each)
    if isinstance(part, dict) and type(part.get("const")) is int:
        part["minimum"] = part["maximum"] = part.pop("const")


def install(app: FastAPI) -> None:
    """Answer every error of the application as a problem document."""
    app.state.failures = FailureLog(log)

    @app.exception_handler(Problem)
    def problem(_caller: HTTPConnection, error: Problem) -> JSONResponse:
        # Starlette sends it, to a WebSocket as well; sending it here too would raise there.
        return respond(error)

    @app.exception_handler(RequestValidationError)
    @app.exception_handler(WebSocketRequestValidationError)
    def validation(_caller: HTTPConnection, error: ValidationException) -> JSONResponse:
        return respond(Invalid(*field_errors(error.errors())))

    @app.exception_handler(HTTPException)
    def http(_request: Request, error: HTTPException) -> JSONResponse:
        if (wrong := _why_unreadable(error)) is not None:
            return respond(Invalid(FieldError(field="body", message=wrong)))
        phrase = HTTPStatus(error.status_code).phrase
        other = Problem(str(error.detail))
        other.headers = dict(error.headers or {})
        other.status, other.title = error.status_code, phrase
        other.kind = phrase.lower().replace(" ", "-")
        return respond(other)

    # The database's driver refuses what it cannot hold by any of these.
    for unstorable in (DataError, OverflowError, UnicodeEncodeError):
        app.exception_handler(unstorable)(_unstorable)
    for failure in (OperationalError, InterfaceError, OSError):
        app.exception_handler(failure)(unavailable)
    app.exception_handler(Exception)(unexpected)


def _why_unreadable(error: HTTPException) -> str | None:
    """Say why FastAPI could not parse a body, for which it raises 400; None for any other error."""
    if isinstance(error.__cause__, RecursionError):
        return "the JSON is nested too deeply"
    if isinstance(error.__cause__, UnicodeDecodeError):
        return "the JSON is not encoded in UTF-8"
    return None


def _unstorable(request: Request, error: Exception) -> JSONResponse:
    _failures(request).failed("a value that cannot be stored", error, level=logging.WARNING)
    reason = str(error.orig if isinstance(error, DataError) else error).partition("\n")[0]
    return respond(Unstorable(f"The request holds a value that cannot be stored: {reason}"))


def unavailable(request: Request, error: Exception) -> JSONResponse:
    """Answer that nothing is wrong with the request."""
    _failures(request).failed("the database or the disk does not answer", error)
    if is_disk_full(error):
        return respond(Unavailable(DISK_FULL))
    return respond(Unavailable("The server cannot use its database or its disk now; its log says why. Try later."))


def unexpected(request: Request, error: Exception) -> JSONResponse:
    """Answer an error of ours: the log has it, the client has only the word."""
    _failures(request).failed("unexpected error", error)
    other = Problem("Something went wrong inside the server; its log says what.")
    other.status, other.title, other.kind = 500, "Internal error", "internal"
    return respond(other)


def is_disk_full(error: BaseException | None) -> bool:
    """Return whether a write failed because a disk is full, this machine's or PostgreSQL's."""
    if isinstance(error, OSError):
        return error.errno in (errno.ENOSPC, errno.EDQUOT)
    if isinstance(error, DBAPIError):
        said = str(error.orig)
        return "disk is full" in said or "No space left on device" in said
    return False


def _failures(request: Request) -> FailureLog:
    failures: FailureLog = request.app.state.failures
    return failures
