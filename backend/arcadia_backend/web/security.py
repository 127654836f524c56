"""Access control: tokens and sessions, and protection from other sites."""

import hashlib
import hmac
import re
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal, cast

from fastapi import Depends, WebSocket
from starlette.concurrency import run_in_threadpool
from starlette.requests import HTTPConnection

from arcadia_backend.config import API, COOKIE, Settings
from arcadia_backend.errors import Problem
from arcadia_backend.web.sessions import SessionStore, WrongTokenLimit, proof_of
from arcadia_workers.contract.live import ticket
from arcadia_workers.contract.worker_api import INSTALLATION_HEADER, OTHER_INSTALLATION

STREAM = f"{API}/events"
WATCHES = re.compile(rf"{STREAM}/[^/]+/watches")

# Paths that need no session: sign-in, health, and the kinds of figures, which pages of shared reports read.
PUBLIC = (f"{API}/session", f"{API}/health", f"{API}/figures")
# Shared reports. Their links contain a token, which backend/arcadia_backend/reports/routes.py checks.
SHARED_REPORTS = f"{API}/shared/"
WORKERS_ONLY = f"{API}/worker/"

SAFE_METHODS = ("GET", "HEAD", "OPTIONS")
# Job ids have at most 16 digits.
LIVE_SOCKET = re.compile(rf"{API}/worker/jobs/(\d{{1,16}})/live")
UPLOAD = re.compile(
    rf"{API}/(worker/(runs|jobs)/\d+/files|reported/runs/\d+/(artifact-)?files/[0-9a-f]{{64}}|archives|agents)"
)
ARCHIVES = f"{API}/archives"


class Unauthorized(Problem):
    """The request has no valid token or session."""

    status = 401
    kind = "unauthorized"
    title = "No valid token or session"


class Forbidden(Problem):
    """A page of another site made the request."""

    status = 403
    kind = "forbidden"
    title = "Request from another site"


class WrongHost(Problem):
    """The Host header is not a name of this server."""

    status = 421
    kind = "wrong-host"
    title = "Wrong host name"


class OtherInstallation(Problem):
    """The run of a worker belongs to another installation."""

    status = 421
    kind = OTHER_INSTALLATION
    title = "Another installation"


# As arcadia.version.user_agent writes it.
_CLIENT = re.compile(r"arcadia-client/\S{1,50} \((CLI|Python client|MCP)(?:; ([\w.?@-]{1,81}))?\)", re.ASCII)
# The key of the ASGI scope with the principal of a request that this process makes for a caller.
PRINCIPAL = "arcadia.principal"
# The key of the ASGI scope with the rights of a caller, once the server has accounts.
ACTING = "arcadia.acting"
MAX_CALLER_LENGTH = 100
PrincipalKind = Literal["nobody", "owner", "token", "session", "worker", "job"]


@dataclass(frozen=True)
class Principal:
    """Who makes a request. Accounts will add to it (docs/decisions/0096-who-calls-is-a-principal.md).

    nobody    has shown nothing: sign-in, health, and readers of shared reports, whose link the route checks
    owner     any caller of a server without a user token, which only listens on this machine
    token     has the user token
    session   is a browser that has signed in
    worker    has the worker token
    job       is the process of one job, with a ticket of its worker
    """

    kind: PrincipalKind
    address: str = ""
    # The user and the kind of client, as the client itself says.
    user: str = ""
    client: str = "API"
    # The proof of the session.
    session: str | None = None

    def __str__(self) -> str:
        """Return the user or address and the kind of client, such as: ana@gpu-box (CLI)."""
        who = self.user or self.address
        return (f"{who} ({self.client})" if who else self.client)[:MAX_CALLER_LENGTH]


async def guard(request: HTTPConnection) -> Principal:
    """Return who calls. Require the worker token for worker routes, and a token or session for other routes."""
    # Use the routed path. request.url contains the Host header, which the client controls.
    path: str = request.scope["path"]
    if ACTING in request.scope:
        # backend/arcadia_backend/web/perimeter.py has checked the credentials and the right.
        if path.startswith(WORKERS_ONLY):
            _check_installation(request)
        return cast("Principal", request.scope[PRINCIPAL])
    if path.startswith(WORKERS_ONLY):
        _require_worker_token(request)
        _check_installation(request)
        return principal_of(request, "worker")
    if is_public(path):
        return principal_of(request, "nobody")
    principal = await identify(request)
    if principal.kind != "nobody":
        return principal
    if bearer_of(request):
        raise Unauthorized("This token is wrong. Send the value of ARCADIA_TOKEN on the server.")
    raise Unauthorized("Sign in, or send the token: Authorization: Bearer … (ARCADIA_TOKEN).")


Caller = Annotated[Principal, Depends(guard)]


async def guard_socket(socket: WebSocket) -> Principal:
    """Return who opens a WebSocket. Require a session or token. A live game's process may send a ticket instead."""
    if has_ticket(socket):
        _check_installation(socket)
        return principal_of(socket, "job")
    return await guard(socket)


def has_ticket(socket: HTTPConnection) -> bool:
    """Return True if the process of a live game has sent the ticket of its worker."""
    path: str = socket.scope["path"]
    live, expected = LIVE_SOCKET.fullmatch(path), socket.app.state.settings.worker_token.get_secret_value()
    attempt = socket.query_params.get("attempt", "")
    named = live and expected and attempt.isdecimal() and len(attempt) < 10
    return bool(live and named and same(bearer_of(socket), ticket(expected, int(live[1]), int(attempt))))


_JOB_TOKEN = re.compile(r"arcadia-job-(\d{1,16})-(\d{1,9})-[0-9a-f]{64}")
# What the worker of a job calls besides the routes of its run.
_OF_EVERY_WORKER = (f"{WORKERS_ONLY}heartbeat", f"{WORKERS_ONLY}goodbye")


def job_token(worker_token: str, run_id: int, attempt: int) -> str:
    """Return the token of a scheduler's job. It is only for one run, and does not reveal the worker token."""
    named = f"arcadia-job-{run_id}-{attempt}"
    return f"{named}-{hmac.new(worker_token.encode(), named.encode(), hashlib.sha256).hexdigest()}"


def run_of_job_token(connection: HTTPConnection) -> int | None:
    """Return the run of a valid token of a scheduler's job, or None if another token was sent."""
    sent, expected = bearer_of(connection), connection.app.state.settings.worker_token.get_secret_value()
    match = _JOB_TOKEN.fullmatch(sent)
    if match is None or not expected or not same(sent, job_token(expected, int(match[1]), int(match[2]))):
        return None
    return int(match[1])


def has_job_token(connection: HTTPConnection) -> bool:
    """Return True if a scheduler's job calls a route of its run, or one of every worker."""
    run_id, path = run_of_job_token(connection), str(connection.scope["path"])
    if run_id is None:
        return False
    return path.startswith(f"{WORKERS_ONLY}runs/{run_id}/") or path in _OF_EVERY_WORKER


async def identify(request: HTTPConnection) -> Principal:
    """Return the user who calls, or nobody. Count a wrong token."""
    if (known := request.scope.get(PRINCIPAL)) is not None:
        return cast("Principal", known)
    settings: Settings = request.app.state.settings
    token = settings.token.get_secret_value()
    if not token:
        return principal_of(request, "owner")
    if sent := bearer_of(request):
        return principal_of(request, "token" if matches_token(request, sent, settings) else "nobody")
    if cookie := request.cookies.get(COOKIE):
        sessions: SessionStore = request.app.state.sessions
        proof = proof_of(cookie, token)
        if sessions.is_cached(proof) or await run_in_threadpool(sessions.is_valid, proof):
            return replace(principal_of(request, "session"), session=proof)
    return principal_of(request, "nobody")


def principal_of(request: HTTPConnection, kind: PrincipalKind) -> Principal:
    """Return the principal of a request, with the user and the client as it says itself."""
    agent = request.headers.get("user-agent", "")
    match = _CLIENT.match(agent)
    client = match[1] if match else "browser" if agent.startswith("Mozilla/") else "API"
    return Principal(kind, address_of(request), (match[2] or "") if match else "", client)


def _require_worker_token(request: HTTPConnection) -> None:
    expected: str = request.app.state.settings.worker_token.get_secret_value()
    if not expected:
        raise Unauthorized("Workers cannot connect: ARCADIA_WORKER_TOKEN is not set on the server.")
    if has_job_token(request) or matches(request, bearer_of(request), expected, request.app.state.worker_token_limit):
        return
    if bearer_of(request):
        raise Unauthorized("This worker token is wrong. Send the value of ARCADIA_WORKER_TOKEN on the server.")
    raise Unauthorized("Send the worker token: Authorization: Bearer … (ARCADIA_WORKER_TOKEN).")


def _check_installation(request: HTTPConnection) -> None:
    sent = request.headers.get(INSTALLATION_HEADER)
    if sent is not None and sent != request.app.state.installation:
        raise OtherInstallation(
            "The run belongs to another installation. Start the backend with the database that contains the run."
        )


def describe_access(document: dict[str, Any]) -> dict[str, Any]:
    """Add the required tokens of each operation to an OpenAPI document."""
    document["components"]["securitySchemes"] = {
        "user": {"type": "http", "scheme": "bearer", "description": "ARCADIA_TOKEN, if it is set."},
        "session": {"type": "apiKey", "in": "cookie", "name": COOKIE, "description": "Set by POST /session."},
        "worker": {"type": "http", "scheme": "bearer", "description": "ARCADIA_WORKER_TOKEN."},
    }
    # The empty entry is for a server without a user token.
    users: list[dict[str, list[str]]] = [{"user": []}, {"session": []}, {}]
    for path, item in document["paths"].items():
        needed = [{"worker": []}] if path.startswith(WORKERS_ONLY) else [] if is_public(path) else users
        for call in item.values():
            call["security"] = needed
    return document


def is_public(path: str) -> bool:
    """Return True if a path needs no session."""
    return path in PUBLIC or path.startswith(SHARED_REPORTS)


def matches_token(request: HTTPConnection, given: str, settings: Settings) -> bool:
    """Return True if this is the user token. Otherwise count it."""
    return matches(request, given, settings.token.get_secret_value(), request.app.state.user_token_limit)


def matches(request: HTTPConnection, given: str, expected: str, limit: WrongTokenLimit) -> bool:
    """Compare a token in constant time. Log and limit wrong ones, but always accept the right one.

    A script with an old token, or an attacker behind the same address, must not lock out others.
    """
    if same(given, expected):
        return True
    if given:
        limit.count(address_of(request), given)
    return False


def address_of(request: HTTPConnection) -> str:
    """Return the address that a request came from."""
    return request.client.host if request.client else ""


def bearer_of(request: HTTPConnection) -> str:
    """Return the token of a request, or an empty text."""
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else ""


def same(given: str, expected: str) -> bool:
    """Compare secrets in constant time."""
    return hmac.compare_digest(given.encode("utf-8", "surrogateescape"), expected.encode())
