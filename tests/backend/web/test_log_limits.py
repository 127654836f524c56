"""Limits on the number and length of log lines that clients can cause."""

import logging
import socket
from collections.abc import Iterator

import pytest
from fastapi import FastAPI

from arcadia_backend.web.middleware import LINES_PER_MINUTE, LOGGERS, MAX_LINE_LENGTH, LineRateLimit
from tests.door import SECURITY_HEADERS, listening
from tests.workers.waiting import PATIENCE_SECONDS

UPGRADE = "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {key}\r\n\r\n"
KEY = "dGhlIHNhbXBsZSBub25jZQ=="


@pytest.fixture
def limit() -> Iterator[None]:
    """Limit log lines like the served backend."""
    added = LineRateLimit()
    for name in LOGGERS:
        logging.getLogger(name).addFilter(added)
    yield
    for name in LOGGERS:
        logging.getLogger(name).removeFilter(added)


def answer(port: int, sent: bytes) -> bytes:
    """Send bytes over a new connection and return the response."""
    with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_SECONDS) as connection:
        connection.sendall(sent)
        return b"".join(iter(lambda: connection.recv(4096), b""))


def asking(path: str, key: str = KEY) -> bytes:
    """Return a WebSocket request without a token."""
    return f"GET {path} HTTP/1.1\r\nHost: localhost\r\n{UPGRADE.format(key=key)}".encode()


@pytest.mark.usefixtures("limit")
def test_denied_websockets_and_garbage_write_few_short_lines(app: FastAPI, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    denied = f"/api/v1/worker/jobs/1/live?attempt=1&{'x' * 1_000}"
    with listening(app) as port:
        caplog.clear()
        answer(port, asking(denied))
        (line,) = caplog.messages
        assert '"WebSocket /api/v1/worker/jobs/1/live' in line
        for sent in (asking(denied), asking("/nothing"), asking(denied, key="short"), b"\x00\xff\r\n\r\n"):
            for _ in range(2 * LINES_PER_MINUTE):
                answer(port, sent)
        lines = caplog.text.splitlines()
    assert len(lines) < 5 * LINES_PER_MINUTE
    assert "Traceback" not in caplog.text
    assert max(len(line) for line in caplog.messages) <= MAX_LINE_LENGTH + 1


@pytest.mark.parametrize(
    ("path", "status"), [("/api/v1/worker/jobs/1/live", 401), ("/nothing", 404), ("/api/v1/live/one", 422)]
)
def test_a_denied_websocket_gets_one_problem_document_with_safe_headers(app: FastAPI, path: str, status: int) -> None:
    with listening(app) as port:
        head, _, body = answer(port, asking(path)).decode().partition("\r\n\r\n")
    assert head.startswith(f"HTTP/1.1 {status} ")
    assert body.count('"status"') == 1
    for name in SECURITY_HEADERS:
        assert f"\r\n{name.lower()}: " in head.lower()


def line(number: int, *, line: int = 1, **more: object) -> logging.LogRecord:
    """Return a log record of one line of code."""
    return logging.LogRecord("uvicorn.error", logging.INFO, "code.py", line, "line %d", (number,), None, **more)  # type: ignore[arg-type]


def test_dropped_lines_are_counted_in_the_next_minute() -> None:
    now = 0.0
    limit = LineRateLimit(clock=lambda: now)
    assert [limit.filter(line(number)) for number in range(15)] == [True] * LINES_PER_MINUTE + [False] * 5
    assert limit.filter(line(0, line=2)), "each line of code has its own limit"
    now = 60.0
    later = line(15)
    assert limit.filter(later)
    assert later.getMessage() == "line 15 (5 similar lines were dropped)"
    after = line(16)
    assert limit.filter(after)
    assert after.getMessage() == "line 16"


def test_a_client_error_is_one_line_without_a_traceback() -> None:
    found = (ValueError, ValueError("no valid HTTP request"), None)
    record = logging.LogRecord("uvicorn.error", logging.ERROR, "server.py", 1, "opening handshake failed", None, found)
    assert LineRateLimit().filter(record)
    assert logging.Formatter().format(record) == "opening handshake failed: no valid HTTP request"
