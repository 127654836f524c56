"""Tests for the hosts of a cluster and which of them are reliable."""

import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import pytest
from ray._private import services
from ray._private.utils import validate_socket_filepath

from arcadia_workers.trainer.methods.gorila.ray_cluster import (
    ADDRESS,
    HOSTLESS_SECONDS,
    LOOK_SECONDS,
    SHORT_FOLDER,
    SOCKET,
    SUSPICION_SECONDS,
    ClusterError,
    Hosts,
    RayCluster,
    RayHost,
    RayLostError,
    more_time,
    parent_of_folders,
)
from tests.workers.waiting import PATIENCE_SECONDS

# IDs of nodes have 28 bytes.
A, B = RayHost("a" * 56, "10.0.0.1", "a", 4), RayHost("b" * 56, "10.0.0.2", "b", 4)
B_AGAIN = RayHost("c" * 56, "10.0.0.2", "b", 4)


class MadeCluster:
    """A cluster whose hosts the test adds and removes."""

    def __init__(self, *hosts: RayHost) -> None:
        self.hosts = list(hosts)
        self.is_lost = False

    def check(self, patience: float = 0.0) -> None:
        """Raise RayLostError if the test says that Ray was killed."""
        assert patience >= 0
        if self.is_lost:
            raise RayLostError("Ray's node (raylet) was killed.")


JOIN = """
from arcadia_workers.trainer.methods.gorila.ray_cluster import ClusterError, RayCluster

try:
    with RayCluster() as cluster:
        print(f"joined {len(cluster.hosts)}")
except ClusterError as error:
    print(error)
"""


def joined(address: str, environment: Mapping[str, str]) -> str:
    """Join a cluster in a separate process, because Ray reads its settings only once. Return its output."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("RAY_AUTH_")}
    everything = {**inherited, ADDRESS: address, **environment}
    received = subprocess.run([sys.executable, "-c", JOIN], env=everything, check=True, capture_output=True, text=True)
    return received.stdout.strip()


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Replace the clock. The returned list contains the time."""
    now = [100.0]
    monkeypatch.setattr("arcadia_workers.trainer.methods.gorila.ray_cluster.time.monotonic", lambda: now[0])
    return now


def test_a_silent_host_is_not_reliable_for_a_while(clock: list[float]) -> None:
    hosts = Hosts(cast(RayCluster, MadeCluster(A, B)))
    hosts.suspect(B)
    assert hosts.reliable == [A]
    clock[0] += SUSPICION_SECONDS + 1
    assert hosts.reliable == [A, B]


def test_a_host_that_returns_as_another_node_is_reliable(clock: list[float]) -> None:
    cluster = MadeCluster(A, B)
    hosts = Hosts(cast(RayCluster, cluster))
    hosts.suspect(B)
    cluster.hosts = [A, B_AGAIN]
    assert not hosts.due
    clock[0] += LOOK_SECONDS + 1
    assert hosts.due
    hosts.look()
    assert hosts.reliable == [A, B_AGAIN]


@pytest.mark.usefixtures("clock")
def test_all_hosts_are_used_if_all_are_silent() -> None:
    hosts = Hosts(cast(RayCluster, MadeCluster(A)))
    hosts.suspect(A)
    assert hosts.reliable == [A]


def test_a_cluster_may_be_without_hosts_for_a_while(clock: list[float]) -> None:
    cluster = MadeCluster(A)
    hosts = Hosts(cast(RayCluster, cluster))
    cluster.hosts = []
    for _ in range(2):
        clock[0] += HOSTLESS_SECONDS
        hosts.look()
        assert hosts.reliable == []
        cluster.hosts = [B]
        hosts.look()
        assert hosts.reliable == [B]
        cluster.hosts = []
    clock[0] += HOSTLESS_SECONDS + 1
    with pytest.raises(RayLostError, match="No host of the Ray cluster has been there for 60 s"):
        hosts.look()


def test_a_head_that_does_not_answer_has_no_hosts(monkeypatch: pytest.MonkeyPatch) -> None:
    released, cluster = threading.Event(), RayCluster()
    node = {"Alive": True, "NodeID": A.node, "NodeManagerAddress": A.address, "NodeManagerHostname": A.name}
    asked: list[int] = []

    def answer_late() -> list[dict[str, Any]]:
        asked.append(1)
        assert released.wait(PATIENCE_SECONDS)
        return [{**node, "Resources": {"CPU": A.cores}}]

    monkeypatch.setattr("ray.nodes", answer_late)
    with monkeypatch.context() as impatient:
        impatient.setattr("arcadia_workers.trainer.methods.gorila.ray_cluster.ANSWER_SECONDS", 0.0)
        assert [cluster.hosts, cluster.hosts] == [[], []]
    released.set()
    assert cluster.hosts == [A]
    assert len(asked) == 1, "an unanswered question is not repeated"


@pytest.mark.parametrize(
    ("temporary", "kept"),
    [("/srv/tmp", True), ("/home/somebody", False), ("/scratch/" + "deep/" * 20, False), ("/srv/" + "é" * 5, False)],
)
def test_the_folder_of_ray_keeps_the_paths_of_its_sockets_short_enough(
    temporary: str, kept: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", temporary)
    chosen = parent_of_folders()
    validate_socket_filepath(str(chosen / SOCKET))
    assert chosen == (Path(temporary) if kept else SHORT_FOLDER)


@pytest.mark.nightly
def test_a_missing_token_of_a_cluster_is_explained(tmp_path: Path) -> None:
    words = joined("127.0.0.1:1", {"HOME": str(tmp_path), "RAY_AUTH_MODE": "token"})
    assert words == (
        "the Ray cluster at 127.0.0.1:1 could not be joined (Token authentication is enabled but no authentication "
        "token was found): check ARCADIA_RAY_ADDRESS, that `ray start` ran on this host too, and that both have the "
        "same RAY_AUTH_MODE and ~/.ray/auth_token"
    )


def test_a_folder_that_cannot_be_created_is_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(ADDRESS, raising=False)
    monkeypatch.setattr(
        "arcadia_workers.trainer.methods.gorila.ray_cluster.parent_of_folders", lambda: Path("/nowhere")
    )
    with pytest.raises(ClusterError, match=r"^Ray could not be started on this machine: .*No such file or directory"):
        RayCluster().__enter__()


class BusyHost:
    """A host on which Ray starts at a given try, or never."""

    def __init__(self, succeeds_at: int = 0) -> None:
        self.folders: list[Path] = []
        self._succeeds_at = succeeds_at

    def init(self, **how: Any) -> None:
        """Start Ray in place of `ray.init`."""
        assert not any(folder.exists() for folder in self.folders), "earlier tries must be cleaned up"
        self.folders.append(Path(how["_temp_dir"]).parent)
        if len(self.folders) != self._succeeds_at:
            raise Exception("The current node timed out during startup. This could happen because …")  # noqa: TRY002


def test_ray_is_started_again_if_the_host_was_too_busy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(ADDRESS, raising=False)
    host = BusyHost(succeeds_at=2)
    monkeypatch.setattr("ray.init", host.init)
    with RayCluster():
        assert [folder.exists() for folder in host.folders] == [False, True]
    assert not host.folders[1].exists()


def test_an_overloaded_host_is_reported_with_advice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(ADDRESS, raising=False)
    monkeypatch.setattr("ray.init", BusyHost().init)
    with pytest.raises(ClusterError) as failed:
        RayCluster().__enter__()
    assert str(failed.value) == (
        "Ray, which runs Gorila's processes, did not start on this machine in 2 tries of up to 180 s. The host may be "
        "too busy: let other runs end or pause them, then launch this run again. Ray reported: The current node timed "
        "out during startup"
    )


def test_a_node_of_ray_may_take_longer_than_rays_timeout(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = iter([RuntimeError("no node"), RuntimeError("no node"), {"node_manager_port": 7}])

    def get_node(_address: str, _node: str) -> Any:
        if isinstance(answer := next(answers), RuntimeError):
            raise answer
        return answer

    monkeypatch.setattr(services, "get_node", get_node)
    with more_time(60):
        assert services.get_node("127.0.0.1:1", "a") == {"node_manager_port": 7}
    assert services.get_node is get_node
