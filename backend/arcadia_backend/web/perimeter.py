"""The outermost middleware: hosts, origins, sizes of bodies and security headers, and then the rights of the caller."""

import ipaddress
import re
import time
from urllib.parse import urlsplit

from sqlalchemy.exc import OperationalError
from sqlalchemy.exc import TimeoutError as NoConnectionError
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import HTTPConnection, Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from arcadia_backend.accounts import roles, sign_in
from arcadia_backend.config import API, LOOPBACK_NAMES, Settings
from arcadia_backend.database import scope as acting_scope
from arcadia_backend.database.engine import Database
from arcadia_backend.database.rights import check_role
from arcadia_backend.errors import NoSuchPath, Problem, respond, unavailable, unexpected
from arcadia_backend.web import doors
from arcadia_backend.web.credentials import CallerCredentials
from arcadia_backend.web.security import (
    ACTING,
    ARCHIVES,
    SAFE_METHODS,
    STREAM,
    UPLOAD,
    Forbidden,
    WrongHost,
    check_installation,
)

# Check the rights of a request again when its body arrives later than this.
RECHECK_SECONDS = 2.0

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
        is_upload = scope["method"] in ("PATCH", "POST", "PUT") and UPLOAD.fullmatch(scope["path"])
        return self._settings.max_file_bytes if is_upload else self._settings.max_body_bytes

    def _host_problem(self, headers: Headers) -> Problem | None:
        name = _host_name(headers.get("host", ""))
        if name in self._names or _is_address(name):
            return None
        return WrongHost(
            f"{name[:100]!r} is not a name of this server. If it should be, add it to ARCADIA_ALLOWED_HOSTS."
        )


class RightsCheck:
    """Middleware that finds out who acts, checks the right of the door, and limits all queries to it."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on with the scope of its caller, or respond with a problem."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        is_made_here = ACTING in scope
        try:
            acting = await self._admit(HTTPConnection(scope), scope["app"].state.credentials)
        except Problem as problem:
            await respond(problem)(scope, receive, send)
            return
        except (OperationalError, NoConnectionError) as error:
            await unavailable(Request({**scope, "type": "http"}), error)(scope, receive, send)
            return
        with acting_scope.acting_as(acting):
            await self._app(scope, receive if is_made_here else self._rechecking(scope, receive), send)

    def _rechecking(self, scope: Scope, receive: Receive) -> Receive:
        """Check the rights again after a body that took long, so that an upload is stored with present rights."""
        checked_at, generation = time.monotonic(), roles.generation()
        connection = HTTPConnection({name: value for name, value in scope.items() if name != ACTING})

        async def receive_checked() -> Message:
            message = await receive()
            is_recent = time.monotonic() - checked_at < RECHECK_SECONDS and generation == roles.generation()
            if message["type"] == "http.request" and not message.get("more_body") and not is_recent:
                try:
                    acting_scope.switch_to(await self._admit(connection, scope["app"].state.credentials))
                except Problem as problem:
                    # Other errors while a body is read become a 400.
                    raise HTTPException(problem.status, problem.detail) from problem
            return message

        return receive_checked

    async def _admit(self, connection: HTTPConnection, credentials: CallerCredentials) -> acting_scope.Scope:
        """Return the scope of the caller. Raise a problem if the door is closed to them."""
        scope = connection.scope
        path: str = scope["path"]
        method = scope["method"] if scope["type"] == "http" else "SOCKET"
        right = doors.right_of(method, path)
        await credentials.refresh()
        acting = await credentials.scope_of(connection, is_public=right == doors.Right.PUBLIC)
        if right != doors.Right.PUBLIC:
            if not acting.is_known:
                raise credentials.why_unknown(path)
            doors.check_right(right, acting)
            doors.check_attempt(acting, path)
            if right in doors.ROLES and not acting.everything:
                database: Database = scope["app"].state.database
                await run_in_threadpool(check_role, database.read, acting, doors.ROLES[right], doors.object_in(path))
            if right in doors.FRESH and acting.session_id is not None:
                await run_in_threadpool(sign_in.check_fresh, scope["app"].state.database, acting.session_id)
        if right == doors.Right.WORKER:
            check_installation(connection)
        scope[ACTING] = acting
        return acting


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
