"""Tests for the placement of roles when hosts leave and return, with fake hosts and without Ray."""

from concurrent.futures import Future
from types import SimpleNamespace
from typing import Any, cast

import pytest
import ray
from ray.exceptions import ActorDiedError, RayTaskError

from arcadia_workers.contract.config import GorilaConfig
from arcadia_workers.trainer.environments import own_environment
from arcadia_workers.trainer.host.memory import MemoryShortageError
from arcadia_workers.trainer.learning.optimizers import FlatParameters
from arcadia_workers.trainer.methods.gorila.crew import GorilaCrew
from arcadia_workers.trainer.methods.gorila.gorila import build
from arcadia_workers.trainer.methods.gorila.ray_cluster import RayCluster, RayLostError
from arcadia_workers.trainer.methods.gorila.remote import MOST_LOSSES, CrewRole
from arcadia_workers.trainer.methods.gorila.reporter import WorkRecord
from arcadia_workers.trainer.methods.gorila.train import fresh
from tests.workers.trainer.methods.gorila.test_ray_cluster import B_AGAIN, A, B, MadeCluster

CONFIG = GorilaConfig(env="Arcadia/Catch-v0", num_actors=3, num_learners=3, num_shards=1, hidden_units=16)


class MadeHandle:
    """A process that accepts every call and responds only when the test decides."""

    def __init__(self) -> None:
        # The arguments of the latest call of each method.
        self.called: dict[str, tuple[Any, ...]] = {}

    def __getattr__(self, name: str) -> Any:
        return SimpleNamespace(remote=lambda *arguments: self._call(name, arguments))

    def _call(self, name: str, arguments: tuple[Any, ...]) -> Any:
        self.called[name] = arguments
        return SimpleNamespace(future=Future)


@pytest.fixture(autouse=True)
def _no_ray(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("arcadia_workers.trainer.methods.gorila.ray_cluster.LOOK_SECONDS", 0.0)
    started = SimpleNamespace(options=lambda **_: SimpleNamespace(remote=MadeHandle))
    monkeypatch.setattr(ray, "remote", lambda _process: started)
    monkeypatch.setattr(ray, "kill", lambda _handle: None)


def crew_on(cluster: MadeCluster, log: list[str]) -> GorilaCrew:
    interface = own_environment.interface(CONFIG)
    whole = fresh(CONFIG, FlatParameters(build(CONFIG, *interface)))
    crew = GorilaCrew(cast(RayCluster, cluster), CONFIG, interface, whole, 0, log.append)
    for role in crew.roster.roles:
        answer(role)
    crew.watch(0)
    return crew


def answer(role: CrewRole, found: WorkRecord | None = None) -> None:
    """Make a role respond to its latest call."""
    assert role.pending is not None
    role.pending.set_result(found)


def die(role: CrewRole) -> None:
    """Make the crew notice that a role is dead."""
    assert role.pending is not None
    role.pending.set_exception(ActorDiedError())


def places(crew: GorilaCrew) -> list[str]:
    """Return descriptions of all roles, such as "bundle 0 on a, lost 1"."""
    return [f"{place.kind} {place.number} on {place.host}, lost {place.times_lost}" for place in crew.places]


def test_a_crew_ends_when_ray_is_killed_and_keeps_its_backup() -> None:
    cluster = MadeCluster(A)
    crew = crew_on(cluster, [])
    cluster.is_lost = True
    with pytest.raises(RayLostError, match="raylet"), crew:
        crew.watch(0)
    assert crew.backup.updates == 0


def test_roles_wait_for_a_host_while_the_cluster_has_none() -> None:
    cluster = MadeCluster(A)
    crew = crew_on(cluster, [])
    bundles = crew.roster.all("bundle")
    for hosts in ([], [B]):
        cluster.hosts = hosts
        for role in bundles:
            die(role)
        crew.watch(0)
    assert {role.host for role in bundles} == {B}
    assert {role.times_lost for role in bundles} == {2}


def test_a_cluster_without_hosts_cannot_begin() -> None:
    with pytest.raises(RayLostError, match="has no host"):
        crew_on(MadeCluster(), [])


def test_roles_of_a_lost_host_move_elsewhere_and_return_when_it_is_back() -> None:
    cluster, log = MadeCluster(A, B), list[str]()
    crew = crew_on(cluster, log)
    everybody = [
        "shard 0 on a (10.0.0.1), lost 0",
        "bundle 0 on a (10.0.0.1), lost 0",
        "bundle 1 on b (10.0.0.2), lost 0",
        "bundle 2 on a (10.0.0.1), lost 0",
    ]
    assert places(crew) == everybody
    assert log == ["Roles: a (10.0.0.1): shard × 1, bundle × 2; b (10.0.0.2): bundle × 1"]

    cluster.hosts = [A]
    die(crew.roster.roles[2])
    crew.watch(0)
    assert places(crew) == [*everybody[:2], "bundle 1 on a (10.0.0.1), lost 1", everybody[3]]

    cluster.hosts = [A, B_AGAIN]
    answer(crew.roster.roles[2])
    for _ in range(2):
        crew.watch(0)
    assert places(crew) == [*everybody[:2], "bundle 1 on b (10.0.0.2), lost 1", everybody[3]]
    assert log[-1] == "A host came back. Roles: a (10.0.0.1): shard × 1, bundle × 2; b (10.0.0.2): bundle × 1"


def memories_to_fill(role: CrewRole) -> float:
    """Return the number of replay memories for which a role's latest process required free memory on its host."""
    *_, memories = role.handle.called["begin"]
    return float(memories)


def test_a_lost_bundle_needs_room_for_its_memory_and_the_unfilled_ones_on_its_host() -> None:
    cluster = MadeCluster(A, B)
    crew = crew_on(cluster, [])
    first, elsewhere, third = bundles = crew.roster.all("bundle")
    assert [memories_to_fill(bundle) for bundle in bundles] == [2, 1, 2]

    for bundle, fill in ((first, 1.0), (elsewhere, 1.0), (third, 0.75)):
        answer(bundle, WorkRecord(fill=fill))
    crew.watch(0)
    die(first)
    crew.watch(0)
    assert memories_to_fill(first) == 1.25

    answer(first)
    crew.watch(0)
    answer(first, WorkRecord(fill=1.0))
    answer(third, WorkRecord(fill=1.0))
    crew.watch(0)
    cluster.hosts = [A]
    die(elsewhere)
    crew.watch(0)
    assert memories_to_fill(elsewhere) == 1


def raised_over_ray(error: Exception) -> Exception:
    """Return the error that Ray raises here after this error was raised in a role."""
    traceback = f"Traceback (most recent call last):\n  File 'crew.py', line 1, in begin\n{error!r}"
    arrived: Exception = RayTaskError(
        "begin", traceback, error, "ray::BundleRole.begin", 1, "10.0.0.1"
    ).as_instanceof_cause()
    assert isinstance(arrived, type(error))
    assert str(arrived) != str(error)
    return arrived


def test_a_roles_memory_shortage_is_reported_with_its_message() -> None:
    words = "this configuration needs about 7.0 GiB of memory, but 2.0 GiB are free on a: lower replay_frames"
    crew = crew_on(MadeCluster(A), [])
    bundle = crew.roster.roles[1]
    bundle.pending = Future()
    bundle.pending.set_exception(raised_over_ray(MemoryShortageError(words)))
    with pytest.raises(MemoryShortageError) as failure:
        crew.watch(0)
    assert str(failure.value) == words
    assert failure.type is MemoryShortageError


def test_losses_with_work_between_them_do_not_fail_the_run_but_are_all_reported() -> None:
    crew = crew_on(MadeCluster(A), [])
    (_, bundle, *_) = crew.roster.roles
    for _ in range(MOST_LOSSES + 1):
        die(bundle)
        crew.watch(0)
        for found in (None, WorkRecord()):  # the role starts and then works
            answer(bundle, found)
            crew.watch(0)
    assert places(crew)[1] == f"bundle 0 on a (10.0.0.1), lost {MOST_LOSSES + 1}"
