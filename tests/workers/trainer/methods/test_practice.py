"""Tests that every method begins its episodes where the configuration says, also in its child processes."""

import pytest

from arcadia_workers.contract.config import A3cConfig, Ga3cConfig, PaacConfig, PpoConfig, RunConfig
from arcadia_workers.contract.practice import PracticeConfig
from arcadia_workers.trainer.methods import TRAINERS
from arcadia_workers.trainer.run.run import NullRun
from tests.workers.trainer.games.test_practice import practicing

CATCH = "Arcadia/Catch-v0"
CONFIGS: dict[str, RunConfig] = {
    "a3c with memory": A3cConfig(env=CATCH, num_actors=2, total_steps=1_500, lstm_units=8),
    "paac": PaacConfig(env=CATCH, num_envs=4, total_steps=1_500),
    "ppo": PpoConfig(env=CATCH, num_envs=4, t_max=16, minibatch_size=16, total_steps=1_500),
    "ga3c": Ga3cConfig(env=CATCH, num_agents=2, total_steps=1_500),
}


@pytest.mark.required_cases(2)
@pytest.mark.parametrize("name", CONFIGS)
def test_half_of_the_episodes_begin_before_the_mistake(name: str) -> None:
    config = practicing(CONFIGS[name], [1, 0, 1, 2], 0.5, before=1)
    assert isinstance(config.practice, PracticeConfig)
    run = NullRun()
    TRAINERS[config.algorithm].train(config, run)
    lengths = [length for _, _, _, length in run.episodes]
    # An episode of Catch has five decisions. Two are left after the start.
    assert set(lengths) == {2, 5}
    assert 0.35 < lengths.count(2) / len(lengths) < 0.65
