"""A Ray cluster on this host: a head with `ray[default]`, which has the REST API of Ray Jobs, and more nodes."""

import contextlib
import fcntl
import os
import secrets
import subprocess
import sys
import sysconfig
import tempfile
import venv
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import httpx
import psutil
import pytest

from arcadia_backend.startup.parts import die_with_parent
from arcadia_workers.trainer.methods.gorila.ray_cluster import OWN_RAY
from tests.processes import command_line
from tests.server_process import free_port
from tests.workers.waiting import wait_until

REPOSITORY = Path(__file__).parents[2]
# Packages of `ray[default]` that Arcadia does not need. They are kept between test runs.
HOME = REPOSITORY / ".setup" / "ray-default"
# The program `ray`, which waits for its own parts for longer than 30 s on a busy host. With OWN_RAY, a head binds to
# loopback. Here, nodes may join it there.
PATIENT_RAY = """
from unittest.mock import patch
from arcadia_workers.trainer.methods.gorila.ray_cluster import more_time
from ray.scripts.scripts import main
joins = patch("ray._private.ray_constants.ENABLE_RAY_CLUSTER", True)
on_loopback = patch("ray._private.services.get_node_ip_address", lambda *_: "127.0.0.1")
with more_time(300), joins, on_loopback:
    main()
"""


def require_ray() -> Path:
    """Return a Python whose Ray has the packages of a head, or skip the test if they cannot be installed."""
    python = HOME / "bin" / "python"
    HOME.parent.mkdir(exist_ok=True)
    with HOME.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = HOME / f"installed-{version('ray')}"
        if not done.exists():
            _install(python)
            done.touch()
    return python


def _install(python: Path) -> None:
    """Create an environment that has the packages of this one, and those that are missing."""
    venv.create(HOME, clear=True, with_pip=True, symlinks=True)
    inner = subprocess.check_output([python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"], text=True)
    (Path(inner.strip()) / "outer.pth").write_text(sysconfig.get_path("purelib"))
    pins = HOME / "pins"
    locks = [REPOSITORY / name for name in ("requirements.lock", "requirements-dev.lock")]
    lines = [line.removesuffix("\\").strip() for lock in locks for line in lock.read_text().splitlines()]
    pins.write_text("\n".join(line for line in lines if line[:1].isalpha()))
    command = [str(python), "-m", "pip", "install", "--quiet", "--no-input", "--disable-pip-version-check"]
    done = subprocess.run([*command, f"ray[default]=={version('ray')}"], capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"The packages of a Ray head cannot be installed: {done.stderr[-300:]}")


class RayHead:
    """The head of a cluster that requires a token. A test may kill it, start another one, and add nodes."""

    def __init__(self, directory: Path, cores: int = 2) -> None:
        self._python, self._directory, self._cores = require_ray(), directory, cores
        self.token = secrets.token_hex(32)
        self.port, self.jobs_port = free_port(), free_port()
        # Found again in the environment of each process of the cluster, also of its jobs.
        self._mark = secrets.token_hex(8)
        # Ray's sockets have long names, so this folder has a short one.
        self._folder = tempfile.TemporaryDirectory(prefix="ray-", dir="/tmp", ignore_cleanup_errors=True)
        self._processes: list[subprocess.Popen[bytes]] = []
        self.start()

    @property
    def address(self) -> str:
        """Return the address of the REST API."""
        return f"http://127.0.0.1:{self.jobs_port}"

    def start(self) -> None:
        """Start the head, and wait until it accepts jobs."""
        place = ["--head", f"--port={self.port}", f"--dashboard-port={self.jobs_port}", f"--num-cpus={self._cores}"]
        self._start("head", [*place, f"--ray-client-server-port={free_port()}"])
        wait_until(self._accepts_jobs)

    def add_node(self, cores: int = 1) -> subprocess.Popen[bytes]:
        """Add a node on this host, and wait until the cluster has it."""
        before = len(self.nodes())
        node = self._start(f"node-{before}", [f"--address=127.0.0.1:{self.port}", f"--num-cpus={cores}"])
        wait_until(lambda: len(self.nodes()) > before)
        return node

    def nodes(self) -> list[dict[str, Any]]:
        """Return the nodes that are alive."""
        answer = self._get("api/v0/nodes?detail=true").json()
        found: list[dict[str, Any]] = answer["data"]["result"]["result"]
        return [node for node in found if node["state"] == "ALIVE"]

    def remove_node(self, node: subprocess.Popen[bytes]) -> None:
        """Kill a node."""
        for child in [*psutil.Process(node.pid).children(recursive=True), psutil.Process(node.pid)]:
            with contextlib.suppress(psutil.NoSuchProcess):
                child.kill()
        node.wait()

    def nodes_of_roles(self, kind: str) -> set[int]:
        """Return the processes of the nodes that have roles of Gorila of this kind."""
        found: set[int] = set()
        for process in self._all():
            with contextlib.suppress(psutil.Error):
                if command_line(process).startswith(f"ray::{kind}Role"):
                    found.add(process.ppid())
        return found

    def jobs(self) -> list[dict[str, Any]]:
        """Return the submitted jobs."""
        jobs: list[dict[str, Any]] = self._get("api/jobs/").raise_for_status().json()
        return [job for job in jobs if job["type"] == "SUBMISSION"]

    def stop_job(self, handle: str) -> None:
        """Stop a job, as a person does with `ray job stop`."""
        httpx.post(f"{self.address}/api/jobs/{handle}/stop", headers=self._headers).raise_for_status()

    def settings(self, url: str, **others: object) -> dict[str, object]:
        """Return settings of Arcadia for this cluster."""
        path = ":".join(str(REPOSITORY / name) for name in ("backend", "workers", ".", "client"))
        # Jobs keep the mark, by which `close` finds them.
        prepare = f"export PYTHONPATH={path} PATH={Path(sys.executable).parent}:$PATH"
        return {"backend_url": url, "address": self.address, "cores": 1, "prepare": prepare, **others}

    def kill(self) -> None:
        """Kill every process of the head with SIGKILL, as when its host dies. Its jobs end with it."""
        self._kill_all()

    def close(self) -> None:
        """End all processes of the cluster and of its jobs."""
        self._kill_all()
        self._folder.cleanup()

    @property
    def _headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.token}"}

    def _get(self, path: str) -> httpx.Response:
        return httpx.get(f"{self.address}/{path}", headers=self._headers, timeout=30)

    def _accepts_jobs(self) -> bool:
        with contextlib.suppress(httpx.HTTPError):
            return self._get("api/jobs/").is_success
        return False

    def _start(self, name: str, options: list[str]) -> subprocess.Popen[bytes]:
        """Start a node, and wait until it has joined the cluster."""
        file = self._directory / f"{name}-{len(self._processes)}.output"
        command = [str(self._python), "-c", PATIENT_RAY, "start", "--block", "--disable-usage-stats", *options]
        command += [f"--temp-dir={self._folder.name}", "--object-store-memory=100000000"]
        # By default, all nodes of a host use the same port.
        command += [f"--dashboard-agent-listen-port={free_port()}"]
        # The nodes' Python runs the roles of Gorila.
        path = ":".join(str(REPOSITORY / folder) for folder in ("backend", "workers", ".", "client"))
        given = {name: value for name, value in os.environ.items() if not name.startswith("ARCADIA_")}
        with file.open("ab") as output:
            process = subprocess.Popen(
                command,
                env={
                    **given,
                    # Its parts wait longer for each other than by default, as on a busy host.
                    **OWN_RAY,
                    "PYTHONPATH": path,
                    "RAY_AUTH_TOKEN": self.token,
                    "TEST_RAY_MARK": self._mark,
                    # A waiting job is given up early, so that a test sees it.
                    "RAY_JOB_START_TIMEOUT_SECONDS": "20",
                },
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                preexec_fn=die_with_parent,
            )
        self._processes.append(process)
        wait_until(lambda: process.poll() is not None or b"Ray runtime started" in file.read_bytes())
        assert process.poll() is None, file.read_text()[-1_000:]
        return process

    def _all(self) -> Iterator[psutil.Process]:
        """Yield every process of the cluster and of its jobs."""
        # The title of a process, such as those of Ray's agents, overwrites its variables. But its parent has them.
        found: set[psutil.Process] = set()
        for process in psutil.process_iter():
            with contextlib.suppress(psutil.Error):
                if process.environ().get("TEST_RAY_MARK") == self._mark:
                    found |= {process, *process.children(recursive=True)}
        yield from found

    def _kill_all(self) -> None:
        for process in self._all():
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()
        for started in self._processes:
            started.wait()
        self._processes.clear()
