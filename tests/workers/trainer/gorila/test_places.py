"""Where roles are when hosts go and come back: the crew with made hosts, without Ray."""

from concurrent.futures import Future
from types import SimpleNamespace
from typing import Any, cast

import pytest
from ray.exceptions import ActorDiedError

from tests.workers.trainer.gorila.test_hosts import B_AGAIN, A, B, MadeCluster
from workers.trainer import own_environment
from workers.trainer.algorithms.gorila import build
from workers.trainer.config import GorilaConfig
from workers.trainer.gorila.crew import MOST_LOSSES, Crew
from workers.trainer.gorila.ray_cluster import RayCluster
from workers.trainer.gorila.report import Report
from workers.trainer.gorila.role import Role
from workers.trainer.gorila.saved_state import fresh
from workers.trainer.optimizers import FlatParameters

CONFIG = GorilaConfig(env="Arcadia/Catch-v0", num_actors=3, num_learners=3, num_shards=1, hidden_units=16)


class MadeHandle:
    """A process that takes every call and never answers by itself."""

    def __getattr__(self, _name: str) -> Any:
        return SimpleNamespace(remote=lambda *_: SimpleNamespace(future=Future))


@pytest.fixture(autouse=True)
def _no_ray(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("workers.trainer.gorila.hosts.LOOK_SECONDS", 0.0)
    monkeypatch.setattr(Role, "start", lambda role: setattr(role, "handle", MadeHandle()))
    monkeypatch.setattr(Role, "end", lambda _role: None)


def crew_on(cluster: MadeCluster, log: list[str]) -> Crew:
    interface = own_environment.interface(CONFIG)
    whole = fresh(CONFIG, FlatParameters(build(CONFIG, *interface)))
    crew = Crew(cast(RayCluster, cluster), CONFIG, interface, whole, 0, log.append)
    for role in crew.roles:
        answer(role)
    crew.watch(0)
    return crew


def answer(role: Role, found: Report | None = None) -> None:
    """Have a role answer what it was asked last."""
    assert role.pending is not None
    role.pending.set_result(found)


def die(role: Role) -> None:
    """Have a role be found dead."""
    assert role.pending is not None
    role.pending.set_exception(ActorDiedError())


def places(crew: Crew) -> list[str]:
    """Every role as "bundle 0 on a, lost 1"."""
    return [f"{place.kind} {place.number} on {place.host}, lost {place.times_lost}" for place in crew.places]


def test_a_role_of_a_host_that_is_gone_is_told_elsewhere_and_at_home_when_the_host_is_back() -> None:
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
    die(crew.roles[2])
    crew.watch(0)
    assert places(crew) == [*everybody[:2], "bundle 1 on a (10.0.0.1), lost 1", everybody[3]]

    cluster.hosts = [A, B_AGAIN]
    answer(crew.roles[2])
    for _ in range(2):
        crew.watch(0)
    assert places(crew) == [*everybody[:2], "bundle 1 on b (10.0.0.2), lost 1", everybody[3]]
    assert log[-1] == "A host came back. Roles: a (10.0.0.1): shard × 1, bundle × 2; b (10.0.0.2): bundle × 1"


def test_losses_with_work_between_them_are_forgiven_but_all_are_told() -> None:
    crew = crew_on(MadeCluster(A), [])
    (_, bundle, *_) = crew.roles
    for _ in range(MOST_LOSSES + 1):
        die(bundle)
        crew.watch(0)
        for found in (None, Report()):  # it has begun, and then worked
            answer(bundle, found)
            crew.watch(0)
    assert places(crew)[1] == f"bundle 0 on a (10.0.0.1), lost {MOST_LOSSES + 1}"
