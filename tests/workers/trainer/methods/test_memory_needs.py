"""Tests for estimates of a configuration's memory against artificial limits."""

import pytest
import torch

from arcadia_workers.contract.config import (
    A3cConfig,
    Ga3cConfig,
    GorilaConfig,
    NStepQConfig,
    PaacConfig,
    PaacQConfig,
    PpoConfig,
    TrainingConfig,
)
from arcadia_workers.trainer.host import memory
from arcadia_workers.trainer.host.memory import MemoryShortageError, Need
from arcadia_workers.trainer.methods import TRAINERS
from arcadia_workers.trainer.methods.gorila.memory_needs import check_replay

CPU = torch.device("cpu")


def needs_of(config: TrainingConfig, device: torch.device = CPU) -> list[Need]:
    return TRAINERS[config.algorithm].needs(config, device)


def total(config: TrainingConfig, device: torch.device = CPU) -> float:
    return sum(need.size for need in needs_of(config, device))


@pytest.mark.parametrize(
    ("config", "change", "fields"),
    [
        (PaacConfig(num_envs=32), {"num_envs": 1024, "t_max": 2048}, "num_envs or t_max"),
        (PaacQConfig(num_envs=32), {"num_envs": 1024, "t_max": 2048}, "num_envs or t_max"),
        (PpoConfig(num_envs=8), {"num_envs": 1024}, "num_envs or t_max"),
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
def test_a_run_that_does_not_fit_is_refused_with_the_fields_to_lower(
    monkeypatch: pytest.MonkeyPatch, config: TrainingConfig, change: dict[str, int], fields: str
) -> None:
    monkeypatch.setattr(memory, "free_memory", lambda: 2 * 2**30)
    memory.check(needs_of(config))
    with pytest.raises(MemoryShortageError, match=rf"needs about .* but 2\.0 GiB are free here: lower {fields}"):
        memory.check(needs_of(config.model_copy(update=change)))


@pytest.mark.parametrize(
    ("env", "bytes_of_frame"),
    [("ALE/Pong-v5", 84 * 84), ("Arcadia/Labyrinth-v0", 3 * 84 * 84), ("CartPole-v1", 4 * 4)],
)
def test_a_replay_memory_needs_the_memory_of_its_frames(env: str, bytes_of_frame: int) -> None:
    small, large = (GorilaConfig(env=env, replay_frames=frames) for frames in (100_000, 1_000_000))
    assert total(large) - total(small) == 900_000 * (bytes_of_frame + 7)


def test_priorities_need_extra_memory_and_a_cluster_needs_none_of_this_host(monkeypatch: pytest.MonkeyPatch) -> None:
    large = GorilaConfig(replay_frames=1_000_000)
    prioritized = large.model_copy(update={"prioritized_replay": True})
    assert total(prioritized) - total(large) == 1_000_000 * 16
    monkeypatch.setenv("ARCADIA_RAY_ADDRESS", "10.0.0.1:6379")  # the cluster's hosts need the memory instead
    assert total(large) == 0


def test_a_host_needs_memory_for_its_share_of_the_replay_memories(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "free_memory", lambda: 2 * 2**30)
    config = GorilaConfig(num_actors=4, num_learners=4, replay_frames=1_000_000)
    check_replay(config, (4, 84, 84), 1)
    with pytest.raises(
        MemoryShortageError, match=r"about 3\.3 GiB of memory, 3\.3 GiB of it for replay memory, but 2\.0"
    ):
        check_replay(config, (4, 84, 84), 2)


def test_the_need_grows_with_environments_steps_and_network() -> None:
    small = PaacConfig(num_envs=32, precision="float32")
    assert total(small.model_copy(update={"num_envs": 256})) > total(small)
    assert total(small.model_copy(update={"t_max": 50})) > total(small)
    assert total(small.model_copy(update={"network": "nature"})) > total(small)
    assert total(small.model_copy(update={"precision": "bfloat16"})) < total(small)
    assert total(small, torch.device("cuda")) < total(small)  # layers' outputs are on the GPU


def test_a_rollout_needs_the_memory_of_its_tensors() -> None:
    config = PaacConfig(num_envs=16, t_max=5, precision="float32", network="nips")
    outputs = 16 * 20 * 20 + 32 * 9 * 9 + 256
    assert total(config) == 16 * 5 * 4 * (4 * 84 * 84 + 2 * outputs)


def test_a_gpu_holds_the_outputs_and_converts_the_bytes_of_screens_itself() -> None:
    config = PaacConfig(num_envs=16, t_max=5, precision="float32", network="nips")
    assert total(config, torch.device("cuda")) == 16 * 5 * 4 * 84 * 84


def test_vectors_need_the_outputs_of_the_hidden_layers() -> None:
    config = PaacConfig(env="CartPole-v1", num_envs=16, t_max=5, hidden_layers=2, hidden_units=64)
    assert total(config) == 16 * 5 * 4 * (32 + 2 * 2 * 64)


def test_more_trainers_of_ga3c_need_memory_only_for_their_batches() -> None:
    config = Ga3cConfig(network="large-stride-1", min_training_batch=128, t_max=5, precision="float32")
    one, four = (total(config.model_copy(update={"num_trainers": trainers})) for trainers in (1, 4))
    assert four - one == 3 * (128 + 5) * (4 * 84 * 84) * (1 + 4)


def test_each_agent_of_ga3c_needs_memory() -> None:
    config = Ga3cConfig(num_agents=2, t_max=5)
    more = config.model_copy(update={"num_agents": 6})
    (few,) = (need.size for need in needs_of(config) if need.what == "2 agents")
    (many,) = (need.size for need in needs_of(more) if need.what == "6 agents")
    # The code of a process, and five screens or more of the unfinished rollouts.
    assert many == 3 * few > 6 * (8 * 2**20 + 5 * 4 * 84 * 84)
