"""The package is usable, its observations contain the mission, and its preset learns."""

import gymnasium
import pytest
from arcadia.plugins import ENVIRONMENTS, PLUGINS, PRESETS, load
from arcadia_minigrid import WORLDS
from arcadia_minigrid.readable import WORDS

load(["arcadia-minigrid"])


def test_the_package_is_usable() -> None:
    assert PLUGINS["arcadia-minigrid"].problem is None
    assert ENVIRONMENTS["ArcadiaMiniGrid/Empty-5x5-v0"].title == "Empty room"


@pytest.mark.parametrize("world", WORLDS)
def test_every_word_of_a_mission_is_observed(world: str) -> None:
    env = gymnasium.make(f"ArcadiaMiniGrid/{world}-v0")
    for seed in range(20):
        seen, _ = env.reset(seed=seed)
        assert env.observation_space.contains(seen)
        mission = env.unwrapped.mission.replace(",", " ").split()
        assert {word for word, there in zip(WORDS, seen["mission"], strict=True) if there} == set(mission)


def test_the_preset_learns() -> None:
    from arcadia.plugins.training import TRAINERS, NullRun

    run = NullRun()
    TRAINERS["paac"].train(PRESETS["minigrid-empty-paac"].config.model_copy(), run)
    returns = [episode_return for _, _, episode_return, _ in run.episodes[-100:]]
    # The shortest path gives 0.955, and a random agent gets about 0.2.
    assert sum(returns) / len(returns) > 0.85
