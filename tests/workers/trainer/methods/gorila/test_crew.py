"""Tests that Gorila trains in both modes on a private Ray and survives the death of any role."""

import os
import re
import socket
import stat
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
import torch

from arcadia_workers.contract.config import GorilaConfig
from arcadia_workers.trainer.host.memory import MemoryShortageError
from arcadia_workers.trainer.host.processes import ActorFailed
from arcadia_workers.trainer.methods.gorila.crew import can_learn
from arcadia_workers.trainer.methods.gorila.ray_cluster import RayCluster
from arcadia_workers.trainer.methods.gorila.reporter import Stock
from arcadia_workers.trainer.methods.gorila.train import train_on
from arcadia_workers.trainer.run.run import NullRun, TrainingState
from tests.processes import command_line
from tests.workers.trainer.methods.gorila.test_ray_cluster import joined
from tests.workers.waiting import PATIENCE_SECONDS

BUNDLED: dict[str, Any] = {
    "env": "Arcadia/Catch-v0",
    "num_shards": 2,
    "total_steps": 10**9,
    "replay_frames": 4000,
    "learning_starts": 100,
    "target_update_interval": 50,
    "epsilon_anneal_updates": 500,
    "hidden_units": 16,
}
# Starting a role takes three seconds of processor time.
SMALLEST: dict[str, Any] = {"num_shards": 1, "num_actors": 1, "num_learners": 1}
FREE = {**BUNDLED, "mode": "free", "num_actors": 1, "num_learners": 1, "num_shards": 1, "prioritized_replay": True}


@pytest.fixture(autouse=True)
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Do not count a role as lost only because the machine is busy."""
    monkeypatch.setattr("arcadia_workers.trainer.methods.gorila.crew.SILENCE_SECONDS", 2 * PATIENCE_SECONDS)


@pytest.fixture(scope="module")
def cluster() -> Iterator[RayCluster]:
    with RayCluster() as started:
        yield started


@pytest.mark.nightly
def test_other_users_cannot_access_the_folder_of_a_private_ray(cluster: RayCluster) -> None:
    folder = cluster._folder
    assert folder
    assert list(folder.rglob("session_latest"))
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


@pytest.mark.parametrize(
    ("transitions", "enough"),
    [((), False), ((90,), False), ((90, 0), False), ((50, 40), False), ((99, 1), True), ((500, 500), True)],
)
def test_learners_wait_until_every_replay_shard_has_enough_transitions(
    transitions: tuple[int, ...], enough: bool
) -> None:
    config = GorilaConfig(**{**FREE, "num_replays": 2})
    stocks = {number: Stock(count, fill=0.1, busy_seconds=0) for number, count in enumerate(transitions)}
    assert can_learn(config, stocks) == enough


class Watched(NullRun):
    """A run whose counters must never decrease."""

    def __init__(self, **fields: Any) -> None:
        super().__init__(**fields)
        self.began = time.monotonic()

    def advance(self, step: int, frames: int, updates: int = 1) -> None:
        assert step >= self.step
        assert updates >= 0
        assert time.monotonic() - self.began < PATIENCE_SECONDS, "training no longer continues"
        super().advance(step, frames, updates)


class Killer(Watched):
    """A run that kills roles in order, each after more training since the last kill. Then it stops."""

    def __init__(self, *victims: str) -> None:
        super().__init__()
        self._victims = list(victims)
        self._next = (100, 20)
        self._killed = 0
        self.finished = False

    def should_stop(self) -> bool:
        return self.finished

    def advance(self, step: int, frames: int, updates: int = 1) -> None:
        super().advance(step, frames, updates)
        died = sum("lost" in line for line in self.logged)
        steps, made = self._next
        if step < steps or self.updates < made or died < self._killed:
            return
        self._next = (step + 100, self.updates + 20)
        if self._victims:
            kill(self._victims.pop(0))
            self._killed += 1
        else:
            self.finished = True


def roles(kind: str) -> list[psutil.Process]:
    """Return the processes of a kind of role."""
    return [
        child
        for child in psutil.Process().children(recursive=True)
        if command_line(child).startswith(f"ray::{kind}Role")
    ]


def kill(kind: str) -> None:
    """Kill one process of a kind of role with SIGKILL."""
    roles(kind)[0].kill()


@pytest.mark.parametrize(
    ("settings", "victims"),
    [
        pytest.param(BUNDLED, ("Bundle", "Shard"), id="bundled"),
        pytest.param(BUNDLED, ("Bundle", "Shard", "Bundle"), id="a bundle twice", marks=pytest.mark.nightly),
        pytest.param(FREE, ("Actor", "Learner", "Shard", "Replay"), id="free", marks=pytest.mark.nightly),
    ],
)
def test_training_survives_killed_roles_and_its_counters_never_decrease(
    cluster: RayCluster, settings: dict[str, Any], victims: tuple[str, ...]
) -> None:
    run = Killer(*victims)
    train_on(cluster, GorilaConfig(**settings), run)
    assert run.start_steps == ["Starting the roles", "First update"]
    lost = [line for line in run.logged if "was lost" in line]
    assert [line.split()[1] for line in lost] == list(victims)
    assert not any(place.times_lost for place in run.placed[0])
    received = Counter(place.kind.capitalize() for place in run.placed[-1] for _ in range(place.times_lost))
    assert received == Counter(victims)
    assert run.saved[-1].step == run.step
    assert int(str(run.saved[-1].facts["updates"])) >= run.updates > 0  # an update may follow the last report


@pytest.fixture(scope="module")
def whole(cluster: RayCluster) -> Watched:
    """Return a run after all of its steps."""
    run = Watched()
    train_on(cluster, GorilaConfig(**{**BUNDLED, "total_steps": 2000}), run)
    return run


@pytest.mark.nightly
def test_episodes_and_metrics_are_consistent_with_the_steps(whole: Watched) -> None:
    run = whole
    lengths = sum(length for _, _, _, length in run.episodes)
    assert 0 <= run.step - lengths <= 5 * 2  # two actors' unfinished episodes
    assert all(length == 5 and value in (-1, 1) for _, _, value, length in run.episodes)
    assert [at for at, *_ in run.episodes] == sorted(at for at, *_ in run.episodes)
    last = run.reported[-1]
    assert {
        "gorila/staleness",
        "gorila/discarded_stale",
        "gorila/discarded_outlier",
        "gorila/replay_fill",
    } <= last.keys()
    assert {"train/value_loss", "train/q_mean", "train/grad_norm", "train/epsilon"} <= last.keys()
    assert all(0 <= last[f"gorila/{role}_busy"] <= 1 for role in ("actor", "learner", "shard"))
    assert last["gorila/bytes_pushed_per_second"] > 0
    assert any("Roles: " in line and "127.0.0.1" in line and "bundle × 2" in line for line in run.logged)
    (places,) = run.placed
    assert [(place.kind, place.number) for place in places] == [
        ("shard", 0),
        ("shard", 1),
        ("bundle", 0),
        ("bundle", 1),
    ]
    assert all(place.host.endswith(" (127.0.0.1)") for place in places)


@pytest.mark.usefixtures("cluster")
def test_roles_have_the_niceness_of_the_trainer() -> None:
    import ray  # only after the cluster has started

    process = ray.remote(num_cpus=0.001)(lambda: os.nice(0))
    assert ray.get(process.remote()) == os.nice(0)


@pytest.mark.nightly
@pytest.mark.usefixtures("cluster")
def test_the_token_of_a_cluster_is_read_from_its_file(tmp_path: Path) -> None:
    import ray  # only after the cluster has started

    file = tmp_path / ".ray/auth_token"
    file.parent.mkdir()
    file.write_text(os.environ["RAY_AUTH_TOKEN"])
    assert joined(ray.get_runtime_context().gcs_address, {"HOME": str(tmp_path)}) == "joined 1"


def test_a_run_ends_at_its_last_step(whole: Watched) -> None:
    assert 2000 <= whole.step < 2100
    assert whole.saved[-1].step == whole.step


def test_a_run_that_stops_at_once_saves_the_restored_state(cluster: RayCluster, whole: Watched) -> None:
    saved = whole.saved[-1]
    second = Watched(restored=saved, stop_at_step=saved.step, step=saved.step)
    train_on(cluster, GorilaConfig(**{**BUNDLED, "num_shards": 3}), second)  # stopped at once
    again: TrainingState = second.saved[-1]
    assert any(name.startswith("network.") for name in saved.tensors)
    assert {"optimizer.statistics", "target.values"} <= saved.tensors.keys()
    assert not torch.equal(saved.tensors["target.values"], torch.zeros_like(saved.tensors["target.values"]))
    for name, tensor in saved.tensors.items():
        assert torch.equal(again.tensors[name], tensor), name
    assert again.facts == saved.facts


@pytest.mark.nightly
def test_a_run_that_does_not_fit_its_host_is_refused_with_the_required_memory(cluster: RayCluster) -> None:
    config = GorilaConfig(env="ALE/Pong-v5", replay_frames=10**9, **SMALLEST)
    with pytest.raises(MemoryShortageError) as refusal:
        train_on(cluster, config, Watched())
    size = r"[\d,]+\.\d GiB"
    assert re.fullmatch(
        rf"this configuration needs about {size} of memory, {size} of it for replay memory, but {size} are free "
        rf"on {re.escape(socket.gethostname())}: lower replay_frames",
        str(refusal.value),
    )


@pytest.mark.nightly
def test_an_exception_in_a_role_fails_the_run_with_its_name(cluster: RayCluster) -> None:
    config = GorilaConfig(**{**BUNDLED, **SMALLEST}).model_copy(update={"batch_size": -1})
    with pytest.raises(ActorFailed, match=r"bundle 0 failed: ") as failure:
        train_on(cluster, config, Watched())
    (note,) = failure.value.__notes__
    assert "ray::BundleRole.work()" in note
    assert str(failure.value).removeprefix("bundle 0 failed: ") == note.splitlines()[-1]
    assert "\x1b" not in note
