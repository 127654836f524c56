"""A listening server, raw requests over sockets, and checks of the responses."""

import http.client
import json
import socket
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import uvicorn
from fastapi import FastAPI

from arcadia_backend.web.serving import server_options
from tests.workers.waiting import wait_until

# Longer than any response takes at any load.
HANGS_SECONDS = 120.0
SECURITY_HEADERS = ("Content-Security-Policy", "X-Content-Type-Options", "X-Frame-Options", "Referrer-Policy")
# The server's own response to bytes that are not HTTP. The application never sees them.
NOT_HTTP = (400, b"Invalid HTTP request received.")

Headers = Sequence[tuple[str, str | bytes]]


@contextmanager
def listening(app: FastAPI) -> Iterator[int]:
    """Serve the application on a free loopback port."""
    # asyncio disables Nagle's algorithm only for sockets whose protocol is TCP.
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP) as bound:
        bound.bind(("127.0.0.1", 0))
        server = uvicorn.Server(uvicorn.Config(app, **server_options(app.state.settings)))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [bound]})
        thread.start()
        try:
            wait_until(lambda: server.started or not thread.is_alive())
            yield bound.getsockname()[1]
        finally:
            server.should_exit = True
            thread.join()


@dataclass(frozen=True)
class Request:
    """A request, byte for byte. `reported` says what is odd about it."""

    method: str
    target: str | bytes
    headers: Headers = ()
    body: bytes = b""
    reported: str = ""

    def written(self, host: str) -> bytes:
        """Return the bytes of the request. Its headers replace the usual ones."""
        own = {name.lower() for name, _ in self.headers}
        usual: list[tuple[str, str | bytes]] = [("Host", host)]
        if self.body or self.method in ("POST", "PUT", "PATCH"):
            usual.append(("Content-Length", str(len(self.body))))
        lines = [self.method.encode() + b" " + _bytes(self.target) + b" HTTP/1.1"]
        for name, value in (*(pair for pair in usual if pair[0].lower() not in own), *self.headers):
            lines.append(name.encode() + b": " + _bytes(value))
        return b"\r\n".join([*lines, b"", self.body])


@dataclass(frozen=True)
class Answer:
    """A response."""

    status: int
    headers: http.client.HTTPMessage
    body: bytes

    def json(self) -> Any:
        """Parse the body as strict JSON."""
        return json.loads(self.body, parse_constant=_no_json)


class Caller:
    """A client that keeps its connection as long as the server does."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._connection: socket.socket | None = None

    def send(self, request: Request) -> Answer:
        """Send a request and read the response. Of an event stream, read only the start."""
        try:
            return self._exchange(request)
        except (ConnectionError, http.client.BadStatusLine):
            # The server may close an idle connection, and closes those that it answered early.
            self.close()
            return self._exchange(request)

    def close(self) -> None:
        """Close the connection."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _exchange(self, request: Request) -> Answer:
        if self._connection is None:
            self._connection = socket.create_connection(("127.0.0.1", self._port), timeout=HANGS_SECONDS)
        # The server may reject a body before its end. Read the response anyway.
        with suppress(BrokenPipeError, ConnectionResetError):
            self._connection.sendall(request.written(f"127.0.0.1:{self._port}"))
        response = http.client.HTTPResponse(self._connection, method=request.method)
        response.begin()
        endless = response.getheader("Content-Type", "").startswith("text/event-stream")
        answer = Answer(response.status, response.headers, b"" if endless else response.read())
        if endless or response.will_close:
            self.close()
        return answer


@dataclass
class Tally:
    """Counts of responses, and what was wrong with them."""

    statuses: Counter[int] = field(default_factory=Counter)
    violations: list[str] = field(default_factory=list)

    @property
    def count(self) -> int:
        """Return the number of responses."""
        return self.statuses.total()

    @property
    def server_errors(self) -> int:
        """Return the number of 5xx responses."""
        return sum(number for status, number in self.statuses.items() if status >= 500)

    def ask(self, caller: Caller, request: Request) -> Answer | None:
        """Send a request and record what is wrong with the response."""
        try:
            answer = caller.send(request)
        except (OSError, http.client.HTTPException) as error:
            caller.close()
            self._note(request, f"no answer: {error!r}")
            return None
        self.statuses[answer.status] += 1
        for wrong in faults_of(request, answer):
            self._note(request, f"{answer.status} {wrong}")
        return answer

    def _note(self, request: Request, wrong: str) -> None:
        self.violations.append(f"{request.method} {request.target[:200]!r} ({request.reported[:200]}): {wrong[:500]}")

    def __str__(self) -> str:
        by_status = ", ".join(f"{status}: {number}" for status, number in sorted(self.statuses.items()))
        return (
            f"{self.count} requests, {self.server_errors} of them 5xx, {len(self.violations)} violations ({by_status})"
        )


def faults_of(request: Request, answer: Answer) -> Iterator[str]:
    """Return what is wrong with a response to any request."""
    if (answer.status, answer.body) == NOT_HTTP:
        return
    if answer.status >= 500:
        yield f"is an error of the server: {answer.body[:300]!r}"
    if missing := [name for name in SECURITY_HEADERS if name not in answer.headers]:
        yield f"lacks {', '.join(missing)}"
    kind = answer.headers.get_content_type()
    try:
        if answer.status >= 400 and request.method != "HEAD":
            yield from _faults_of_problem(answer, kind)
        elif answer.body and kind == "application/json" and answer.headers.get("Content-Encoding") is None:
            answer.json()
    except ValueError as error:
        yield f"holds no JSON: {error}"


def _faults_of_problem(answer: Answer, kind: str) -> Iterator[str]:
    if kind != "application/problem+json":
        yield f"is no problem document but {kind}: {answer.body[:100]!r}"
        return
    problem = answer.json()
    if problem["status"] != answer.status or not all(problem[key] for key in ("type", "title", "detail")):
        yield f"is a problem that does not tell: {problem}"


def _bytes(text: str | bytes) -> bytes:
    return text.encode() if isinstance(text, str) else text


def _no_json(constant: str) -> None:
    raise ValueError(f"{constant} is no JSON")
