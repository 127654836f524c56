"""Deliver: fetch a parcel and bring it to a shelf. This module registers the environment with gymnasium."""

from typing import Any, ClassVar

import gymnasium
import numpy as np
from gymnasium.spaces import Box, Dict, Discrete
from numpy.typing import NDArray

SIZE = 4
MAX_STEPS = 60
CELL_PIXELS = 32
MOVES = np.array([(-1, 0), (1, 0), (0, -1), (0, 1)])
FLOOR, ROBOT, PARCEL, SHELF, LOADED = (40, 40, 48), (90, 150, 240), (240, 180, 60), (90, 200, 130), (160, 170, 255)

Observation = dict[str, Any]


class Deliver(gymnasium.Env[Observation, np.int64]):
    """Actions: up, down, left, right. Reward: 1 for the parcel, 1 at the shelf with it, and −0.02 for each step."""

    metadata: ClassVar[dict[str, Any]] = {"render_modes": ["rgb_array"], "render_fps": 8}

    def __init__(self, render_mode: str | None = None) -> None:
        self.render_mode = render_mode
        place = Box(-1.0, 1.0, (2,), np.float32)
        self.observation_space = Dict({"robot": place, "parcel": place, "shelf": place, "carries": Discrete(2)})
        self.action_space = Discrete(len(MOVES))

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Put robot, parcel and shelf on different cells."""
        super().reset(seed=seed, options=options)
        cells = self.np_random.choice(SIZE * SIZE, 3, replace=False)
        self._robot, self._parcel, self._shelf = np.stack(np.unravel_index(cells, (SIZE, SIZE)), axis=1)
        self._carries, self._steps = False, 0
        return self._observation(), {}

    def step(self, action: np.int64) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Move the robot. After it has reached the parcel, it carries it."""
        self._robot = np.clip(self._robot + MOVES[action], 0, SIZE - 1)
        self._steps += 1
        reward = -0.02
        if not self._carries and (self._robot == self._parcel).all():
            self._carries, reward = True, reward + 1
        if self._carries:
            self._parcel = self._robot
        delivered = self._carries and bool((self._robot == self._shelf).all())
        return self._observation(), reward + delivered, delivered, self._steps >= MAX_STEPS, {}

    def render(self) -> NDArray[np.uint8]:
        """Return a picture with a square for each thing."""
        cells = np.full((SIZE, SIZE, 3), FLOOR, np.uint8)
        for place, color in (
            (self._shelf, SHELF),
            (self._parcel, PARCEL),
            (self._robot, LOADED if self._carries else ROBOT),
        ):
            cells[tuple(place)] = color
        return cells.repeat(CELL_PIXELS, axis=0).repeat(CELL_PIXELS, axis=1)

    def _observation(self) -> Observation:
        places = {"robot": self._robot, "parcel": self._parcel, "shelf": self._shelf}
        seen = {name: (place / (SIZE - 1) * 2 - 1).astype(np.float32) for name, place in places.items()}
        return {**seen, "carries": int(self._carries)}


gymnasium.register("Warehouse/Deliver-v0", entry_point=Deliver)
