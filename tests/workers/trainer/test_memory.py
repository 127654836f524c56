"""Estimates of what a configuration needs, against limits made for the test."""

import math
from pathlib import Path

import pytest
import torch

from workers.trainer import memory
from workers.trainer.config import A3cConfig, Ga3cConfig, GorilaConfig, NStepQConfig, PaacConfig, PaacQConfig, RunConfig
from workers.trainer.memory import MemoryShortageError

CPU = torch.device("cpu")


def total(config: RunConfig, device: torch.device = CPU) -> float:
    return sum(need.size for need in memory.needs_of(config, device))


@pytest.mark.parametrize(
    ("config", "change", "fields"),
    [
        (PaacConfig(num_envs=32), {"num_envs": 1024, "t_max": 2048}, "num_envs or t_max"),
        (PaacQConfig(num_envs=32), {"num_envs": 1024, "t_max": 2048}, "num_envs or t_max"),
        (A3cConfig(num_actors=2), {"num_actors": 256}, "num_actors or t_max"),
        (NStepQConfig(num_actors=2), {"num_actors": 256}, "num_actors or t_max"),
        (Ga3cConfig(num_agents=2), {"num_agents": 1024}, "num_agents or t_max"),
        (GorilaConfig(num_actors=1, num_learners=1, replay_frames=100_000), {"replay_frames": 10**6}, "replay_frames"),
        (
            Ga3cConfig(num_agents=2, network="large-stride-1"),
            {"min_training_batch": 4096},
            "min_training_batch or num_trainers",
        ),
    ],
    ids=lambda value: value.algorithm if isinstance(value, PaacConfig | A3cConfig | Ga3cConfig) else "",
)
def test_what_does_not_fit_is_refused_with_the_fields_to_lower(
    monkeypatch: pytest.MonkeyPatch, config: RunConfig, change: dict[str, int], fields: str
) -> None:
    monkeypatch.setattr(memory, "free_memory", lambda: 2 * 2**30)
    memory.check(config, CPU)
    with pytest.raises(MemoryShortageError, match=rf"needs about .* but 2\.0 GiB are free here: lower {fields}"):
        memory.check(config.model_copy(update=change), CPU)


def test_a_replay_memory_takes_what_its_frames_take(monkeypatch: pytest.MonkeyPatch) -> None:
    small, large = (GorilaConfig(replay_frames=frames) for frames in (100_000, 1_000_000))
    assert total(large) - total(small) == 900_000 * (84 * 84 + 7)
    prioritised = large.model_copy(update={"prioritised_replay": True})
    assert total(prioritised) - total(large) == 1_000_000 * 16
    monkeypatch.setenv("ARCADIA_RAY_ADDRESS", "10.0.0.1:6379")  # then the hosts of the cluster have to have it
    assert total(large) == memory.PROGRAM


def test_a_host_is_asked_for_its_share_of_the_replay_memories(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "free_memory", lambda: 2 * 2**30)
    config = GorilaConfig(num_actors=4, num_learners=4, replay_frames=1_000_000)
    memory.check_replay(config, (4, 84, 84), 1)
    with pytest.raises(
        MemoryShortageError, match=r"about 3\.3 GiB of memory, 3\.3 GiB of it for replay memory, but 2\.0"
    ):
        memory.check_replay(config, (4, 84, 84), 2)


def test_the_need_grows_with_what_is_kept() -> None:
    small = PaacConfig(num_envs=32, precision="float32")
    assert total(small.model_copy(update={"num_envs": 256})) > total(small)
    assert total(small.model_copy(update={"t_max": 50})) > total(small)
    assert total(small.model_copy(update={"network": "nature"})) > total(small)
    assert total(small.model_copy(update={"precision": "bfloat16"})) < total(small)
    assert total(small, torch.device("cuda")) < total(small)  # what layers give lies on the GPU


def test_a_rollout_takes_what_its_tensors_take() -> None:
    config = PaacConfig(num_envs=16, t_max=5, precision="float32", network="nips")
    outputs = 16 * 20 * 20 + 32 * 9 * 9 + 256
    assert total(config) - memory.PROGRAM == 16 * 5 * 4 * (4 * 84 * 84 + 2 * outputs)


@pytest.mark.parametrize(
    ("line", "folder", "files"),
    [
        (
            "0::/made",
            "made",
            {"memory.max": "1000", "memory.current": "700", "memory.stat": "anon 1\ninactive_file 100\n"},
        ),
        (
            "7:cpu,memory:/made",
            "memory/made",
            {
                "memory.limit_in_bytes": "1000",
                "memory.usage_in_bytes": "700",
                "memory.stat": "inactive_file 5\ntotal_inactive_file 100\n",
            },
        ),
    ],
    ids=["version 2", "version 1"],
)
def test_the_limit_of_a_container_counts(tmp_path: Path, line: str, folder: str, files: dict[str, str]) -> None:
    group = tmp_path / folder
    group.mkdir(parents=True)
    for name, text in files.items():
        (group / name).write_text(text)
    membership = tmp_path / "cgroup"
    membership.write_text(f"3:pids:/made\n{line}\n")
    assert memory.free_memory(tmp_path, membership) == 400


def test_the_nearest_limit_of_the_groups_around_counts(tmp_path: Path) -> None:
    inner = tmp_path / "outer" / "inner"
    inner.mkdir(parents=True)
    for group, limit in ((inner, "max"), (inner.parent, "5000")):
        (group / "memory.max").write_text(limit)
        (group / "memory.current").write_text("2000")
        (group / "memory.stat").write_text("inactive_file 0")
    membership = tmp_path / "cgroup"
    membership.write_text("0::/outer/inner\n")
    assert memory.free_memory(tmp_path, membership) == 3000


def test_without_any_limit_what_the_host_has_free_counts(tmp_path: Path) -> None:
    assert 0 < memory.free_memory(tmp_path, tmp_path / "missing") < math.inf
