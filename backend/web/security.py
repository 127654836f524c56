"""Access: every call needs a token unless named here, and pages of other sites are refused."""

import hmac
import ipaddress
import re
from typing import Any
from urllib.parse import urlsplit

from fastapi import Request, WebSocket
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from backend.config import LOOPBACK_NAMES, Settings
from backend.errors import NoSuchPath, Problem, respond, unexpected
from backend.web.rate_limit import WrongTokenLimit
from backend.web.sessions import SessionStore, proof_of
from workers.contract.live import ticket
from workers.contract.worker_api import INSTALLATION_HEADER, OTHER_INSTALLATION

COOKIE = "arcadia_session"
API = "/api/v1"
STREAM = f"{API}/events"

# Without a sign-in one can only sign in, and see whether the installation lives.
PUBLIC = (f"{API}/session", f"{API}/health")
# What a link opens to those who have it; backend/reports/shared.py shows that report alone.
SHARED = f"{API}/shared/"
WORKERS_ONLY = f"{API}/worker/"

SAFE_METHODS = ("GET", "HEAD", "OPTIONS")
# No number of a job is longer.
LIVE = re.compile(rf"{API}/worker/jobs/(\d{{1,16}})/live")
UPLOAD = re.compile(rf"{API}/worker/(runs|jobs)/\d+/files")

_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'self'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; "
        "media-src 'self' blob:; worker-src 'self' blob:; object-src 'none'; base-uri 'none'; form-action 'self'; "
        "frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
}


class Unauthorized(Problem):
    """The call carries no valid token."""

    status = 401
    kind = "unauthorized"
    title = "Sign in first"


class Forbidden(Problem):
    """A foreign page made the browser call."""

    status = 403
    kind = "forbidden"
    title = "Not from here"


class WrongHost(Problem):
    """The Host header is no name of this server."""

    status = 421
    kind = "wrong-host"
    title = "Not a name of this server"


class OtherInstallation(Problem):
    """A worker's run is another installation's."""

    status = 421
    kind = OTHER_INSTALLATION
    title = "Another installation"


async def guard(request: HTTPConnection) -> None:
    """The one dependency of every API route: the worker token for workers' routes, a user's sign-in for the rest."""
    settings: Settings = request.app.state.settings
    # The path that was routed; never request.url, which the Host header goes into.
    path: str = request.scope["path"]
    if path.startswith(WORKERS_ONLY):
        expected = settings.worker_token.get_secret_value()
        if not expected:
            raise Unauthorized("No worker is let in: ARCADIA_WORKER_TOKEN is not set on the server.")
        if not _shows_worker_token(request, expected):
            raise Unauthorized("Show the worker token: Authorization: Bearer … (ARCADIA_WORKER_TOKEN).")
        _refuse_other_installation(request)
    elif not is_public(path) and not await is_signed_in(request, settings):
        raise Unauthorized("Sign in, or show the token: Authorization: Bearer … (ARCADIA_TOKEN).")


async def guard_socket(socket: WebSocket) -> None:
    """The one dependency of every WebSocket: of a process that plays, its worker's token or the ticket made with it."""
    path: str = socket.scope["path"]
    live, expected = LIVE.fullmatch(path), socket.app.state.settings.worker_token.get_secret_value()
    attempt = socket.query_params.get("attempt", "")
    named = live and expected and attempt.isdecimal() and len(attempt) < 10
    if live and named and _same(_bearer(socket), ticket(expected, int(live[1]), int(attempt))):
        _refuse_other_installation(socket)
    else:
        await guard(socket)


def _refuse_other_installation(request: HTTPConnection) -> None:
    shown = request.headers.get(INSTALLATION_HEADER)
    if shown is not None and shown != request.app.state.installation:
        raise OtherInstallation(
            "The run is of another installation than this backend's database. Start the backend on the database that "
            "the run is in."
        )


def describe_access(document: dict[str, Any]) -> dict[str, Any]:
    """Say in an OpenAPI document which call needs which token."""
    document["components"]["securitySchemes"] = {
        "user": {"type": "http", "scheme": "bearer", "description": "ARCADIA_TOKEN, where one is set."},
        "session": {"type": "apiKey", "in": "cookie", "name": COOKIE, "description": "Got by POST /session."},
        "worker": {"type": "http", "scheme": "bearer", "description": "ARCADIA_WORKER_TOKEN."},
    }
    # The empty one stands for a server that has no user token.
    users: list[dict[str, list[str]]] = [{"user": []}, {"session": []}, {}]
    for path, item in document["paths"].items():
        needed = [{"worker": []}] if path.startswith(WORKERS_ONLY) else [] if is_public(path) else users
        for call in item.values():
            call["security"] = needed
    return document


def is_public(path: str) -> bool:
    """Whether a path asks for no sign-in."""
    return path in PUBLIC or path.startswith(SHARED)


async def is_signed_in(request: HTTPConnection, settings: Settings) -> bool:
    """Whether the caller showed the user token or a cookie got for it; always true when no token is set."""
    token = settings.token.get_secret_value()
    if not token:
        return True
    shown = _bearer(request)
    if shown:
        return matches_token(request, shown, settings)
    cookie = request.cookies.get(COOKIE)
    if not cookie:
        return False
    sessions: SessionStore = request.app.state.sessions
    proof = proof_of(cookie, token)
    return sessions.is_cached(proof) or await run_in_threadpool(sessions.is_valid, proof)


def matches_token(request: HTTPConnection, given: str, settings: Settings) -> bool:
    """Whether this is the user token, in a time that does not tell how much of it is right; a few tries a minute."""
    tries: WrongTokenLimit = request.app.state.user_token_limit
    return tries.check(_address(request), right=_same(given, settings.token.get_secret_value()))


def _shows_worker_token(request: HTTPConnection, expected: str) -> bool:
    """Whether the caller showed the worker token. Log and limit wrong ones; the right one always passes.

    A worker with an old token, or an attacker behind the same address, must not lock out the other workers.
    """
    shown = _bearer(request)
    if _same(shown, expected):
        return True
    if shown:
        tries: WrongTokenLimit = request.app.state.worker_token_limit
        tries.check(_address(request), right=False)
    return False


def _address(request: HTTPConnection) -> str:
    return request.client.host if request.client else ""


def _bearer(request: HTTPConnection) -> str:
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else ""


def _same(given: str, expected: str) -> bool:
    return hmac.compare_digest(given.encode("utf-8", "surrogateescape"), expected.encode())


class Perimeter:
    """Middleware before anything else: the server's own names only, no foreign pages, bounded bodies, safe headers."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self._app = app
        self._settings = settings
        own = {settings.host, f"[{settings.host}]"} if ":" in settings.host else {settings.host}
        self._names = {name.lower() for name in (*LOOPBACK_NAMES, *settings.allowed_hosts, *own)}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request in, or answer it with the problem."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] == "websocket":
            await self._let_in(scope, receive, _denying(scope, receive, _with_headers(scope, send)))
            return

        begun = False
        send_with_headers = _with_headers(scope, send)

        async def send_safely(message: Message) -> None:
            nonlocal begun
            begun = True
            await send_with_headers(message)

        headers = Headers(scope=scope)
        problem = self._host_problem(headers) or _origin_problem(scope, headers)
        if problem is not None:
            await respond(problem)(scope, receive, send_safely)
            return
        try:
            await self._app(scope, _bounded(receive, self._limit(scope)), send_safely)
        except Exception as error:
            # Answered here, where the answer gets its headers; raised on, for the server's log.
            if not begun:
                await unexpected(Request(scope), error)(scope, receive, send_safely)
            raise

    async def _let_in(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Open a WebSocket, or refuse it; any page of any site may ask a browser for one."""
        headers = Headers(scope=scope)
        problem = self._host_problem(headers) or _origin_problem(scope, headers)
        if problem is None:
            await self._app(scope, receive, send)
        else:
            await respond(problem)(scope, receive, send)

    def _limit(self, scope: Scope) -> int:
        upload = scope["method"] == "PUT" and UPLOAD.fullmatch(scope["path"])
        return self._settings.max_file_bytes if upload else self._settings.max_body_bytes

    def _host_problem(self, headers: Headers) -> Problem | None:
        name = _host_name(headers.get("host", ""))
        if name in self._names or _is_address(name):
            return None
        return WrongHost(
            f"This server does not go by the name {name[:100]!r}. If it should, add the name to ARCADIA_ALLOWED_HOSTS."
        )


def _with_headers(scope: Scope, send: Send) -> Send:
    """Add the security headers to a response, including a denied WebSocket."""

    async def send_with_headers(message: Message) -> None:
        if message["type"] in ("http.response.start", "websocket.http.response.start"):
            headers = MutableHeaders(scope=message)
            for name, value in _HEADERS.items():
                headers.setdefault(name, value)
            if scope["path"].startswith(API):
                headers.setdefault("Cache-Control", "no-store")
        await send(message)

    return send_with_headers


def _denying(scope: Scope, receive: Receive, send: Send) -> Send:
    """Turn the close of a WebSocket that was never accepted, as at an unknown path, into a problem document."""
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
    """The name in a Host header, without the port."""
    name = host[: host.rindex("]") + 1] if host.startswith("[") and "]" in host else host.partition(":")[0]
    return name.lower()


def _is_address(name: str) -> bool:
    """Whether a host is a bare address, which DNS rebinding cannot make a browser send."""
    try:
        ipaddress.ip_address(name.strip("[]"))
    except ValueError:
        return False
    return True


def _origin_problem(scope: Scope, headers: Headers) -> Problem | None:
    """Refuse what a page of another origin makes a browser do: anything that changes something, and the streams."""
    if scope["type"] == "http" and scope["method"] in SAFE_METHODS and scope["path"] != STREAM:
        return None
    origin, site = headers.get("origin"), headers.get("sec-fetch-site")
    foreign = site is not None and site not in ("same-origin", "none")
    if origin is not None and _host_of(origin) != headers.get("host", "").lower():
        foreign = True
    return Forbidden("A page of another site made this request; open Arcadia itself.") if foreign else None


def _host_of(origin: str) -> str | None:
    try:
        return urlsplit(origin).netloc.lower()
    except ValueError:
        return None


def _bounded(receive: Receive, limit: int) -> Receive:
    """Count the body as it comes, whatever its Content-Length says."""
    seen = 0

    async def receive_bounded() -> Message:
        nonlocal seen
        message = await receive()
        if message["type"] == "http.request":
            seen += len(message.get("body", b""))
            if seen > limit:
                raise HTTPException(413, f"The body is larger than the {limit:,} bytes allowed here.")
        return message

    return receive_bounded
