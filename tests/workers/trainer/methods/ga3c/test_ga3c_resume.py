"""Tests that GA3C resumes with its network, statistics and numbers of agents, predictors and trainers."""

import resource

import pytest
import torch

from arcadia_workers.contract.config import Ga3cConfig
from arcadia_workers.trainer.methods.ga3c import ga3c
from arcadia_workers.trainer.run.run import NullRun
from tests.workers.trainer.methods.ga3c.learning import LEARNING


def test_a_restored_run_continues_with_its_network_and_statistics() -> None:
    config = LEARNING.model_copy(update={"adjustment_seconds": 0.05})
    first = NullRun(stop_at_step=500)
    ga3c.train(config, first)
    saved = first.saved[-1]
    assert saved.step == first.step

    second = NullRun(restored=saved, stop_at_step=0)
    ga3c.train(config, second)

    assert second.saved[-1].step == saved.step
    assert second.saved[-1].facts == saved.facts
    for name, tensor in saved.tensors.items():
        assert torch.equal(second.saved[-1].tensors[name], tensor), name

    third = NullRun(restored=saved, stop_at_step=saved.step + 300)
    ga3c.train(config.model_copy(update={"num_agents": 3, "dynamic_adjustment": False}), third)
    assert third.reported[-1]["ga3c/agents"] == 3
    assert third.saved[-1].step >= saved.step + 300
    assert all(step > saved.step for step, *_ in third.episodes)


def test_the_adjustment_may_double_the_agents_within_the_limits_of_files_and_memory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def limit(agents: int, dynamic: bool = True) -> int:
        config = Ga3cConfig(env="ALE/Pong-v5", num_agents=agents, dynamic_adjustment=dynamic)
        return ga3c.largest(config, (4, 84, 84)).agents

    monkeypatch.setattr(ga3c, "cores", lambda: 2)
    monkeypatch.setattr(ga3c, "free_shared_memory", lambda: 10e9)
    assert limit(32) == 64
    assert limit(1) == 16
    assert limit(1000) == 1024
    with monkeypatch.context() as few_files:
        few_files.setattr(resource, "getrlimit", lambda _: (600, 600))
        assert limit(32) == 40
    monkeypatch.setattr(ga3c, "free_shared_memory", lambda: 64e6)
    assert 32 < limit(32) < 64
    assert limit(63) == 63
    assert limit(32, dynamic=False) == 32


def test_a_resume_uses_the_adjusted_numbers_within_the_limits(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(ga3c, "cores", lambda: 1)
    first = NullRun(stop_at_step=100)
    ga3c.train(LEARNING, first)
    saved = first.saved[-1]
    for stored, restored in ((6, 6), (100, 8)):
        saved.facts["counts"] = {"agents": stored, "predictors": 2, "trainers": 1}
        second = NullRun(restored=saved, stop_at_step=0)
        ga3c.train(LEARNING, second)
        assert second.saved[-1].facts["counts"] == {"agents": restored, "predictors": 2, "trainers": 1}
