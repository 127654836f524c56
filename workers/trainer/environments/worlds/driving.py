"""Car racing with Atari's interface: four frames per action, and the last four pictures in gray."""

from collections.abc import Sequence
from typing import Any, cast

import gymnasium
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

from workers.trainer.environments.worlds.stack import Gray, GrayStack

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
