"""A backend in a separate process, for tests over real HTTP."""

import os
import socket
from collections.abc import Mapping
from pathlib import Path

import httpx

from arcadia_backend.startup import parts
from tests.prepared import start_copy
from tests.workers.waiting import PATIENCE_SECONDS, wait_until

# Names that this process holds, one for each port that it has chosen.
_chosen: list[socket.socket] = []


def free_port() -> int:
    """Return a free port that no other process of tests chooses while this one runs.

    A server binds its port later, and again after it is killed. The kernel knows the names of abstract sockets, and
    forgets them with the process.
    """
    while True:
        port, name = parts.free_port(), socket.socket(socket.AF_UNIX)
        try:
            name.bind(f"\0arcadia-tests-port-{port}")
        except OSError:
            name.close()
        else:
            _chosen.append(name)
            return port


SERVER = """
import sys, uvicorn
from arcadia_backend.app import create_app
from arcadia_backend.config import Settings
{before}
uvicorn.run(create_app(Settings()), host="127.0.0.1", port=int(sys.argv[1]), log_level="warning")
"""


class Server:
    """A backend that a test may kill. It runs the Python code `before` at its start."""

    def __init__(
        self, directory: Path, before: str = "", settings: Mapping[str, str] | None = None, port: int | None = None
    ) -> None:
        self.port = port or free_port()
        self.address = f"http://127.0.0.1:{self.port}/api/v1"
        paths = {name: os.environ[name] for name in ("PATH", "PYTHONPATH") if name in os.environ}
        environment = {**paths, "ARCADIA_DATA_DIR": str(directory), **(settings or {})}
        self.process = start_copy(SERVER.format(before=before), environment, [str(self.port)])
        wait_until(self._answers)

    def _answers(self) -> bool:
        try:
            return httpx.get(f"{self.address}/health", timeout=PATIENCE_SECONDS).status_code == 200
        except httpx.TransportError:
            return False

    def launch(self) -> int:
        """Launch a run."""
        config = {"algorithm": "paac", "env": "CartPole-v1", "total_steps": 1_000, "num_envs": 4}
        run_id: int = httpx.post(f"{self.address}/runs", json={"config": config}, timeout=PATIENCE_SECONDS).json()["id"]
        return run_id

    def close(self) -> None:
        """Kill the process."""
        self.process.kill()
        self.process.wait()
