"""Check of the port before a start."""

import errno
import socket

from backend.refusals import NotNowError, RefusedError


def refuse_taken_port(host: str, port: int, command: str) -> None:
    """Raise RefusedError if another program uses the port, or if this one may not use it."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            kind = NotNowError if error.errno == errno.EADDRINUSE else RefusedError
            raise kind(
                f"Cannot listen on {host}, port {port}: {error.strerror}. "
                f"If another program uses that port, choose a free one: arcadia {command} --port {port + 1}"
            ) from None
