"""Ray cluster of Gorila's roles: a private Ray on this machine, or a cluster that an operator started.

A private Ray listens only on loopback and requires a token that only this run knows. It ends with the trainer, even if
that is killed: the kernel kills the node's processes when the thread that started them is gone, and `ray_watch.py`
kills the others.
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
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from arcadia_workers.trainer.errors import TrainerError
from arcadia_workers.trainer.methods.gorila import ray_watch

ADDRESS = "ARCADIA_RAY_ADDRESS"
# One message has at most a few million numbers and is deleted after it was read.
OBJECT_STORE_BYTES = 200 * 2**20
TOKEN_FILE = Path("~/.ray/auth_token")
FOLDER = "arcadia-ray-"
# The maximum length of a socket's path, and Ray's longest path below the parent of the run's folder.
LONGEST_SOCKET = 103 if sys.platform == "darwin" else 107
SOCKET = f"{FOLDER}4194304-12345678/ray/session_2026-01-01_00-00-00_000000_4194304/sockets/plasma_store"
SHORT_FOLDER = Path("/tmp")  # noqa: S108, our folder in it is made for its owner alone
# The start timeouts of a private Ray, per try. Ray's own 30 s are too short for a busy host.
START_SECONDS = (60.0, 180.0)
# Settings of a private Ray for one machine with a token. Ray reads them at import. By default its workers have a low
# priority and would hardly run next to another training, and its processes wait only 30 or 60 s for each other.
OWN_RAY = {
    "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",
    "RAY_AUTH_MODE": "token",
    "RAY_worker_niceness": "0",
    "RAY_raylet_start_wait_time_s": "180",
    "RAY_gcs_server_port_wait_time_s": "180",
    "RAY_gcs_server_request_timeout_seconds": "180",
    "RAY_agent_register_timeout_ms": "180000",
    "RAY_worker_register_timeout_seconds": "180",
}
QUIET = {"RAY_USAGE_STATS_ENABLED": "0"}
# The interval of host checks, and how long to avoid a host that fell silent.
LOOK_SECONDS, SUSPICION_SECONDS = 2.0, 60.0
# The processes of a private Ray without which no role can run. Ray does not restart them.
VITAL = {"gcs_server": "control service (gcs_server)", "raylet": "node (raylet)"}
# How long the head of a joined cluster may take to list its hosts, and how long to wait for a first host to return.
ANSWER_SECONDS, HOSTLESS_SECONDS = 5.0, 60.0
# By default a program that joined a cluster ends itself after 60 s without the head. This one waits, saves and ends.
JOINED_RAY = {"RAY_gcs_rpc_server_reconnect_timeout_s": "600"}
# A call of Ray may fail shortly before the end of its process is visible.
NOTICE_SECONDS = 2.0


def address() -> str | None:
    """Return the address of the cluster to join, or None to start a Ray here."""
    return os.environ.get(ADDRESS) or None


TOO_BUSY = (
    f"Ray, which runs Gorila's processes, did not start on this machine in {len(START_SECONDS)} tries of up to "
    f"{START_SECONDS[-1]:g} s. The host may be too busy: let other runs end or pause them, then launch this run again. "
    "Ray reported: {}"
)


class ClusterError(TrainerError):
    """Ray could not be started or joined."""


class RayLostError(TrainerError):
    """Ray was killed, or all hosts of the cluster are gone."""

    ends_as_killed = True


@dataclass(frozen=True)
class RayHost:
    """Machine of the cluster."""

    node: str
    address: str
    name: str
    cores: float

    def __str__(self) -> str:
        return f"{self.name} ({self.address})"


class RayCluster:
    """Ray, started or joined on entry and stopped or left on exit."""

    def __init__(self) -> None:
        self._address = address()
        self._folder: Path | None = None
        self._watch: subprocess.Popen[bytes] | None = None
        self._asked: Future[list[dict[str, Any]]] | None = None
        # In the main thread Ray would replace the SIGTERM handler. Its processes die with the thread that starts them.
        self._thread = ThreadPoolExecutor(1, "ray")

    def __enter__(self) -> "RayCluster":
        self._thread.submit(self._start).result()
        take_back_sigterm()
        return self

    def __exit__(self, _kind: object, error: BaseException | None, _traceback: object) -> None:
        # A Ray that was lost may never answer. What is left of it ends with this process.
        if not isinstance(error, RayLostError):
            self.close()

    def check(self, patience: float = 0.0) -> None:
        """Raise RayLostError if a vital process of a private Ray has ended, now or within some seconds."""
        deadline = time.monotonic() + patience
        while not (lost := self._lost()) and time.monotonic() < deadline:
            time.sleep(0.1)
        if lost:
            raise RayLostError(f"Ray's {lost} was killed, and with it all roles: the host may have run out of memory.")

    def _lost(self) -> str | None:
        """Return what has ended of a private Ray."""
        from ray._private.worker import global_worker

        if self._address is not None or global_worker.node is None:
            return None
        return next((VITAL[kind] for kind, _ in global_worker.node.dead_processes() if kind in VITAL), None)

    @property
    def hosts(self) -> list[RayHost]:
        """The hosts that are alive, ordered by address. There are none if the head of the cluster does not answer."""
        import ray

        self._asked = self._asked or self._thread.submit(ray.nodes)
        try:
            nodes = [node for node in self._asked.result(ANSWER_SECONDS) if node["Alive"]]
        except TimeoutError:
            return []
        self._asked = None
        hosts = [
            RayHost(
                node["NodeID"], node["NodeManagerAddress"], node["NodeManagerHostname"], node["Resources"].get("CPU", 1)
            )
            for node in nodes
        ]
        return sorted(hosts, key=lambda host: host.address)

    def close(self) -> None:
        """Stop the private Ray, or leave the joined cluster."""
        self._thread.submit(self._end).result()
        self._thread.shutdown()

    def _start(self) -> None:
        os.environ.update(QUIET)
        if self._address is None:
            os.environ.update(OWN_RAY)
            os.environ.setdefault("RAY_AUTH_TOKEN", secrets.token_hex(32))  # Ray reads it once per process
            self._start_own()
            return
        os.environ.update(JOINED_RAY)
        if TOKEN_FILE.expanduser().exists():
            # Ray uses the token automatically for a cluster that it finds, but not for a given address.
            os.environ.setdefault("RAY_AUTH_MODE", "token")
        try:
            _init(address=self._address)
        except Exception as error:  # Ray may raise any exception
            raise ClusterError(self._in_words(error)) from error

    def _start_own(self) -> None:
        """Start a private Ray. On a busy host, stop it and retry with a longer timeout."""
        for seconds in START_SECONDS:
            try:
                with more_time(seconds):
                    _init(**self._own_place())
            except OSError as error:
                raise ClusterError(self._in_words(error)) from error
            except Exception as error:  # Ray may raise any exception
                self._end()
                if seconds == START_SECONDS[-1]:
                    raise ClusterError(TOO_BUSY.format(_first_sentence(error))) from error
            else:
                return

    def _own_place(self) -> dict[str, Any]:
        """Create a private Ray's folder and start its watch. Return the arguments of `ray.init`."""
        parent = parent_of_folders()
        remove_left_behind(parent)
        self._folder = Path(tempfile.mkdtemp(prefix=f"{FOLDER}{os.getpid()}-", dir=parent))
        command = [sys.executable, "-I", "-S", ray_watch.__file__, str(self._folder)]
        self._watch = subprocess.Popen(command, stdin=subprocess.PIPE, start_new_session=True)
        return {
            "num_cpus": os.cpu_count(),
            "object_store_memory": OBJECT_STORE_BYTES,
            "include_dashboard": False,
            # Ray makes its folder writable for every user. Only this user can write to the parent.
            "_temp_dir": str(self._folder / "ray"),
        }

    def _in_words(self, error: Exception) -> str:
        if self._address is None:
            return f"Ray could not be started on this machine: {_first_sentence(error)}"
        return (
            f"the Ray cluster at {self._address} could not be joined ({_first_sentence(error)}): check {ADDRESS}, that "
            f"`ray start` ran on this host too, and that both have the same RAY_AUTH_MODE and {TOKEN_FILE}"
        )

    def _end(self) -> None:
        import ray

        if self._address is None:
            kill_monitor()
        ray.shutdown()
        if self._watch:
            self._watch.communicate()  # the watch kills leftover processes and deletes the folder


def _first_sentence(error: Exception) -> str:
    return re.split(r"\n|\. ", str(error).strip())[0] or type(error).__name__


def _init(**where: Any) -> None:
    import ray

    ray.init(**where, log_to_driver=False, logging_level="ERROR", namespace=secrets.token_hex(8))


@contextlib.contextmanager
def more_time(seconds: float) -> Iterator[None]:
    """Make `ray.init` wait longer for its node than Ray's hard-coded 30 s."""
    from ray._private import services

    get_node, deadline = services.get_node, time.monotonic() + seconds

    def get_node_patiently(*arguments: Any) -> Any:
        while True:
            try:
                return get_node(*arguments)
            except RuntimeError:  # not there yet
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.2)

    services.get_node = get_node_patiently
    try:
        yield
    finally:
        services.get_node = get_node


class Hosts:
    """Hosts of the cluster at the last check, and which of them to trust."""

    def __init__(self, cluster: RayCluster) -> None:
        self._cluster = cluster
        self._suspected_until: dict[str, float] = {}
        self._answered = time.monotonic()
        self.look()

    def look(self) -> None:
        """Update the list of live hosts. Raise RayLostError if there has been none for a while."""
        self._hosts, self._seen = self._cluster.hosts, time.monotonic()
        if self._hosts:
            self._answered = self._seen
        elif self._seen - self._answered > HOSTLESS_SECONDS:
            raise RayLostError(
                f"No host of the Ray cluster has been there for {HOSTLESS_SECONDS:g} s: check the cluster at "
                f"{address()} with `ray status`."
            )

    @property
    def due(self) -> bool:
        """True if the next check is due."""
        return time.monotonic() - self._seen > LOOK_SECONDS

    def suspect(self, host: RayHost) -> None:
        """Avoid a host for a while. If it returns, it is a new node and trusted."""
        self._suspected_until[host.node] = time.monotonic() + SUSPICION_SECONDS

    @property
    def reliable(self) -> list[RayHost]:
        """The hosts that are not suspected, or all hosts if all are. Empty while no host is there."""
        now = time.monotonic()
        return [host for host in self._hosts if self._suspected_until.get(host.node, 0) < now] or self._hosts


def take_back_sigterm() -> None:
    """Restore the SIGTERM handler. Ray's handler prints a stack for every signal."""
    handler = signal.getsignal(signal.SIGTERM)
    if handler is not None and threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, handler)


def kill_monitor() -> None:
    """Kill Ray's autoscaler, which has nothing to save but takes a second to end."""
    for child in psutil.Process().children():
        with contextlib.suppress(psutil.NoSuchProcess):  # the child has just ended
            if any(word.endswith("autoscaler/_private/monitor.py") for word in child.cmdline()):
                child.kill()


def parent_of_folders() -> Path:
    """Return the system's folder for temporary files, unless Ray's socket paths would be too long there."""
    usual = Path(tempfile.gettempdir())
    return usual if len(os.fsencode(usual / SOCKET)) <= LONGEST_SOCKET else SHORT_FOLDER


def remove_left_behind(parent: Path) -> None:
    """Delete the folders of dead trainers."""
    for folder in parent.glob(f"{FOLDER}*"):
        owner = folder.name.removeprefix(FOLDER).split("-")[0]
        if owner.isdigit() and not psutil.pid_exists(int(owner)):
            shutil.rmtree(folder, ignore_errors=True)
