"""The web server, which waits for its end without checking for it all the time."""

import asyncio
import signal
import socket
import threading

import pytest
import uvicorn

from arcadia_backend.web import serving
from arcadia_backend.web.serving import QuietServer
from tests.workers.waiting import PATIENCE_SECONDS, wait_until


async def no_application(_scope: object, _receive: object, _send: object) -> None:
    """Answer nothing."""


def test_a_signal_ends_the_server_although_it_rests(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serving, "DATE_SECONDS", 2 * PATIENCE_SECONDS)
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        server = QuietServer(uvicorn.Config(no_application, lifespan="off", log_config=None))
        thread = threading.Thread(target=lambda: asyncio.run(server.serve([bound])))
        thread.start()
        wait_until(lambda: server.started and server._loop is not None)
        server.handle_exit(signal.SIGTERM, None)
        thread.join(PATIENCE_SECONDS)
    assert not thread.is_alive()
