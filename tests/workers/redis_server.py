"""A real Redis that tests can kill and restart on the same port."""

import secrets
import subprocess
from pathlib import Path

import redis

from arcadia_backend.startup.parts import die_with_parent, redis_program
from tests.server_process import free_port
from tests.workers.waiting import wait_until


class RedisServer:
    """A Redis without persistence: killing it loses all data."""

    def __init__(self, directory: Path) -> None:
        self.port, self._password = free_port(), secrets.token_hex(8)
        self.url = f"redis://:{self._password}@127.0.0.1:{self.port}/0"
        self._directory = directory
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def runs(self) -> bool:
        """Return True if Redis was started and not killed."""
        return self._process is not None

    def start(self) -> None:
        """Start Redis and wait until it responds."""
        options = f'port {self.port}\nbind 127.0.0.1\nsave ""\nappendonly no\nrequirepass {self._password}\n'
        self._process = subprocess.Popen(
            [redis_program(), "-"],
            cwd=self._directory,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            preexec_fn=die_with_parent,
        )
        assert self._process.stdin is not None
        self._process.stdin.write(options.encode())
        self._process.stdin.close()
        wait_until(self._answers)

    def kill(self) -> None:
        """Kill Redis with SIGKILL."""
        if self._process:
            self._process.kill()
            self._process.wait()
        self._process = None

    def _answers(self) -> bool:
        try:
            with redis.Redis.from_url(self.url) as connection:
                return bool(connection.ping())
        except redis.ConnectionError:
            return False
