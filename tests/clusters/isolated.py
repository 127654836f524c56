"""Run a command in its own network namespace, from which it reaches only one port of one server.

Programs inside reach the server at 127.0.0.1 and its port. The connections pass through a socket in the file system,
which namespaces share. Arguments: the socket, the port, and the command.
"""

import asyncio
import contextlib
import ctypes
import fcntl
import os
import socket
import struct
import sys
from collections.abc import Awaitable, Callable

CLONE_NEWNET = 0x40000000
SIOCSIFFLAGS, IFF_UP = 0x8914, 0x1

Connect = Callable[[], Awaitable[tuple[asyncio.StreamReader, asyncio.StreamWriter]]]


async def join(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, connect: Connect) -> None:
    """Forward one connection in both directions until both sides have ended."""
    try:
        to_reader, to_writer = await connect()
    except OSError:
        writer.close()
        return
    await asyncio.gather(_copy(reader, to_writer), _copy(to_reader, writer))


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):  # the other side has ended
        while data := await reader.read(65_536):
            writer.write(data)
            await writer.drain()
    writer.close()


def leave_network() -> None:
    """Move this process to a network namespace that has only a loopback device."""
    if ctypes.CDLL(None, use_errno=True).unshare(CLONE_NEWNET) != 0:
        raise OSError(ctypes.get_errno(), "unshare")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        fcntl.ioctl(control, SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", IFF_UP))


async def _serve(path: str, listener: socket.socket) -> None:
    server = await asyncio.start_server(
        lambda reader, writer: join(reader, writer, lambda: asyncio.open_unix_connection(path)), sock=listener
    )
    await server.serve_forever()


def main() -> None:
    """Forward the port in a child process, and become the command."""
    path, port, *command = sys.argv[1:]
    leave_network()
    listener = socket.create_server(("127.0.0.1", int(port)))
    if os.fork() == 0:
        # Linux ends this process with the command.
        ctypes.CDLL(None).prctl(1, 9)
        asyncio.run(_serve(path, listener))
    listener.close()
    os.execvp(command[0], command)  # noqa: S606 - a test starts it with its own command


if __name__ == "__main__":
    main()
