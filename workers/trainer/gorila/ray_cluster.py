"""The Ray that Gorila's roles live in: one of our own on this machine, or a cluster that somebody started.

Our own listens on loopback alone, asks for a secret that only this run knows, and ends with us, however we end: the
kernel kills its node's processes when the thread that started them is gone, and `ray_watch.py` all others.
"""

import contextlib
import os
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import psutil

from workers.trainer.gorila import ray_watch

ADDRESS = "ARCADIA_RAY_ADDRESS"
# What travels in one piece are a few million numbers at most, and each piece only until its reader has it.
OBJECT_STORE_BYTES = 200 * 2**20
FOLDER = "arcadia-ray-"
# Of a Ray of our own, which is for one machine only and for who has its token; Ray reads this when it is imported.
# Unless it is told, its processes give way to all others of the machine, and beside another training they hardly run.
OF_OUR_OWN = {"RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0", "RAY_AUTH_MODE": "token", "RAY_worker_niceness": "0"}
QUIET = {"RAY_USAGE_STATS_ENABLED": "0"}


def address() -> str | None:
    """The cluster to join, or None to start one."""
    return os.environ.get(ADDRESS) or None


class ClusterError(Exception):
    """Ray could not be started or joined."""


@dataclass(frozen=True)
class Host:
    """A machine of the cluster."""

    node: str
    address: str
    name: str
    cores: float

    def __str__(self) -> str:
        return f"{self.name} ({self.address})"


class RayCluster:
    """Ray, from its start to its end."""

    def __init__(self) -> None:
        self._address = address()
        self._folder: Path | None = None
        self._watch: subprocess.Popen[bytes] | None = None
        # Ray takes SIGTERM for itself where it is started in the main thread, and its processes die with the thread.
        self._thread = ThreadPoolExecutor(1, "ray")

    def __enter__(self) -> "RayCluster":
        self._thread.submit(self._start).result()
        take_back_sigterm()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def hosts(self) -> list[Host]:
        """The machines that answer, in the order of their addresses."""
        import ray

        nodes = [node for node in ray.nodes() if node["Alive"]]
        found = [
            Host(
                node["NodeID"], node["NodeManagerAddress"], node["NodeManagerHostname"], node["Resources"].get("CPU", 1)
            )
            for node in nodes
        ]
        return sorted(found, key=lambda host: host.address)

    def close(self) -> None:
        """End what we started, or leave what we joined."""
        self._thread.submit(self._end).result()
        self._thread.shutdown()

    def _start(self) -> None:
        os.environ.update(QUIET)
        if self._address is None:
            os.environ.update(OF_OUR_OWN)
            os.environ.setdefault("RAY_AUTH_TOKEN", secrets.token_hex(32))  # Ray reads it once in a process
        import ray

        if self._address is None:
            remove_left_behind()
            self._folder = Path(tempfile.mkdtemp(prefix=f"{FOLDER}{os.getpid()}-"))
            command = [sys.executable, "-I", "-S", ray_watch.__file__, str(self._folder)]
            self._watch = subprocess.Popen(command, stdin=subprocess.PIPE, start_new_session=True)
            where = {
                "num_cpus": os.cpu_count(),
                "object_store_memory": OBJECT_STORE_BYTES,
                "include_dashboard": False,
                "_temp_dir": str(self._folder),
            }
        else:
            where = {"address": self._address}
        try:
            ray.init(**where, log_to_driver=False, logging_level="ERROR", namespace=secrets.token_hex(8))
        except (ConnectionError, RuntimeError, TimeoutError, ValueError) as error:
            raise ClusterError(self._in_words(error)) from error

    def _in_words(self, error: Exception) -> str:
        first = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        if self._address is None:
            return f"Ray could not be started on this machine: {first}"
        return (
            f"the Ray cluster at {self._address} could not be joined ({first}): check {ADDRESS}, that `ray start` ran "
            "on this host too, and that both have the same ~/.ray/auth_token"
        )

    def _end(self) -> None:
        import ray

        if self._address is None:
            kill_monitor()
        ray.shutdown()
        if self._watch:
            self._watch.communicate()  # it ends what is left, and deletes the folder


def take_back_sigterm() -> None:
    """Ray prints a stack for every SIGTERM before whoever listens to it hears of it."""
    listener = signal.getsignal(signal.SIGTERM)
    if listener is not None and threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, listener)


def kill_monitor() -> None:
    """Ray's autoscaler has nothing to save, and would take a second to end by itself."""
    for child in psutil.Process().children():
        with contextlib.suppress(psutil.NoSuchProcess):  # it has just ended
            if any(part.endswith("autoscaler/_private/monitor.py") for part in child.cmdline()):
                child.kill()


def remove_left_behind() -> None:
    """Delete the folders of runs that were killed."""
    for folder in Path(tempfile.gettempdir()).glob(f"{FOLDER}*"):
        owner = folder.name.removeprefix(FOLDER).split("-")[0]
        if owner.isdigit() and not psutil.pid_exists(int(owner)):
            shutil.rmtree(folder, ignore_errors=True)
