"""Gymnasium's MuJoCo tasks and CarRacing, learned from pictures."""

import logging
from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, cast

import gymnasium
import mujoco
import numpy as np
import pygame
from gymnasium.core import RenderFrame
from gymnasium.envs.box2d.car_dynamics import Car
from gymnasium.envs.box2d.car_racing import (
    GRASS_DIM,
    PLAYFIELD,
    SCALE,
    STATE_H,
    STATE_W,
    WINDOW_H,
    WINDOW_W,
    ZOOM,
    CarRacing,
)
from gymnasium.spaces import Box
from gymnasium.wrappers import TimeLimit
from numpy.typing import NDArray

from arcadia_workers.trainer.environments.worlds.puzzles import Picture, enlarged

Gray = NDArray[np.uint8]

SIDE = 84
PICTURES = 4

# Shares of red, green and blue in brightness (ITU-R BT.601).
BRIGHTNESS = np.array([0.299, 0.587, 0.114], dtype=np.float32)


class GrayStack:
    """Four 84×84 pictures, the newest last."""

    shape = (PICTURES, SIDE, SIDE)

    def __init__(self) -> None:
        self._pictures: Gray = np.zeros(self.shape, dtype=np.uint8)

    def begin(self, picture: NDArray[np.uint8]) -> Gray:
        """Start an episode by filling the stack with its first picture."""
        self._pictures = np.repeat(_gray(picture)[None], PICTURES, axis=0)
        return self._pictures.copy()

    def add(self, picture: NDArray[np.uint8]) -> Gray:
        """Put a picture on the stack and drop the oldest."""
        self._pictures[:-1] = self._pictures[1:]
        self._pictures[-1] = _gray(picture)
        return self._pictures.copy()


def _gray(picture: NDArray[np.uint8]) -> Gray:
    return (picture.astype(np.float32) @ BRIGHTNESS).astype(np.uint8)


FIELD_OF_VIEW = np.deg2rad(45)
FARTHEST = 100.0
# Sky and floor are dark, so that bodies are also visible in gray pictures.
SKY = (0.12, 0.16, 0.24)
SQUARE = 0.5  # side of the floor's checkers, in meters
FLOOR = (0.3, 0.4)  # brightness of the two kinds of checkers
UNLIT = 0.4  # brightness of a surface seen edge-on; the light is at the camera


@dataclass(frozen=True)
class View:
    """The position and direction of a fixed camera."""

    looks_at: tuple[float, float, float]
    distance: float
    elevation: float  # degrees above the horizon
    azimuth: float = 90.0  # degrees; at 90 the camera looks along y, and x points right

    def pose(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the camera's position, and its axes as columns: right, up and backwards."""
        azimuth, elevation = np.deg2rad(self.azimuth), np.deg2rad(self.elevation)
        right = np.array([np.sin(azimuth), -np.cos(azimuth), 0.0])
        ahead = np.array([np.cos(azimuth), np.sin(azimuth), 0.0]) * np.cos(elevation)
        ahead[2] = -np.sin(elevation)
        return np.array(self.looks_at) - self.distance * ahead, np.stack([right, np.cross(right, ahead), -ahead], 1)


class Camera:
    """Camera for square pictures from a view, or by default from the model's camera `track`, which follows the body."""

    def __init__(self, model: mujoco.MjModel, data: mujoco.MjData, side: int, view: View | None = None) -> None:
        self._model, self._data, self._side, self._view = model, data, side, view
        reach = np.tan(FIELD_OF_VIEW / 2) * (np.arange(side) + 0.5 - side / 2) / (side / 2)
        x, y = np.meshgrid(reach, -reach)
        rays = np.stack([x, y, np.full_like(x, -1.0)], axis=-1).reshape(-1, 3)
        self._rays = rays / np.linalg.norm(rays, axis=1, keepdims=True)
        # A ray that hits nothing has geom −1, so the sky comes last.
        self._colors = np.vstack([model.geom_rgba[:, :3], SKY]).astype(np.float32)
        # Floors with a material get checkers, which make movement visible.
        self._checkered = np.append((model.geom_type == mujoco.mjtGeom.mjGEOM_PLANE) & (model.geom_matid >= 0), False)

    def picture(self) -> Picture:
        """Take a picture of the current scene."""
        position, axes = self._pose()
        rays = self._rays @ axes.T
        number = len(rays)
        hit, distance, normal = np.empty(number, np.int32), np.empty(number), np.zeros((number, 3))
        mujoco.mj_multiRay(
            self._model,
            self._data,
            position,
            rays.ravel(),
            None,
            True,
            -1,
            hit,
            distance,
            normal.ravel(),
            number,
            FARTHEST,
        )
        facing = np.abs(np.einsum("ij,ij->i", rays, normal))
        light = np.where(hit < 0, 1.0, UNLIT + (1 - UNLIT) * facing).astype(np.float32)
        floor = np.flatnonzero(self._checkered[hit])
        squares = np.floor((position[:2] + rays[floor, :2] * distance[floor, None]) / SQUARE).sum(axis=1)
        light[floor] = np.where(squares % 2 == 0, *FLOOR)
        colors = self._colors[hit] * light[:, None]
        return (255 * colors).astype(np.uint8).reshape(self._side, self._side, 3)

    def _pose(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        if self._view is not None:
            return self._view.pose()
        track = self._data.camera("track")
        return track.xpos, track.xmat.reshape(3, 3)


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


FRAMES_PER_STEP = 4
LONGEST_FRAMES = 1000

# Gymnasium draws 1000×800 pixels and shrinks them to 96×96. Drawing a quarter of the pixels gives the same result.
FINENESS = 0.5
# The lowest eighth of the picture is the dashboard. Without it and six columns on each side, 84×84 pixels are left.
DASHBOARD = WINDOW_H // 8
VIEW = (int(WINDOW_W * FINENESS), int((WINDOW_H - DASHBOARD) * FINENESS))
SHRUNK = (STATE_W, STATE_H - STATE_H // 8)
CROP = (STATE_W - SHRUNK[1]) // 2

CORNERS = GRASS_DIM * np.array([(1, 0), (0, 0), (0, 1), (1, 1)])
FIELD = PLAYFIELD * np.array([[(1, 1), (1, -1), (-1, -1), (-1, 1)]])
GRASS = np.array([CORNERS + GRASS_DIM * np.array((x, y)) for x in range(-20, 20, 2) for y in range(-20, 20, 2)])

Action = np.int64 | NDArray[np.float32]
Result = tuple[Gray, float, bool, bool, dict[str, Any]]


class SwiftCarRacing(CarRacing):
    """Gymnasium's car racing that draws only the pictures that are used. Drawing takes most of its time."""

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        result = super().reset(seed=seed, options=options)
        self._road = np.array([corners for corners, _ in self.road_poly])
        return result

    def _render(self, mode: str) -> Any:
        # step() requests a picture of every frame.
        return None if mode == "state_pixels" else super()._render(mode)

    def road_ahead(self) -> NDArray[np.uint8]:
        """Draw the road and the car as gymnasium shows them to agents, cropped to 84×84."""
        car = cast(Car, self.car)
        angle = -car.hull.angle
        zoom = FINENESS * SCALE * (0.1 * max(1 - self.t, 0) + ZOOM * min(self.t, 1))  # zooms in at the start
        turn = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
        middle = FINENESS * np.array([WINDOW_W / 2, WINDOW_H / 4 - DASHBOARD])
        shift = middle - np.array(car.hull.position) @ turn * zoom

        view = pygame.Surface(VIEW)
        _draw(view, FIELD @ turn * zoom + shift, [self.bg_color])
        _draw(view, GRASS @ turn * zoom + shift, [self.grass_color] * len(GRASS))
        _draw(view, self._road @ turn * zoom + shift, [color for _, color in self.road_poly])
        car.draw(view, zoom, tuple(shift), angle, draw_particles=False)  # type: ignore[no-untyped-call]
        shrunk = pygame.surfarray.pixels3d(pygame.transform.smoothscale(view, SHRUNK))
        # pygame stores columns first, and the view was drawn with y upwards.
        return shrunk[CROP:-CROP, ::-1].transpose(1, 0, 2)


def _draw(view: pygame.Surface, quadrangles: NDArray[np.float64], colors: Sequence[Any]) -> None:
    """Draw the quadrangles that lie inside the view."""
    seen = (quadrangles.max(axis=1) >= 0).all(axis=1) & (quadrangles.min(axis=1) < VIEW).all(axis=1)
    for i in np.flatnonzero(seen).tolist():
        pygame.draw.polygon(view, [int(c) for c in colors[i]], quadrangles[i].tolist())


class Driving(gymnasium.Env[Gray, Action]):
    """Car racing with a new track every episode. Each tile of road pays 1000 / tiles, and each frame costs 0.1."""

    metadata = {"render_modes": ["rgb_array_list"], "render_fps": 50}  # noqa: RUF012, as gymnasium declares it

    def __init__(self, continuous: bool, render_mode: str | None = None) -> None:
        self.render_mode = render_mode
        self._car = SwiftCarRacing(render_mode="rgb_array", continuous=continuous)
        self._timed = TimeLimit(self._car, LONGEST_FRAMES)
        self._stack = GrayStack()
        self._pictures: list[RenderFrame] = []
        self.observation_space = Box(0, 255, GrayStack.shape, np.uint8)
        self.action_space = self._car.action_space

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Gray, dict[str, Any]]:
        super().reset(seed=seed)
        _, info = self._timed.reset(seed=seed, options=options)
        self._pictures = []
        self._photograph()
        return self._stack.begin(self._car.road_ahead()), info

    def step(self, action: Action) -> Result:
        total = 0.0
        for _ in range(FRAMES_PER_STEP):
            _, reward, terminated, truncated, info = self._timed.step(action)
            total += float(reward)
            self._photograph()
            if terminated or truncated:
                break
        return self._stack.add(self._car.road_ahead()), total, terminated, truncated, info

    def render(self) -> list[RenderFrame]:
        pictures, self._pictures = self._pictures, []
        return pictures

    def close(self) -> None:
        self._timed.close()

    def _photograph(self) -> None:
        if self.render_mode is not None:
            self._pictures.append(self._car._render("rgb_array"))
