"""Errors that clients see, as problem documents (RFC 9457).

Problem
 ├─ NotFound      404
 ├─ NoSuchPath    404
 ├─ Conflict      409   the state does not allow it
 ├─ Invalid       422   lists the wrong fields
 ├─ Unstorable    422   the database cannot store a value
 ├─ Unavailable   503   the database or the disk does not respond
 └─ Unauthorized  401 …  (backend/arcadia_backend/web/security.py)
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

from arcadia_backend.failure_log import FailureLog
from arcadia_workers.contract.worker_api import NOT_FOUND, PROBLEM_MEDIA_TYPE, PROBLEM_TYPES

log = logging.getLogger(__name__)

DISK_FULL = "The server's disk is full. Free some space, because nothing can be stored until then."

# A list of thousands of items may have an error in each.
MAX_FIELD_ERRORS = 20
# Descriptions of the patterns of names.
_RULES: dict[str, str] = {}


class FieldError(BaseModel):
    """An error of one field, for example config.num_envs."""

    field: str
    message: str


class WrongPart(BaseModel):
    """The wrong part of an expression. Positions count characters from 0."""

    field: str
    position: int
    length: int
    suggestions: list[str]


class ProblemDocument(BaseModel):
    """An error response (RFC 9457)."""

    type: str
    title: str
    status: int
    detail: str
    errors: list[FieldError] | None = None
    expression: WrongPart | None = None


class Problem(Exception):  # noqa: N818 - the term of RFC 9457
    """An error with a sentence for the client."""

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
    """The object does not exist."""

    status = 404
    kind = NOT_FOUND
    title = "Not found"


class NoSuchPath(Problem):
    """The API has no such path."""

    status = 404
    kind = "no-such-path"
    title = "Not found"


class Conflict(Problem):
    """The state of the object does not allow the action."""

    status = 409
    kind = "conflict"
    title = "Not possible now"


class Invalid(Problem):
    """A field has an invalid value."""

    status = 422
    kind = "invalid"
    title = "Invalid value"

    def __init__(self, *errors: FieldError) -> None:
        super().__init__("; ".join(f"{error.field}: {error.message}" for error in errors), errors=errors)


class Unstorable(Problem):
    """The database cannot store a value that passed validation."""

    status = 422
    kind = "unstorable"
    title = "Value cannot be stored"


class Unavailable(Problem):
    """The database or the disk does not respond, or is full. The request may be correct."""

    status = 503
    kind = "unavailable"
    title = "Not available now"


class _ProblemResponse(JSONResponse):
    """JSON response that replaces lone surrogates by a question mark, since a message may quote them."""

    media_type = PROBLEM_MEDIA_TYPE

    def render(self, content: Any) -> bytes:
        """Encode the document."""
        return json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


def respond(problem: Problem) -> JSONResponse:
    """Return the response of a problem."""
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
    """Convert Pydantic's errors. Field names are dotted paths without `body`."""
    relevant = [
        error for before, error in zip([None, *errors], errors, strict=False) if not _is_consequence(before, error)
    ]
    problems = []
    for error in relevant[:MAX_FIELD_ERRORS]:
        path = [str(part) for part in error["loc"]]
        if path and path[0] in ("body", "query", "path", "header"):
            path = path[1:]
        problems.append(FieldError(field=".".join(path) or "body", message=_message(error)))
    if len(relevant) > MAX_FIELD_ERRORS:
        problems.append(
            FieldError(field="body", message=f"{len(relevant) - MAX_FIELD_ERRORS:,} more values are invalid")
        )
    return problems


def with_rule(pattern: str, rule: str) -> str:
    """Return a pattern of names. Errors show its rule instead of the pattern, which few people can read."""
    _RULES[pattern] = rule
    return pattern


def _message(error: Any) -> str:
    """Return Pydantic's message, in plain words for values that people type."""
    context = error.get("ctx") or {}
    match error["type"]:
        case "extra_forbidden":
            return "no such field"
        case "string_pattern_mismatch" if context["pattern"] in _RULES:
            return _RULES[context["pattern"]]
        case "literal_error" | "enum" if isinstance(error["input"], str):
            return f"{error['input'][:100]!r} is not one of {context['expected']}"
        case "string_too_short" if context["min_length"] == 1:
            return "must not be empty"
        case "string_too_short":
            return f"must have at least {context['min_length']} characters"
    return str(error["msg"]).removeprefix("Value error, ")


def _is_consequence(before: Any, error: Any) -> bool:
    """Return True if a list is only too short because of the error before, which rejected one of its items."""
    part = len(error["loc"])
    return bool(
        before and error["type"] == "too_short" and len(before["loc"]) > part and before["loc"][:part] == error["loc"]
    )


def describe(document: dict[str, Any]) -> dict[str, Any]:
    """Add the problem document to all operations of an OpenAPI document, in place of FastAPI's 422."""
    schemas = document["components"]["schemas"]
    for replaced in ("HTTPValidationError", "ValidationError"):
        schemas.pop(replaced, None)
    schemas["ProblemDocument"] = ProblemDocument.model_json_schema(ref_template="#/components/schemas/{model}")
    schemas.update(schemas["ProblemDocument"].pop("$defs"))
    content = {PROBLEM_MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/ProblemDocument"}}}
    for item in document["paths"].values():
        for call in item.values():
            call["responses"].pop("422", None)
            call["responses"]["default"] = {
                "description": "The error, with the wrong fields.",
                "content": content,
            }
    _replace_constants(document)
    return document


def _replace_constants(part: Any) -> None:
    """Replace constant integers by ranges, since a common generator of Python clients makes broken code of them."""
    for each in part.values() if isinstance(part, dict) else part if isinstance(part, list) else ():
        _replace_constants(each)
    if isinstance(part, dict) and type(part.get("const")) is int:
        part["minimum"] = part["maximum"] = part.pop("const")


def install(app: FastAPI) -> None:
    """Respond to every error with a problem document."""
    app.state.failures = FailureLog(log)

    @app.exception_handler(Problem)
    def problem(_caller: HTTPConnection, error: Problem) -> JSONResponse:
        # Starlette sends the response, also to a WebSocket.
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

    # Database drivers raise one of these for values that they cannot store.
    for unstorable in (DataError, OverflowError, UnicodeEncodeError):
        app.exception_handler(unstorable)(_unstorable)
    for failure in (OperationalError, InterfaceError, OSError):
        app.exception_handler(failure)(unavailable)
    app.exception_handler(Exception)(unexpected)


def _why_unreadable(error: HTTPException) -> str | None:
    """Return why FastAPI could not parse a body, or None for any other error."""
    if isinstance(error.__cause__, RecursionError):
        return "the JSON is nested too deeply"
    if isinstance(error.__cause__, UnicodeDecodeError):
        return "the JSON is not encoded in UTF-8"
    return None


def _unstorable(request: Request, error: Exception) -> JSONResponse:
    _failures(request).failed("A value cannot be stored", error, level=logging.WARNING)
    reason = str(error.orig if isinstance(error, DataError) else error).partition("\n")[0]
    return respond(Unstorable(f"The request contains a value that cannot be stored: {reason}"))


def unavailable(request: Request, error: Exception) -> JSONResponse:
    """Respond with 503, and log the error."""
    _failures(request).failed("the database or the disk does not respond", error)
    if is_disk_full(error):
        return respond(Unavailable(DISK_FULL))
    return respond(Unavailable("The server cannot use its database or disk now. Try again later, or see its log."))


def unexpected(request: Request, error: Exception) -> JSONResponse:
    """Respond with 500, and log the error. The client gets no details."""
    _failures(request).failed("Unexpected error", error)
    other = Problem("The server had an internal error. See its log.")
    other.status, other.title, other.kind = 500, "Internal error", "internal"
    return respond(other)


def is_disk_full(error: BaseException | None) -> bool:
    """Return True if a write failed because the disk of this machine or of PostgreSQL is full."""
    if isinstance(error, OSError):
        return error.errno in (errno.ENOSPC, errno.EDQUOT)
    if isinstance(error, DBAPIError):
        message = str(error.orig)
        return "disk is full" in message or "No space left on device" in message
    return False


def _failures(request: Request) -> FailureLog:
    failures: FailureLog = request.app.state.failures
    return failures
