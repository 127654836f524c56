"""Serving of the built frontend, or of a page that says how to build it."""

import functools
import hashlib
import logging
import re
from html import escape
from importlib.metadata import version
from pathlib import Path

from fastapi import APIRouter, FastAPI, Request, Response
from fastapi.responses import FileResponse, HTMLResponse, RedirectResponse
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from arcadia_backend.errors import NoSuchPath

# An installed wheel contains them. In the repository `make run` and `make wheel` write them to client/dist.
_BUNDLED_WHEELS = Path(__file__).parents[1] / "client_wheels"
WHEELS = _BUNDLED_WHEELS if _BUNDLED_WHEELS.is_dir() else Path(__file__).parents[3] / "client" / "dist"
# The wheel of the application contains the client's, but not itself.
_APPLICATION = Path(__file__).parents[3] / "dist"
PATH = "/client"
OWN = "arcadia_client-"

_STYLE = (
    ":root { color-scheme: light dark; font-family: system-ui, sans-serif } pre { white-space: pre-wrap } "
    "body { max-width: 62rem; margin: 2rem auto; padding: 0 1rem; line-height: 1.5 }"
)


def install_commands(origin: str, folder: Path = WHEELS) -> list[tuple[str, str]]:
    """Return titles and commands that install the client from a server. Empty if its wheel is not built."""
    names = _names(folder)
    own = [name for name in names if name.startswith(OWN)]
    offline = f"pip install --no-index {_find_links(origin)} arcadia-client"
    commands = [("Install the client", f"pip install {origin}{PATH}/{name}") for name in own]
    # The server has the other packages too, so that pip needs no index.
    return commands + [("Without internet access", offline) for _ in own if len(names) > len(own)]


def _find_links(origin: str) -> str:
    """Return pip's options to find the wheels of a server."""
    host = origin.partition("://")[2]
    name = host.rpartition("]")[0] + "]" if host.startswith("[") else host.partition(":")[0]
    trusted = f" --trusted-host {name}" if origin.startswith("http://") else ""
    return f"--find-links {origin}{PATH}/{trusted}"


def application_wheel() -> Path | None:
    """Return the wheel of the application that `make wheel` has built, if any."""
    return max(_APPLICATION.glob("arcadia-*.whl"), default=None, key=lambda path: path.stat().st_mtime)


def host_commands(origin: str, code: str) -> list[str]:
    """Return the commands with which a bare host with Python joins a server, with a virtual environment for Arcadia."""
    package = f"arcadia[worker,trainer]=={version('arcadia').partition('+')[0]}"
    return [
        "python3 -m venv ~/arcadia",
        f'~/arcadia/bin/pip install {_find_links(origin)} "{package}"',
        f"~/arcadia/bin/arcadia worker join {origin} {code}",
        "~/arcadia/bin/arcadia worker",
    ]


def origin_of(request: Request) -> str:
    """Return the address under which the client reaches this server. The host is checked by the perimeter."""
    return f"{request.url.scheme}://{request.headers['host']}"


def serve_client(app: FastAPI, folder: Path = WHEELS) -> None:
    """Serve the list of wheels and the wheels. They contain no secrets, so that no token is needed."""
    router = APIRouter(prefix=PATH, include_in_schema=False)

    @router.api_route("", methods=["GET", "HEAD"])
    def redirect_to_list() -> RedirectResponse:
        return RedirectResponse(f"{PATH}/")

    @router.api_route("/", methods=["GET", "HEAD"])
    def list_wheels(request: Request) -> HTMLResponse:
        return HTMLResponse(_page(origin_of(request), folder), headers={"Cache-Control": "no-cache"})

    @router.api_route("/{name}", methods=["GET", "HEAD"])
    def download_wheel(name: str) -> FileResponse:
        wheel = {path.name: path for path in _wheels(folder)}.get(name)
        if wheel is None:
            raise NoSuchPath(f"There is no wheel {name[:200]}. {PATH}/ lists those that exist.")
        # Builds of one version differ. The other wheels are the ones that the package index has.
        policy = "no-cache" if name.startswith("arcadia") else "public, max-age=86400"
        return FileResponse(
            wheel, media_type="application/octet-stream", filename=name, headers={"Cache-Control": policy}
        )

    app.include_router(router)


def _names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.glob("*.whl"))


def _wheels(folder: Path) -> list[Path]:
    """Return the wheels that the server offers."""
    application = application_wheel()
    return [*([application] if application else []), *(folder / name for name in _names(folder))]


def _page(origin: str, folder: Path) -> str:
    """Return a page with the commands, and with links as package indexes have them (PEP 503)."""
    commands = [
        f"<h2>{escape(title)}</h2><pre>{escape(command)}</pre>" for title, command in install_commands(origin, folder)
    ]
    links = [
        f'<li><a href="{PATH}/{escape(wheel.name)}#sha256={_digest(wheel)}">{escape(wheel.name)}</a></li>'
        for wheel in _wheels(folder)
    ]
    missing = "<p>The client's wheel is not built. Run <code>make setup</code> in the project folder.</p>"
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Arcadia client</title>'
        f'<meta name="viewport" content="width=device-width, initial-scale=1"><style>{_STYLE}</style></head>'
        f"<body><h1>Client of Arcadia {escape(version('arcadia'))}</h1>"
        f"{''.join(commands) or missing}<h2>Wheels</h2><ul>{''.join(links)}</ul></body></html>"
    )


def _digest(wheel: Path) -> str:
    status = wheel.stat()
    return _digest_of(wheel, status.st_mtime_ns, status.st_size)


@functools.lru_cache(maxsize=100)
def _digest_of(wheel: Path, _mtime: int, _size: int) -> str:
    return hashlib.sha256(wheel.read_bytes()).hexdigest()


log = logging.getLogger(__name__)

# An installed wheel contains the pages. In the repository they are in frontend/dist.
_BUNDLED = Path(__file__).parents[1] / "pages"
DIST = _BUNDLED if _BUNDLED.is_dir() else Path(__file__).parents[3] / "frontend" / "dist"
# File names below this path contain a hash of the content.
HASHED_FILES = "/assets/"
IMMUTABLE = "public, max-age=31536000, immutable"
_SCRIPT = re.compile(rf"{HASHED_FILES}[\w.~-]+\.(js|css)")
_TYPES = {"js": "text/javascript", "css": "text/css"}
# The build writes a compressed copy next to each large file. Browsers accept Brotli only over HTTPS or locally.
COPIES = {"br": ".br", "gzip": ".gz"}

_NOT_BUILT = """<!doctype html><html lang="en"><title>Arcadia</title>
<h1>Arcadia is running, but its frontend is not built</h1>
<p>Run <code>make setup</code> in the project folder, then restart Arcadia.
A wheel contains the frontend if <code>make wheel</code> built it.
The API is available at <code>/api/v1</code>.</p>
</html>"""


def serve_frontend(app: FastAPI, dist: Path = DIST) -> None:
    """Serve the frontend for every path without a route. The page reads the path itself."""
    if (dist / "index.html").is_file():
        app.frontend("/", directory=dist, fallback="index.html")
        app.add_middleware(CacheHeaders)
        app.add_middleware(Scripts, dist=dist)
        return

    log.warning("The frontend is not built. Run make setup in the project folder.")

    @app.get("/{path:path}", include_in_schema=False)
    def not_built(path: str) -> HTMLResponse:  # noqa: ARG001 - part of the route
        return HTMLResponse(_NOT_BUILT, status_code=503)


class CacheHeaders:
    """Middleware that sets Cache-Control: hashed files are immutable, and the page must be revalidated."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Add the header to successful responses."""
        if scope["type"] != "http" or scope["path"].startswith("/api/"):
            await self._app(scope, receive, send)
            return
        hashed = scope["path"].startswith(HASHED_FILES)

        async def send_with_header(message: Message) -> None:
            if message["type"] == "http.response.start" and message["status"] in (200, 206, 304):
                policy = IMMUTABLE if hashed else "no-cache"
                MutableHeaders(scope=message).setdefault("Cache-Control", policy)
            await send(message)

        await self._app(scope, receive, send_with_header)


class Scripts:
    """Middleware that serves the hashed scripts and styles from memory. A page loads dozens of them.

    The build has written compressed copies, so that no request waits for a compression.
    """

    def __init__(self, app: ASGIApp, dist: Path) -> None:
        self._app, self._dist = app, dist
        self._contents: dict[str, bytes] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve the smallest copy that the client accepts. The application answers all other requests."""
        response = self._respond(scope) if scope["type"] == "http" and scope["method"] == "GET" else None
        await (response or self._app)(scope, receive, send)

    def _respond(self, scope: Scope) -> Response | None:
        found = _SCRIPT.fullmatch(scope["path"])
        if not found:
            return None
        accepted = {name.strip() for name in Headers(scope=scope).get("accept-encoding", "").lower().split(",")}
        headers = {"Cache-Control": IMMUTABLE, "Vary": "Accept-Encoding"}
        for coding, end in COPIES.items():
            if coding in accepted and (content := self._read(found[0] + end)) is not None:
                return Response(content, headers=headers | {"Content-Encoding": coding}, media_type=_TYPES[found[1]])
        content = self._read(found[0])
        return None if content is None else Response(content, headers=headers, media_type=_TYPES[found[1]])

    def _read(self, path: str) -> bytes | None:
        """Return the content of a file of the build, or None if there is none. A name never changes its content."""
        if path not in self._contents:
            file = self._dist / path.removeprefix("/")
            if not file.is_file():
                return None
            self._contents[path] = file.read_bytes()
        return self._contents[path]
