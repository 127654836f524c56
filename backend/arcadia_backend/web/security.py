"""Access control: tokens and sessions, and protection from other sites."""

import hmac
import ipaddress
import re
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal, cast
from urllib.parse import urlsplit

from fastapi import Depends, Request, WebSocket
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from arcadia_backend.config import API, COOKIE, LOOPBACK_NAMES, Settings
from arcadia_backend.errors import NoSuchPath, Problem, respond, unexpected
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

# Pages with only one chart, which other pages may show in a frame.
EMBED = re.compile(r"/embed(/.*)?")

_POLICY = (
    "default-src 'self'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; "
    "media-src 'self' blob:; worker-src 'self' blob:; object-src 'none'; base-uri 'none'; form-action 'self'; "
)
_HEADERS = {
    "Content-Security-Policy": _POLICY + "frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
}


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
    if path.startswith(WORKERS_ONLY):
        _require_worker_token(request)
        _check_installation(request)
        return _principal(request, "worker")
    if is_public(path):
        return _principal(request, "nobody")
    principal = await identify(request)
    if principal.kind != "nobody":
        return principal
    if _bearer(request):
        raise Unauthorized("This token is wrong. Send the value of ARCADIA_TOKEN on the server.")
    raise Unauthorized("Sign in, or send the token: Authorization: Bearer … (ARCADIA_TOKEN).")


Caller = Annotated[Principal, Depends(guard)]


async def guard_socket(socket: WebSocket) -> Principal:
    """Return who opens a WebSocket. Require a session or token. A live game's process may send a ticket instead."""
    path: str = socket.scope["path"]
    live, expected = LIVE_SOCKET.fullmatch(path), socket.app.state.settings.worker_token.get_secret_value()
    attempt = socket.query_params.get("attempt", "")
    named = live and expected and attempt.isdecimal() and len(attempt) < 10
    if live and named and _same(_bearer(socket), ticket(expected, int(live[1]), int(attempt))):
        _check_installation(socket)
        return _principal(socket, "job")
    return await guard(socket)


async def identify(request: HTTPConnection) -> Principal:
    """Return the user who calls, or nobody. Count a wrong token."""
    if (known := request.scope.get(PRINCIPAL)) is not None:
        return cast("Principal", known)
    settings: Settings = request.app.state.settings
    token = settings.token.get_secret_value()
    if not token:
        return _principal(request, "owner")
    if sent := _bearer(request):
        return _principal(request, "token" if matches_token(request, sent, settings) else "nobody")
    if cookie := request.cookies.get(COOKIE):
        sessions: SessionStore = request.app.state.sessions
        proof = proof_of(cookie, token)
        if sessions.is_cached(proof) or await run_in_threadpool(sessions.is_valid, proof):
            return replace(_principal(request, "session"), session=proof)
    return _principal(request, "nobody")


def _principal(request: HTTPConnection, kind: PrincipalKind) -> Principal:
    agent = request.headers.get("user-agent", "")
    match = _CLIENT.match(agent)
    client = match[1] if match else "browser" if agent.startswith("Mozilla/") else "API"
    return Principal(kind, _address(request), (match[2] or "") if match else "", client)


def _require_worker_token(request: HTTPConnection) -> None:
    expected: str = request.app.state.settings.worker_token.get_secret_value()
    if not expected:
        raise Unauthorized("Workers cannot connect: ARCADIA_WORKER_TOKEN is not set on the server.")
    if _matches(request, _bearer(request), expected, request.app.state.worker_token_limit):
        return
    if _bearer(request):
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
    return _matches(request, given, settings.token.get_secret_value(), request.app.state.user_token_limit)


def _matches(request: HTTPConnection, given: str, expected: str, limit: WrongTokenLimit) -> bool:
    """Compare a token in constant time. Log and limit wrong ones, but always accept the right one.

    A script with an old token, or an attacker behind the same address, must not lock out others.
    """
    if _same(given, expected):
        return True
    if given:
        limit.count(_address(request), given)
    return False


def _address(request: HTTPConnection) -> str:
    return request.client.host if request.client else ""


def _bearer(request: HTTPConnection) -> str:
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else ""


def _same(given: str, expected: str) -> bool:
    return hmac.compare_digest(given.encode("utf-8", "surrogateescape"), expected.encode())


class Perimeter:
    """Outermost middleware: checks the host and the origin, limits bodies, and adds security headers."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self._app = app
        self._settings = settings
        own = {settings.host, f"[{settings.host}]"} if ":" in settings.host else {settings.host}
        self._embed_policy = _POLICY + " ".join(["frame-ancestors 'self'", *settings.embed_origins])
        self._names = {name.lower() for name in (*LOOPBACK_NAMES, *settings.allowed_hosts, *own)}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or respond with a problem."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] == "websocket":
            await self._open_socket(scope, receive, _denying(scope, receive, self._with_headers(scope, send)))
            return

        has_started = False
        send_with_headers = self._with_headers(scope, send)

        async def send_safely(message: Message) -> None:
            nonlocal has_started
            has_started = True
            await send_with_headers(message)

        headers = Headers(scope=scope)
        problem = self._host_problem(headers) or _origin_problem(scope, headers)
        if problem is not None:
            await respond(problem)(scope, receive, send_safely)
            return
        try:
            await self._app(scope, _bounded(receive, self._limit(scope)), send_safely)
        except Exception as error:
            # Respond here, so that the response gets its headers. Raise again for the server's log.
            if not has_started:
                await unexpected(Request(scope), error)(scope, receive, send_safely)
            raise

    async def _open_socket(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Open a WebSocket, or deny it. Check the origin, since browsers let any site open WebSockets."""
        headers = Headers(scope=scope)
        problem = self._host_problem(headers) or _origin_problem(scope, headers)
        if problem is None:
            await self._app(scope, receive, send)
        else:
            await respond(problem)(scope, receive, send)

    def _with_headers(self, scope: Scope, send: Send) -> Send:
        """Add the security headers to a response, including a denied WebSocket."""
        headers_to_add = dict(_HEADERS)
        if EMBED.fullmatch(scope["path"]):
            headers_to_add["Content-Security-Policy"] = self._embed_policy
            # It cannot name several origins, and browsers follow the policy.
            del headers_to_add["X-Frame-Options"]

        async def send_with_headers(message: Message) -> None:
            if message["type"] in ("http.response.start", "websocket.http.response.start"):
                headers = MutableHeaders(scope=message)
                for name, value in headers_to_add.items():
                    headers.setdefault(name, value)
                if scope["path"].startswith(API):
                    headers.setdefault("Cache-Control", "no-store")
            await send(message)

        return send_with_headers

    def _limit(self, scope: Scope) -> int:
        if scope["method"] == "POST" and scope["path"] == ARCHIVES:
            return self._settings.max_archive_bytes
        is_upload = scope["method"] in ("PUT", "POST") and UPLOAD.fullmatch(scope["path"])
        return self._settings.max_file_bytes if is_upload else self._settings.max_body_bytes

    def _host_problem(self, headers: Headers) -> Problem | None:
        name = _host_name(headers.get("host", ""))
        if name in self._names or _is_address(name):
            return None
        return WrongHost(
            f"{name[:100]!r} is not a name of this server. If it should be, add it to ARCADIA_ALLOWED_HOSTS."
        )


def _denying(scope: Scope, receive: Receive, send: Send) -> Send:
    """Deny a WebSocket with a problem document if it is closed before it was accepted, as at an unknown path."""
    accepted = False

    async def send_or_deny(message: Message) -> None:
        nonlocal accepted
        accepted = accepted or message["type"] == "websocket.accept"
        if message["type"] == "websocket.close" and not accepted:
            await respond(NoSuchPath(f"There is no WebSocket at {scope['path'][:200]}."))(scope, receive, send)
        else:
            await send(message)

    return send_or_deny


def _host_name(host: str) -> str:
    """Return the host name of a Host header without the port."""
    name = host[: host.rindex("]") + 1] if host.startswith("[") and "]" in host else host.partition(":")[0]
    return name.lower()


def _is_address(name: str) -> bool:
    """Return True if a host is an IP address. DNS rebinding cannot make a browser send one."""
    try:
        ipaddress.ip_address(name.strip("[]"))
    except ValueError:
        return False
    return True


def _origin_problem(scope: Scope, headers: Headers) -> Problem | None:
    """Return a problem if a page of another origin sent a change, or opened a stream."""
    if scope["type"] == "http" and scope["method"] in SAFE_METHODS and scope["path"] != STREAM:
        return None
    origin, site = headers.get("origin"), headers.get("sec-fetch-site")
    foreign = site is not None and site not in ("same-origin", "none")
    if origin is not None and _host_of(origin) != headers.get("host", "").lower():
        foreign = True
    return Forbidden("A page of another site made this request. Open Arcadia directly.") if foreign else None


def _host_of(origin: str) -> str | None:
    try:
        return urlsplit(origin).netloc.lower()
    except ValueError:
        return None


def _bounded(receive: Receive, limit: int) -> Receive:
    """Limit the size of the received body. Content-Length may be wrong."""
    received = 0

    async def receive_bounded() -> Message:
        nonlocal received
        message = await receive()
        if message["type"] == "http.request":
            received += len(message.get("body", b""))
            if received > limit:
                raise HTTPException(413, f"The body is larger than the {limit:,} bytes allowed here.")
        return message

    return receive_bounded
