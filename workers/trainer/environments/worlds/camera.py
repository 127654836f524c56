"""Camera for MuJoCo's scenes without OpenGL: the physics engine casts a ray through every pixel."""

from dataclasses import dataclass

import mujoco
import numpy as np
from numpy.typing import NDArray

from workers.trainer.environments.worlds.painting import Picture

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
