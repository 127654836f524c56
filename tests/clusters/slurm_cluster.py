"""A Slurm cluster on this host: munged, slurmctld and two slurmds, as root and without systemd."""

import json
import os
import secrets
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.server_process import free_port
from tests.workers.waiting import PATIENCE_SECONDS, wait_until

PACKAGES = ("slurmctld", "slurmd", "slurm-client", "munge")
PROGRAMS = ("slurmctld", "slurmd", "munged", "sbatch")
REPOSITORY = Path(__file__).parents[2]
NODES = ("n1", "n2")
UNFINISHED = ("PENDING", "CONFIGURING", "RUNNING", "COMPLETING", "SUSPENDED")


def require_slurm() -> None:
    """Install Slurm, or skip the test if that is impossible here."""
    if os.geteuid() != 0:
        pytest.skip("Slurm's daemons start only as root")
    if all(map(shutil.which, PROGRAMS)):
        return
    if shutil.which("apt-get") is None:
        pytest.skip("Slurm is not installed, and there is no apt-get")
    install = ["apt-get", "install", "--yes", "--no-install-recommends", *PACKAGES]
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for command in (["apt-get", "update"], install):
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"Slurm's packages cannot be installed: {done.stderr[-300:]}")


class SlurmCluster:
    """A cluster whose daemons a test may kill and restart."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        for name in ("run", "log", "state", "output", *(f"spool-{node}" for node in NODES)):
            (directory / name).mkdir(parents=True)
        text = (Path(__file__).parent / "slurm.conf").read_text()
        host = socket.gethostname().partition(".")[0]
        for name, value in {"RUN_DIR": directory, "HOST": host}.items():
            text = text.replace(name, str(value))
        for number in range(3):
            text = text.replace(f"PORT_{number}", str(free_port()))
        self.config = directory / "slurm.conf"
        self.config.write_text(text)
        self.environment = {**os.environ, "SLURM_CONF": str(self.config)}
        self._reapers: list[subprocess.Popen[bytes]] = []
        self._daemons: dict[str, psutil.Process] = {}

    def start(self) -> None:
        """Start all daemons, and wait until the nodes are idle."""
        directory, run = self.directory, self.directory / "run"
        key = directory / "munge.key"
        key.touch(0o600)
        key.write_bytes(secrets.token_bytes(1024))
        munge = ["munged", "--foreground", "--force", f"--socket={run}/munge.sock", f"--key-file={key}"]
        munge += [f"--pid-file={run}/munged.pid", f"--log-file={directory}/log/munged.log", f"--seed-file={run}/seed"]
        self._start("munged", munge)
        wait_until((run / "munge.sock").exists)
        self.start_controller()
        for node in NODES:
            self.start_node(node)
        self.wait_for_nodes()

    def start_controller(self) -> None:
        """Start slurmctld. It continues with its stored state."""
        self._start("slurmctld", ["slurmctld", "-D", "-f", str(self.config)])
        wait_until(lambda: "UP" in self.command("scontrol", "ping"))

    def start_node(self, node: str) -> None:
        """Start slurmd of a node."""
        self._start(node, ["slurmd", "-D", "-N", node, "-f", str(self.config)])

    def wait_for_nodes(self) -> None:
        """Wait until all nodes are idle."""
        wait_until(lambda: self._idle_nodes() == len(NODES))

    def kill(self, name: str) -> None:
        """Kill slurmctld, or slurmd of a node, with SIGKILL. Jobs continue."""
        self._daemons[name].kill()
        self._daemons[name].wait()

    def command(self, *command: str) -> str:
        """Return the output of a command of Slurm."""
        done = subprocess.run(
            command, env=self.environment, capture_output=True, text=True, timeout=PATIENCE_SECONDS, check=False
        )
        return done.stdout

    def jobs(self) -> list[dict[str, Any]]:
        """Return the listed jobs."""
        jobs: list[dict[str, Any]] = json.loads(self.command("squeue", "--json"))["jobs"]
        return jobs

    def unfinished(self) -> list[dict[str, Any]]:
        """Return the jobs that wait or run."""
        return [job for job in self.jobs() if job["job_state"] in UNFINISHED]

    def requeue(self, handle: str) -> None:
        """Requeue a running job, and let it start again at once. By default, Slurm waits for two minutes."""
        self.command("scontrol", "requeue", handle)
        wait_until(lambda: self.state(handle) == "PENDING")
        self.command("scontrol", "update", f"JobId={handle}", "StartTime=now")

    def administer(self) -> None:
        """Resume nodes and release jobs after failures, and let requeued jobs start at once."""
        self.command("scontrol", "update", f"NodeName={','.join(NODES)}", "State=RESUME")
        for job in self.jobs():
            if job["job_state"] == "PENDING":
                name = _handles(job)[job["array_task_id"] is not None]
                self.command("scontrol", "release", name)
                self.command("scontrol", "update", f"JobId={name}", "StartTime=now")

    def state(self, handle: str) -> str:
        """Return the state of a job."""
        return next(str(job["job_state"]) for job in self.jobs() if handle in _handles(job))

    def settings(self, url: str, **others: object) -> dict[str, object]:
        """Return settings of Arcadia for this cluster."""
        path = ":".join(str(REPOSITORY / name) for name in ("backend", "workers", ".", "client"))
        temporary = f"TMPDIR={self.directory}/output"
        prepare = f"export {temporary} PYTHONPATH={path} PATH={Path(sys.executable).parent}:$PATH"
        folder = str(self.directory / "output")
        return {"backend_url": url, "directory": folder, "cores": 1, "prepare": prepare, **others}

    def _idle_nodes(self) -> int:
        return self.command("sinfo", "--noheader", "--Node", "--partition=low", "--format=%t").split().count("idle")

    def close(self) -> None:
        """End all jobs and daemons."""
        for reaper in reversed(self._reapers):
            assert reaper.stdin is not None
            reaper.stdin.close()
            reaper.wait()

    def _start(self, name: str, command: list[str]) -> None:
        with (self.directory / "log" / f"{name}.output").open("ab") as output:
            reaper = subprocess.Popen(
                [sys.executable, str(Path(__file__).parent / "reaper.py"), *command],
                env=self.environment,
                stdin=subprocess.PIPE,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self._reapers.append(reaper)
        below: list[psutil.Process] = []

        def has_started() -> bool:
            below[:] = psutil.Process(reaper.pid).children()
            return bool(below)

        wait_until(has_started)
        self._daemons[name] = below[0]


@contextmanager
def running_cluster(directory: Path) -> Iterator[SlurmCluster]:
    """Start a cluster in a folder, and end it after the block."""
    cluster = SlurmCluster(directory)
    try:
        cluster.start()
        yield cluster
    finally:
        cluster.close()


def task_names(jobs: Iterable[dict[str, Any]]) -> list[str]:
    """Return the names of jobs. Tasks of an array have their number too."""
    return [f"{job['name']}_{job['array_task_id']}" for job in jobs]


def _handles(job: dict[str, Any]) -> tuple[str, str]:
    """Return the number of a job, and that of a task in its array."""
    return str(job["job_id"]), f"{job['array_job_id']}_{job['array_task_id']}"
