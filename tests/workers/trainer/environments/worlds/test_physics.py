"""Tests for MuJoCo's pictures: bodies appear in the right place, and the camera follows the runner."""

import logging
from pathlib import Path

import gymnasium
import mujoco
import numpy as np
import pytest

from arcadia_workers.trainer.environments.worlds import physics
from arcadia_workers.trainer.environments.worlds.physics import FLOOR, SKY, Camera, View

SCENE = """
<mujoco>
  <asset><material name="floor"/></asset>
  <worldbody>
    <geom name="floor" type="plane" size="9 9 1" pos="0 0 -1" material="floor" rgba="1 1 1 1"/>
    <geom type="sphere" size=".3" rgba="1 0 0 1"/>
    <geom type="sphere" size=".2" pos="1 0 0" rgba="0 1 0 1"/>
    <geom type="sphere" size=".2" pos="0 0 1" rgba="0 0 1 1"/>
  </worldbody>
</mujoco>
"""


@pytest.fixture(autouse=True)
def _no_log_file_in_the_working_directory() -> None:
    physics.redirect_warnings()


@pytest.mark.parametrize("elevation", [0, 10])
def test_things_appear_where_a_pinhole_camera_sees_them(elevation: float) -> None:
    model = mujoco.MjModel.from_xml_string(SCENE)
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    distance, side = 4.0, 84
    picture = Camera(model, data, side, View((0, 0, 0), distance, elevation)).picture()

    pixels_per_meter = side / 2 / np.tan(np.deg2rad(45) / 2) / distance  # across the middle of the picture
    right = round(42 + pixels_per_meter)
    tilt = np.deg2rad(elevation)
    up = round(42 - pixels_per_meter * np.cos(tilt) / (1 - np.sin(tilt) / distance))
    assert picture[42, 42].argmax() == 0
    assert picture[42, 42][0] == pytest.approx(255, abs=2)  # faces the camera and therefore the light
    assert picture[42, right].argmax() == 1
    assert picture[up, 42].argmax() == 2
    diameter = int((picture[42, :, 0] > picture[42, :, 1] + 30).sum())
    assert diameter == pytest.approx(2 * 0.3 * pixels_per_meter, abs=2)
    if elevation == 0:
        assert tuple(picture[5, 5]) == tuple(int(255 * part) for part in SKY)
    shades = {tuple(color) for color in picture[60:, :8].reshape(-1, 3)}
    assert shades == {(int(255 * light),) * 3 for light in FLOOR}


def test_the_camera_follows_the_body() -> None:
    physics.redirect_warnings()
    env = gymnasium.make("HalfCheetah-v5")
    env.reset(seed=1)
    camera = physics.camera_of(env, 84)
    task = env.unwrapped
    widths = []
    for shift in (0.0, 5.0):
        position = np.array(task.init_qpos)  # type: ignore[attr-defined]
        position[0] += shift
        task.set_state(position, task.init_qvel)  # type: ignore[attr-defined]
        skin = camera.picture()[:, :, 0] > 130
        widths.append(np.flatnonzero(skin.any(axis=0)).tolist())
    assert widths[0] == widths[1]
    assert 20 < len(widths[0]) < 84


def test_pixels_hide_the_readings_and_change_nothing_else() -> None:
    pixels, readings = gymnasium.make("Arcadia/ReacherPixels-v0"), gymnasium.make("Reacher-v5")
    seen, _ = pixels.reset(seed=3)
    readings.reset(seed=3)
    readings.action_space.seed(0)
    assert (seen == seen[0]).all()
    over = False
    while not over:
        action = readings.action_space.sample()
        before = seen
        seen, reward, terminated, truncated, _ = pixels.step(action)
        _, expected, *ends, _ = readings.step(action)
        assert reward == expected
        assert [terminated, truncated] == ends
        assert (seen[:-1] == before[1:]).all()
        over = terminated or truncated
    assert (seen[0] != seen[3]).any()


def test_warnings_are_logged_and_no_file_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.chdir(tmp_path)
    physics.redirect_warnings()
    env = gymnasium.make("HalfCheetah-v5")  # its model file is deprecated
    env.reset(seed=1)
    with caplog.at_level(logging.WARNING):
        task = env.unwrapped
        task.data.qacc[:] = np.inf  # type: ignore[attr-defined]
        task.data.qvel[:] = 1e12  # type: ignore[attr-defined]
        env.step(env.action_space.sample())
    assert [record.name for record in caplog.records] == ["mujoco"]
    assert "unstable" in caplog.text
    assert list(tmp_path.iterdir()) == []
