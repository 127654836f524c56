"""MiniGrid's worlds with observations that networks can read. This module registers them with gymnasium."""

from functools import partial
from typing import Any

import gymnasium
import minigrid as minigrid  # registers its worlds
import numpy as np
from gymnasium.spaces import Dict, Discrete, MultiBinary
from minigrid.core.actions import Actions
from minigrid.core.constants import COLOR_TO_IDX, OBJECT_TO_IDX, STATE_TO_IDX

from arcadia_minigrid import WORLDS

# The words of the missions of all worlds.
WORDS = (
    "a and ball blue door fetch get go goal green grey key must open purple red square the then to use yellow you"
).split()
# A cell has a kind of object, a color and a state. Each becomes one number per value.
KINDS = [np.eye(max(numbers.values()) + 1, dtype=np.int8) for numbers in (OBJECT_TO_IDX, COLOR_TO_IDX, STATE_TO_IDX)]

Observation = dict[str, Any]


class ReadableWorld(gymnasium.Wrapper[Observation, int, Observation, int]):
    """A world whose view and mission are zeros and ones: the content of each cell, and the words of the mission."""

    def __init__(self, env: gymnasium.Env[Observation, int], actions: tuple[str, ...]) -> None:
        super().__init__(env)
        self._actions = [Actions[name] for name in actions]
        self.action_space = Discrete(len(actions))
        # The view has 7 × 7 cells, and the agent faces one of four directions.
        view = MultiBinary((7, 7, sum(map(len, KINDS))))
        self.observation_space = Dict({"view": view, "direction": Discrete(4), "mission": MultiBinary(len(WORDS))})

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Start an episode."""
        seen, info = self.env.reset(seed=seed, options=options)
        return readable(seen), info

    def step(self, action: int) -> tuple[Observation, Any, bool, bool, dict[str, Any]]:
        """Take one of the useful actions."""
        seen, *others = self.env.step(self._actions[action])
        return (readable(seen), *others)


def readable(seen: Observation) -> Observation:
    """Return an observation with its view and mission as zeros and ones."""
    words = set(seen["mission"].replace(",", " ").split())
    return {
        "view": np.concatenate([kind[seen["image"][..., at]] for at, kind in enumerate(KINDS)], axis=-1),
        "direction": seen["direction"],
        "mission": np.array([word in words for word in WORDS], np.int8),
    }


def make(name: str, **options: Any) -> ReadableWorld:
    """Make a world. Its step limit ends episodes."""
    return ReadableWorld(
        gymnasium.make(f"MiniGrid-{name}-v0", disable_env_checker=True, **options), WORLDS[name].actions
    )


for _name in WORLDS:
    gymnasium.register(f"ArcadiaMiniGrid/{_name}-v0", entry_point=partial(make, _name))
