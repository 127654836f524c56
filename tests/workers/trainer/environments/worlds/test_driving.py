"""Tests for car racing: the picture, repeated actions and the time limit."""

from itertools import pairwise

import gymnasium
import numpy as np
import pytest
from gymnasium.envs.box2d.car_racing import CarRacing

from arcadia_workers.trainer.environments.worlds.physics import Driving, SwiftCarRacing

STRAIGHT_ON, GAS, RIGHT = (np.int64(action) for action in (0, 3, 2))


def test_the_picture_equals_gymnasiums_without_dashboard_and_edges() -> None:
    car = SwiftCarRacing(continuous=False)
    for seed in (3, 4):
        car.reset(seed=seed)
        for frame in range(120):
            car.step(int(GAS if frame < 60 else RIGHT if frame % 3 else STRAIGHT_ON))
            if frame in (2, 40, 80, 119):  # zooming in, driving straight, turning
                theirs = CarRacing._render(car, "state_pixels")[:84, 6:90].astype(int)
                assert np.abs(car.road_ahead() - theirs).mean() < 0.5
                assert theirs.std() > 20


def test_an_action_is_repeated_for_four_frames_whose_rewards_add_up() -> None:
    driving, theirs = Driving(continuous=False), gymnasium.make("CarRacing-v3", continuous=False)
    driving.reset(seed=5)
    theirs.reset(seed=5)
    for _ in range(8):
        _, reward, _, _, _ = driving.step(GAS)
        assert reward == pytest.approx(sum(float(theirs.step(GAS)[1]) for _ in range(4)))
    theirs.close()


def test_an_episode_is_truncated_after_a_thousand_frames() -> None:
    driving = Driving(continuous=True)
    driving.reset(seed=1)
    ends: list[tuple[bool, bool]] = []
    while not (ends and any(ends[-1])):
        _, _, terminated, truncated, _ = driving.step(np.zeros(3, dtype=np.float32))
        ends.append((terminated, truncated))
    assert len(ends) == 250
    assert ends[-1] == (False, True)


def test_the_stack_has_the_last_four_pictures_with_the_newest_last() -> None:
    driving = Driving(continuous=False)
    first, _ = driving.reset(seed=1)
    assert (first == first[0]).all()
    stacks = [driving.step(GAS)[0] for _ in range(5)]
    for before, after in pairwise(stacks):
        assert (before[1:] == after[:-1]).all()
        assert (after[-1] != after[-2]).any()
