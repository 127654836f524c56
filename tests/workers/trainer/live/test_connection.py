"""Tests for the connection of a live game to a backend that disappears briefly or permanently."""

import itertools
import queue
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from websockets.sync.server import Server, ServerConnection, serve

from arcadia_workers.contract.live import ENDED, LiveAddress
from arcadia_workers.trainer.live import connection
from arcadia_workers.trainer.live.connection import LiveConnection
from tests.workers.waiting import PATIENCE_SECONDS, wait_until

SOON = 0.01
Handler = Callable[[ServerConnection], None]


@pytest.fixture(autouse=True)
def _tries_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "RETRY_SECONDS", SOON)


@contextmanager
def backend(handler: Handler, port: int = 0) -> Iterator[int]:
    """Yield the port of a backend. Close its connections at the end."""
    server: Server = serve(handler, "127.0.0.1", port)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield server.socket.getsockname()[1]
    finally:
        server.shutdown()
        thread.join()


def opened(port: int, clock: Callable[[], float]) -> LiveConnection:
    """Open a connection to the backend at a port."""
    return LiveConnection(LiveAddress(url=f"ws://127.0.0.1:{port}/live", ticket="a" * 64), clock)


def watch_only(connection: ServerConnection) -> None:
    """Keep the connection open without sending orders."""
    for _ in connection:
        pass


def test_a_quiet_game_continues_after_a_restart_of_the_backend() -> None:
    now = [0.0]
    with backend(watch_only) as port:
        connected = opened(port, lambda: now[0])
        assert connected.heard.get(timeout=PATIENCE_SECONDS) is None
        now[0] = 10 * connection.RECONNECT_TIMEOUT_SECONDS
    with connected, backend(watch_only, port):
        wait_until(lambda: connected.over or not connected.heard.empty())
        assert connected.over is None


def test_a_game_ends_if_the_backend_stays_down() -> None:
    seconds = itertools.count()
    with backend(watch_only) as port:
        connected = opened(port, lambda: next(seconds))
        connected.heard.get(timeout=PATIENCE_SECONDS)
    wait_until(lambda: connected.over)
    assert connected.over == "the backend has been away for 60 seconds"
    assert next(seconds) > connection.RECONNECT_TIMEOUT_SECONDS


def test_a_game_that_the_backend_ends_has_the_backends_reason() -> None:
    with backend(lambda connection: connection.close(ENDED, "Nobody has watched.")) as port:
        connected = opened(port, lambda: 0.0)
        wait_until(lambda: connected.over)
    assert connected.over == "Nobody has watched."


def test_messages_arrive_in_both_directions() -> None:
    arrived: queue.SimpleQueue[str | bytes] = queue.SimpleQueue()

    def talk(connection: ServerConnection) -> None:
        connection.send("order")
        for message in connection:
            arrived.put(message)

    with backend(talk) as port, opened(port, lambda: 0.0) as connected:
        assert [connected.heard.get(timeout=PATIENCE_SECONDS) for _ in range(2)] == [None, "order"]
        connected.send(b"picture")
        assert arrived.get(timeout=PATIENCE_SECONDS) == b"picture"
