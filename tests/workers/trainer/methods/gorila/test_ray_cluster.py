"""The hosts of a cluster, and which of them to trust."""

import tempfile
from pathlib import Path
from typing import cast

import pytest
from ray._private.utils import validate_socket_filepath

from workers.trainer.methods.gorila.ray_cluster import (
    ADDRESS,
    LOOK_SECONDS,
    SHORT_FOLDER,
    SOCKET,
    SUSPICION_SECONDS,
    ClusterError,
    Host,
    Hosts,
    RayCluster,
    parent_of_folders,
)

# Nodes have numbers of 28 bytes.
A, B = Host("a" * 56, "10.0.0.1", "a", 4), Host("b" * 56, "10.0.0.2", "b", 4)
B_AGAIN = Host("c" * 56, "10.0.0.2", "b", 4)


class MadeCluster:
    """A cluster whose hosts the test adds and removes."""

    def __init__(self, *hosts: Host) -> None:
        self.hosts = list(hosts)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Replace the clock; the time is the only number in the list."""
    now = [100.0]
    monkeypatch.setattr("workers.trainer.methods.gorila.ray_cluster.time.monotonic", lambda: now[0])
    return now


def test_a_host_that_fell_silent_is_not_relied_on_for_a_while(clock: list[float]) -> None:
    hosts = Hosts(cast(RayCluster, MadeCluster(A, B)))
    hosts.suspect(B)
    assert hosts.reliable == [A]
    clock[0] += SUSPICION_SECONDS + 1
    assert hosts.reliable == [A, B]


def test_a_host_that_is_back_as_another_node_is_relied_on(clock: list[float]) -> None:
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
def test_where_all_fell_silent_all_are_better_than_none() -> None:
    hosts = Hosts(cast(RayCluster, MadeCluster(A)))
    hosts.suspect(A)
    assert hosts.reliable == [A]


@pytest.mark.parametrize(
    ("temporary", "kept"),
    [("/srv/tmp", True), ("/home/somebody", False), ("/scratch/" + "deep/" * 20, False), ("/srv/" + "é" * 5, False)],
)
def test_the_folder_of_a_ray_is_where_the_paths_of_its_sockets_are_short_enough(
    temporary: str, kept: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", temporary)
    chosen = parent_of_folders()
    validate_socket_filepath(str(chosen / SOCKET))
    assert chosen == (Path(temporary) if kept else SHORT_FOLDER)


def test_a_folder_that_cannot_be_made_is_told_in_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(ADDRESS, raising=False)
    monkeypatch.setattr("workers.trainer.methods.gorila.ray_cluster.parent_of_folders", lambda: Path("/nowhere"))
    with pytest.raises(ClusterError, match=r"^Ray could not be started on this machine: .*No such file or directory"):
        RayCluster().__enter__()
