"""Station: fly to a station and stop there. This module registers the environment with gymnasium."""

from typing import Any, ClassVar

import gymnasium
import numpy as np
from gymnasium.spaces import Box
from numpy.typing import NDArray

MAX_STEPS = 100
STEP_SECONDS = 0.1
# The ship docks within this distance, if it is not faster than this.
NEAR, SLOW = 0.1, 0.2
PIXELS = 256
SPACE, STATION, SHIP = (20, 22, 30), (90, 200, 130), (240, 180, 60)

Floats = NDArray[np.float32]


class Station(gymnasium.Env[Floats, Floats]):
    """Actions: thrust in x and y. Reward: the approach in each step, −0.01 for each step, and 1 for docking."""

    metadata: ClassVar[dict[str, Any]] = {"render_modes": ["rgb_array"], "render_fps": 20}

    def __init__(self, render_mode: str | None = None) -> None:
        self.render_mode = render_mode
        # Position and velocity. The station is at (0, 0).
        self.observation_space = Box(-4.0, 4.0, (4,), np.float32)
        self.action_space = Box(-1.0, 1.0, (2,), np.float32)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Floats, dict[str, Any]]:
        """Start at rest at a random position."""
        super().reset(seed=seed, options=options)
        self._place = self.np_random.uniform(-1.0, 1.0, 2)
        self._velocity, self._steps = np.zeros(2), 0
        return self._observation(), {}

    def step(self, action: Floats) -> tuple[Floats, float, bool, bool, dict[str, Any]]:
        """Accelerate for a tenth of a second."""
        before = np.linalg.norm(self._place)
        self._velocity = self._velocity + np.clip(action, -1.0, 1.0) * STEP_SECONDS
        self._place = np.clip(self._place + self._velocity * STEP_SECONDS, -4.0, 4.0)
        self._steps += 1
        distance, speed = np.linalg.norm(self._place), np.linalg.norm(self._velocity)
        docked = bool(distance < NEAR and speed < SLOW)
        reward = float(before - distance) - 0.01 + docked
        return self._observation(), reward, docked, self._steps >= MAX_STEPS, {}

    def render(self) -> NDArray[np.uint8]:
        """Return a picture of the station and the ship, 4 units wide."""
        picture = np.full((PIXELS, PIXELS, 3), SPACE, np.uint8)
        rows, columns = np.indices((PIXELS, PIXELS))
        for (x, y), radius, color in ((np.zeros(2), NEAR, STATION), (self._place, 0.06, SHIP)):
            center = (2 - y) / 4 * PIXELS, (x + 2) / 4 * PIXELS
            distance = np.hypot(rows - center[0], columns - center[1])
            picture[distance < max(3.0, radius / 4 * PIXELS)] = color
        return picture

    def _observation(self) -> Floats:
        return np.clip(np.concatenate([self._place, self._velocity]), -4.0, 4.0).astype(np.float32)


gymnasium.register("Docking/Station-v0", entry_point=Station)
