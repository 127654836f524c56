"""The hosts of a cluster, and which of them to trust."""

from typing import cast

import pytest

from workers.trainer.methods.gorila.ray_cluster import LOOK_SECONDS, SUSPICION_SECONDS, Host, Hosts, RayCluster

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
