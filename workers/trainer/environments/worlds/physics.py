"""Gymnasium's MuJoCo tasks, filmed for replays or learned from the camera's pictures."""

import logging
from copy import deepcopy
from typing import Any

import gymnasium
import mujoco
import numpy as np
from gymnasium.core import RenderFrame
from gymnasium.spaces import Box
from numpy.typing import NDArray

from workers.trainer.environments.worlds.camera import Camera, View
from workers.trainer.environments.worlds.painting import enlarged
from workers.trainer.environments.worlds.stack import SIDE, Gray, GrayStack

# Tasks whose model has no camera.
VIEWS = {
    "InvertedDoublePendulum": View((0.0, 0.0, 0.45), distance=3.2, elevation=5),
    "InvertedPendulum": View((0.0, 0.0, 0.25), distance=2.8, elevation=5),
    "Pusher": View((0.3, -0.25, -0.2), distance=2.2, elevation=75),
    "Reacher": View((0.0, 0.0, 0.0), distance=0.8, elevation=90),
}
# Replays: pixels a side, enlargement of each pixel, and approximate pictures a second.
FILM_SIDE, FILM_SCALE, FILM_RATE = 200, 2, 30

Numbers = NDArray[np.float32]


def redirect_warnings() -> None:
    """Send MuJoCo's warnings to the log; by default it writes them to a file in the working directory."""
    mujoco.set_mju_user_warning(_log)


def _log(warning: str) -> None:
    # Ignore deprecation warnings about gymnasium's own model files.
    if "deprecated" not in warning:
        logging.getLogger("mujoco").warning(warning)


def copied(env: gymnasium.Env[Any, Any]) -> gymnasium.Env[Any, Any]:
    """Return an exact copy of a task that is not filmed."""
    copy = deepcopy(env)
    # A deep copy of the simulation's data misses its state.
    mujoco.mj_copyData(copy.unwrapped.data, copy.unwrapped.model, env.unwrapped.data)  # type: ignore[attr-defined]
    return copy


def camera_of(env: gymnasium.Env[Any, Any], side: int) -> Camera:
    """Set up the camera of a task."""
    task = env.unwrapped
    name = type(task).__name__.removesuffix("Env")
    return Camera(task.model, task.data, side, VIEWS.get(name))  # type: ignore[attr-defined]


class Filmed(gymnasium.Wrapper[Any, Any, Any, Any]):
    """Filmed task. `render` returns the pictures since the last call (gymnasium's `rgb_array_list`)."""

    def __init__(self, env: gymnasium.Env[Any, Any]) -> None:
        super().__init__(env)
        self._camera = camera_of(env, FILM_SIDE)
        self._pictures: list[RenderFrame] = []
        steps_per_second = env.metadata["render_fps"]
        self._steps, self._every = 0, max(1, round(steps_per_second / FILM_RATE))
        self.metadata = {**env.metadata, "render_fps": round(steps_per_second / self._every)}

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        result = self.env.reset(seed=seed, options=options)
        self._steps, self._pictures = 0, []
        self._film()
        return result

    def step(self, action: Any) -> Any:
        result = self.env.step(action)
        self._steps += 1
        self._film()
        return result

    def render(self) -> list[RenderFrame]:
        pictures, self._pictures = self._pictures, []
        return pictures

    def _film(self) -> None:
        if self._steps % self._every == 0:
            self._pictures.append(enlarged(self._camera.picture(), FILM_SCALE))


class Pixels(gymnasium.Env[Gray, Numbers]):
    """Task seen only through its camera. The agent gets the last four pictures in gray, not the state vector."""

    metadata = {"render_modes": ["rgb_array_list"], "render_fps": 30}  # noqa: RUF012, as gymnasium declares it

    def __init__(self, task: str, render_mode: str | None = None) -> None:
        redirect_warnings()
        self.render_mode = render_mode
        readings = gymnasium.make(task)
        self._task = readings if render_mode is None else Filmed(readings)
        self.metadata = {**self.metadata, "render_fps": self._task.metadata["render_fps"]}
        self._camera = camera_of(readings, SIDE)
        self._stack = GrayStack()
        self.observation_space = Box(0, 255, GrayStack.shape, np.uint8)
        self.action_space = self._task.action_space

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Gray, dict[str, Any]]:
        super().reset(seed=seed)
        _, info = self._task.reset(seed=seed, options=options)
        return self._stack.begin(self._camera.picture()), info

    def step(self, action: Numbers) -> tuple[Gray, float, bool, bool, dict[str, Any]]:
        _, reward, terminated, truncated, info = self._task.step(action)
        return self._stack.add(self._camera.picture()), float(reward), terminated, truncated, info

    def render(self) -> RenderFrame | list[RenderFrame] | None:
        return self._task.render()

    def close(self) -> None:
        self._task.close()
