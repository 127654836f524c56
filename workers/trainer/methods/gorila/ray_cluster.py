"""The Ray cluster of Gorila's roles: a Ray that we start on this machine, or a cluster that an operator started.

A Ray that we start listens on loopback alone and asks for a token that only this run knows. It ends with the trainer,
even if that is killed: the kernel kills the processes of its node when the thread that started them is gone, and
`ray_watch.py` kills the others.
"""

import contextlib
import os
import re
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from workers.trainer.errors import TrainerError
from workers.trainer.methods.gorila import ray_watch

ADDRESS = "ARCADIA_RAY_ADDRESS"
# One message holds a few million numbers at most, and is deleted when its reader has it.
OBJECT_STORE_BYTES = 200 * 2**20
TOKEN_FILE = Path("~/.ray/auth_token")
FOLDER = "arcadia-ray-"
# How many bytes the path of a socket may have, and the longest of Ray's, below the parent of our folder.
LONGEST_SOCKET = 103 if sys.platform == "darwin" else 107
SOCKET = f"{FOLDER}4194304-12345678/ray/session_2026-01-01_00-00-00_000000_4194304/sockets/plasma_store"
SHORT_FOLDER = Path("/tmp")  # noqa: S108, our folder in it is made for its owner alone
# Settings of a Ray that we start, for one machine and a token; Ray reads them when it is imported. By default its
# workers have a low priority: beside another training they would hardly run.
OWN_RAY = {"RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0", "RAY_AUTH_MODE": "token", "RAY_worker_niceness": "0"}
QUIET = {"RAY_USAGE_STATS_ENABLED": "0"}
# How often to look at the hosts, and how long to avoid one that fell silent.
LOOK_SECONDS, SUSPICION_SECONDS = 2.0, 60.0


def address() -> str | None:
    """Return the address of the cluster to join, or None to start a Ray here."""
    return os.environ.get(ADDRESS) or None


class ClusterError(TrainerError):
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
    """Ray, started or joined on entry, ended or left on exit."""

    def __init__(self) -> None:
        self._address = address()
        self._folder: Path | None = None
        self._watch: subprocess.Popen[bytes] | None = None
        # In the main thread Ray would replace our SIGTERM handler. Its processes die with the thread that starts them.
        self._thread = ThreadPoolExecutor(1, "ray")

    def __enter__(self) -> "RayCluster":
        self._thread.submit(self._start).result()
        take_back_sigterm()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def hosts(self) -> list[Host]:
        """The hosts that are alive, ordered by address."""
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
        """End the Ray that we started, or leave the cluster that we joined."""
        self._thread.submit(self._end).result()
        self._thread.shutdown()

    def _start(self) -> None:
        os.environ.update(QUIET)
        if self._address is None:
            os.environ.update(OWN_RAY)
            os.environ.setdefault("RAY_AUTH_TOKEN", secrets.token_hex(32))  # Ray reads it once per process
        elif TOKEN_FILE.expanduser().exists():
            # By itself Ray takes the token for a cluster that it has found, but not for one that it is told of.
            os.environ.setdefault("RAY_AUTH_MODE", "token")
        import ray
        from ray.exceptions import RayError

        try:
            where = {"address": self._address} if self._address else self._own_place()
            ray.init(**where, log_to_driver=False, logging_level="ERROR", namespace=secrets.token_hex(8))
        except (RayError, OSError, RuntimeError, ValueError) as error:  # among them, connections and time-outs
            raise ClusterError(self._in_words(error)) from error

    def _own_place(self) -> dict[str, Any]:
        """Make the folder of a Ray of our own, and have it watched; return how Ray is to start there."""
        parent = parent_of_folders()
        remove_left_behind(parent)
        self._folder = Path(tempfile.mkdtemp(prefix=f"{FOLDER}{os.getpid()}-", dir=parent))
        command = [sys.executable, "-I", "-S", ray_watch.__file__, str(self._folder)]
        self._watch = subprocess.Popen(command, stdin=subprocess.PIPE, start_new_session=True)
        return {
            "num_cpus": os.cpu_count(),
            "object_store_memory": OBJECT_STORE_BYTES,
            "include_dashboard": False,
            # Ray lets every user write into the folder that it is given; into its parent, only us.
            "_temp_dir": str(self._folder / "ray"),
        }

    def _in_words(self, error: Exception) -> str:
        first = re.split(r"\n|\. ", str(error).strip())[0] or type(error).__name__
        if self._address is None:
            return f"Ray could not be started on this machine: {first}"
        return (
            f"the Ray cluster at {self._address} could not be joined ({first}): check {ADDRESS}, that `ray start` ran "
            f"on this host too, and that both have the same RAY_AUTH_MODE and {TOKEN_FILE}"
        )

    def _end(self) -> None:
        import ray

        if self._address is None:
            kill_monitor()
        ray.shutdown()
        if self._watch:
            self._watch.communicate()  # the watch ends what is left and deletes the folder


class Hosts:
    """The cluster's hosts when they were last looked at, and which of them to trust."""

    def __init__(self, cluster: RayCluster) -> None:
        self._cluster = cluster
        self._suspected_until: dict[str, float] = {}
        self.look()

    def look(self) -> None:
        """See which hosts are alive now."""
        self._hosts, self._seen = self._cluster.hosts, time.monotonic()

    @property
    def due(self) -> bool:
        """Whether it is time to look again."""
        return time.monotonic() - self._seen > LOOK_SECONDS

    def suspect(self, host: Host) -> None:
        """Avoid a host for a while; if it comes back, it is another node, and trusted."""
        self._suspected_until[host.node] = time.monotonic() + SUSPICION_SECONDS

    @property
    def reliable(self) -> list[Host]:
        """The hosts that are not suspected, or all hosts if every one is."""
        now = time.monotonic()
        return [host for host in self._hosts if self._suspected_until.get(host.node, 0) < now] or self._hosts


def take_back_sigterm() -> None:
    """Set our SIGTERM handler again: Ray puts its own before it, which prints a stack for every signal."""
    handler = signal.getsignal(signal.SIGTERM)
    if handler is not None and threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, handler)


def kill_monitor() -> None:
    """Kill Ray's autoscaler, which has nothing to save but takes a second to end by itself."""
    for child in psutil.Process().children():
        with contextlib.suppress(psutil.NoSuchProcess):  # the child has just ended
            if any(word.endswith("autoscaler/_private/monitor.py") for word in child.cmdline()):
                child.kill()


def parent_of_folders() -> Path:
    """Choose the system's folder for temporary files, unless Ray's sockets would have too long paths there."""
    usual = Path(tempfile.gettempdir())
    return usual if len(os.fsencode(usual / SOCKET)) <= LONGEST_SOCKET else SHORT_FOLDER


def remove_left_behind(parent: Path) -> None:
    """Delete the folders of trainers that are gone."""
    for folder in parent.glob(f"{FOLDER}*"):
        owner = folder.name.removeprefix(FOLDER).split("-")[0]
        if owner.isdigit() and not psutil.pid_exists(int(owner)):
            shutil.rmtree(folder, ignore_errors=True)
