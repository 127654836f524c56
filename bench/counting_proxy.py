"""A TCP proxy that counts what a server sends, after compression and with all headers."""

import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from types import TracebackType
from typing import Any, Self

PART_BYTES = 65_536


class CountingProxy:
    """A proxy of a port of this machine. Each page of a measurement has its own."""

    def __init__(self, port: int) -> None:
        self.bytes = 0
        self._server = port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._sockets: list[socket.socket] = [self._listener]
        self.port = int(self._listener.getsockname()[1])

    def __enter__(self) -> Self:
        self._start(self._accept)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        for each in self._sockets:
            # Wakes the thread that waits for this socket.
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return  # closed
            server = socket.create_connection(("127.0.0.1", self._server))
            self._sockets += [client, server]
            self._start(self._pass, client, server, False)
            self._start(self._pass, server, client, True)

    def _pass(self, source: socket.socket, target: socket.socket, counts: bool) -> None:
        # A browser may reset a connection, and the proxy may close it.
        with suppress(OSError):
            while part := source.recv(PART_BYTES):
                self.bytes += len(part) if counts else 0
                target.sendall(part)
            target.shutdown(socket.SHUT_WR)

    @staticmethod
    def _start(work: Callable[..., None], *arguments: Any) -> None:
        threading.Thread(target=work, args=arguments, daemon=True).start()
