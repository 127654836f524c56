"""HTTP requests of the uploader. They use Python's own client, which starts four times faster than httpx."""

from __future__ import annotations

import contextlib
import gzip
import http.client
import json
import os
import re
import ssl
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from arcadia.settings import describe_wrong_token
from arcadia.version import user_agent

API = "/api/v1"
TIMEOUT_SECONDS = 60.0
# Limits of one request with events.
MAX_EVENTS, MAX_BYTES = 1_000, 1_000_000
# A restarting server is available again within this number of tries, one per second.
MAX_TRIES = 5
RETRY_SECONDS = 1.0
MIN_COMPRESSED_BYTES = 1_000
# Compress quickly, because the script needs the processor.
COMPRESSION_LEVEL = 1
# The server is starting, busy, or behind a proxy that has lost it.
_RETRIED = frozenset({403, 408, 425, 429, 500, 502, 503, 504, 507})
UNAUTHORIZED = 401
# The person lacks a role, which another try does not change. A proxy that refuses has no such type.
MISSING_RIGHT = "/problems/missing-right"


T = TypeVar("T")


class UnavailableError(Exception):
    """A request that may succeed later. Its message is shown to the user."""


class RejectedError(Exception):
    """A request that the server rejects."""

    def __init__(self, status: int, problem: Mapping[str, Any]) -> None:
        self.status, self.problem = status, problem
        detail = str(problem.get("detail") or f"The server answered with status {status} and no explanation.")
        # Other sentences follow in messages.
        self.detail = detail if detail.endswith((".", "!", "?")) else f"{detail}."
        super().__init__(self.detail)


class WrongTokenError(RejectedError):
    """A request whose token the server does not accept. It is not repeated, since it would fail again."""


class Connection:
    """Requests to the API of reported runs."""

    def __init__(self, url: str, token: str | None) -> None:
        self.url, self._token = url, token
        self._headers = {"User-Agent": user_agent(), "Accept": "application/json"}
        if token:
            self._headers["Authorization"] = f"Bearer {token}"
        self._opener = urllib.request.build_opener(_https() if url.startswith("https:") else _HTTPHandler())

    def register(self, registration: Mapping[str, Any]) -> dict[str, Any]:
        """Create the run or a new writer of it."""
        return self._post("/reported/runs", json.dumps(registration).encode())

    def send_events(
        self, run_id: int, writer: str, events: Sequence[bytes], killed_at: float | None = None
    ) -> dict[str, Any]:
        """Send events. An empty list reports that the script is alive, or that it was killed at a time."""
        killed = b"" if killed_at is None else b',"killed_at":%s' % json.dumps(killed_at).encode()
        body = b'{"writer":%s,"events":[%s]%s}' % (json.dumps(writer).encode(), b",".join(events), killed)
        return self._post(f"/reported/runs/{run_id}/events", body)

    def send_file(self, run_id: int, writer: str, sha256: str, file: Path) -> None:
        """Upload an image or a video."""
        self._put(f"/reported/runs/{run_id}/files/{sha256}?writer={writer}", file)

    def send_artifact_file(self, run_id: int, writer: str, sha256: str, file: Path) -> None:
        """Upload a file of an artifact."""
        self._put(f"/reported/runs/{run_id}/artifact-files/{sha256}?writer={writer}", file)

    def find_missing(self, run_id: int, writer: str, hashes: Sequence[str]) -> list[str]:
        """Return the hashes of files of artifacts that the server does not have."""
        path = f"/reported/runs/{run_id}/artifact-files/missing?writer={writer}"
        return list(self._post(path, json.dumps({"sha256": hashes}).encode())["missing"])

    def _put(self, path: str, file: Path) -> None:
        with file.open("rb") as content:
            length = str(file.stat().st_size)
            self._request("PUT", path, content, {"Content-Type": "application/octet-stream", "Content-Length": length})

    def _post(self, path: str, body: bytes) -> dict[str, Any]:
        headers = {"Content-Type": "application/json"}
        if len(body) >= MIN_COMPRESSED_BYTES:
            body = gzip.compress(body, COMPRESSION_LEVEL)
            headers["Content-Encoding"] = "gzip"
        return self._request("POST", path, body, headers)

    def _request(self, method: str, path: str, body: Any, headers: Mapping[str, str]) -> dict[str, Any]:
        headers = {**self._headers, **headers}
        request = urllib.request.Request(self.url + API + path, body, headers, method=method)  # noqa: S310 - http(s) only
        try:
            with self._opener.open(request, timeout=TIMEOUT_SECONDS) as response:
                return dict(json.loads(response.read() or b"{}"))
        except urllib.error.HTTPError as error:
            raise self._error(error) from None
        except (OSError, http.client.HTTPException, ValueError) as error:
            reason = getattr(error, "reason", None) or error or type(error).__name__
            raise UnavailableError(f"No Arcadia server answers at {self.url} ({reason}).") from None

    def _error(self, error: urllib.error.HTTPError) -> Exception:
        try:
            problem = json.loads(error.read())
        except (OSError, http.client.HTTPException, ValueError):
            problem = {}
        problem = problem if isinstance(problem, dict) else {}
        rejected = RejectedError(error.code, problem)
        if error.code == UNAUTHORIZED:
            return WrongTokenError(error.code, {"detail": describe_wrong_token(self.url, self._token)})
        if error.code in _RETRIED and problem.get("type") != MISSING_RIGHT:
            return UnavailableError(f"The server at {self.url} is not available. {rejected.detail}")
        return rejected


def retry(call: Callable[..., T], *arguments: Any) -> T:
    """Return the result of a call. Repeat it a few times while the server is unavailable."""
    for _ in range(MAX_TRIES - 1):
        with contextlib.suppress(UnavailableError):
            return call(*arguments)
        time.sleep(RETRY_SECONDS)
    return call(*arguments)


class _Connection(http.client.HTTPConnection):
    """A connection that reads the response of a server that closes it before the end of a body, which is too large."""

    _is_connected = False

    def connect(self) -> None:
        super().connect()
        self._is_connected = True

    def request(self, *arguments: Any, **named: Any) -> None:
        try:
            super().request(*arguments, **named)
        except (BrokenPipeError, ConnectionResetError, ssl.SSLEOFError):
            if not self._is_connected:
                raise


class _SecureConnection(_Connection, http.client.HTTPSConnection):
    """The same over TLS."""


class _HTTPHandler(urllib.request.HTTPHandler):
    def http_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
        return self.do_open(_Connection, req)


class _HTTPSHandler(urllib.request.HTTPSHandler):
    def __init__(self, context: ssl.SSLContext) -> None:
        super().__init__(context=context)
        self._given = context

    def https_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
        return self.do_open(_SecureConnection, req, context=self._given)


def _https() -> _HTTPSHandler:
    """Return a handler with the certificates that httpx uses, because Python on macOS has none."""
    if os.environ.get("SSL_CERT_FILE") or os.environ.get("SSL_CERT_DIR"):
        return _HTTPSHandler(ssl.create_default_context())
    import certifi

    return _HTTPSHandler(ssl.create_default_context(cafile=certifi.where()))


# The name of a file of the journal, which somebody else may have written.
SHA256 = re.compile(r"[0-9a-f]{64}")
ARTIFACT = b'{"kind":"artifact",'
# A large file may take longer than the server waits for a sign of life.
ALIVE_SECONDS = 10.0
# The server rejects this artifact, but may take others.
_CONTENT = (400, 413, 415, 422)


class ArtifactRejectedError(Exception):
    """The server does not take an artifact. Its message says why."""


def upload_files(connection: Connection, run_id: int, writer: str, folder: Path, event: bytes) -> None:
    """Upload the files of an event that the server does not have, so an interrupted upload continues.

    Raise ArtifactRejectedError if that is impossible, and UnavailableError if it may be possible later.
    """
    try:
        artifact = json.loads(event)["artifact"]
        name = str(artifact["name"])
        paths = {entry["sha256"]: str(entry["path"]) for entry in artifact["entries"] if "sha256" in entry}
    except (ValueError, LookupError, TypeError):
        raise ArtifactRejectedError("An artifact was left out: its event is damaged.") from None
    if any(not isinstance(digest, str) or not SHA256.fullmatch(digest) for digest in paths):
        raise ArtifactRejectedError(f"The artifact {name} was left out: the journal names files that it cannot have.")
    if not paths:
        return
    path = ""
    try:
        missing = connection.find_missing(run_id, writer, list(paths))
        with _alive(lambda: connection.send_events(run_id, writer, [])):
            for digest in missing:
                path = paths[digest]
                connection.send_artifact_file(run_id, writer, digest, folder / digest)
    except FileNotFoundError:
        message = f"The artifact {name} was left out: its file {path} is missing from the journal."
        raise ArtifactRejectedError(message) from None
    except RejectedError as error:
        is_old_server = str(error.problem.get("type", "")).endswith("no-such-path")
        if error.status not in _CONTENT and not is_old_server:
            raise
        reason = "This server has no artifacts. Update it." if is_old_server else f"{path}: {error.detail}"
        raise ArtifactRejectedError(f"The artifact {name} was left out. {reason}") from None


@contextlib.contextmanager
def _alive(report: Callable[[], object]) -> Iterator[None]:
    """Report regularly that the script is alive, until the block ends."""
    ended = threading.Event()

    def keep_reporting() -> None:
        while not ended.wait(ALIVE_SECONDS):
            # The upload itself shows whether the server can be reached.
            with contextlib.suppress(UnavailableError, RejectedError):
                report()

    thread = threading.Thread(target=keep_reporting, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
