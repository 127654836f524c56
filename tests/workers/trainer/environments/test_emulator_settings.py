"""Tests that the emulator's settings work as the launch form describes."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from arcadia_workers.contract.action_names import Discrete
from arcadia_workers.contract.config import PaacConfig
from arcadia_workers.trainer.environments.environments import AtariEnvironments


def opened(games: int, **settings: object) -> AtariEnvironments:
    """Open some games; each costs 0.2 s of processor time."""
    config = PaacConfig.model_validate({"env": "ALE/Breakout-v5", "fire_at_reset": False, **settings})
    batch = AtariEnvironments(config, games, 2, seed=3)
    batch.reset()
    return batch


@pytest.mark.required_cases(1)
@pytest.mark.parametrize(
    ("env", "starting", "fewest", "drawn"),
    [
        ("ALE/Breakout-v5", 0, 0, {0, 1, 2}),
        ("ALE/NameThisGame-v5", 134, 1, {1, 2, 3}),
        pytest.param("ALE/Breakout-v5", 0, 1, {1, 2, 3}, marks=pytest.mark.nightly),
        pytest.param("ALE/NameThisGame-v5", 134, 0, {0, 1, 2}, marks=pytest.mark.nightly),
    ],
)
def test_the_smallest_number_of_no_ops_can_be_0_or_1(
    env: str, starting: int, fewest: int, drawn: set[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    batch = opened(5, env=env, min_noops=fewest, max_noops=3)
    opening: list[NDArray[np.int32]] = []
    reset = batch._games.reset

    def spied(**asked: Any) -> Any:
        result = reset(**asked)
        opening.append(result[-1]["episode_frame_number"].copy())
        return result

    monkeypatch.setattr(batch._games, "reset", spied)
    batch.reset()
    batch.close()
    assert (opening[0] == starting).any(), "the emulator never drew 0: nothing was tested"
    assert set((opening[-1] - starting).tolist()) == drawn


def test_later_episodes_also_start_with_no_ops(monkeypatch: pytest.MonkeyPatch) -> None:
    config = PaacConfig(env="ALE/Breakout-v5", fire_at_reset=False, min_noops=1, max_noops=1, cap_frames=8)
    batch = AtariEnvironments(config, 4, 1, seed=3)
    counted: list[list[int]] = []
    receive = batch._games.recv

    def spied() -> Any:
        result = receive()
        counted.append(result[-1]["episode_frame_number"].tolist())
        return result

    monkeypatch.setattr(batch._games, "recv", spied)
    first = batch.reset()
    for _ in range(3 * 5):  # an episode is two steps and a fresh row
        batch.send(np.zeros(4, dtype=np.int64))
        step = batch.receive()
        if step.fresh.any():
            assert step.fresh.all()
            assert (step.observations[:, -1] == first[:, -1]).all()  # after one no-op, all games show the same screen
            assert (step.observations[:, :-1] == 0).all()
    batch.close()
    assert any(0 in frames for frames in counted), "the emulator never drew 0: nothing was tested"


@pytest.mark.parametrize(("actions", "count"), [("minimal", 4), ("full", 18)])
def test_the_action_set_is_minimal_or_full(actions: str, count: int) -> None:
    batch = opened(1, action_set=actions)
    assert batch.actions == Discrete(count)
    batch.close()


def test_the_cap_truncates_an_episode_without_terminating_it() -> None:
    batch = opened(2, cap_frames=12)
    for length in range(1, 4):
        batch.send(np.zeros(2, dtype=np.int64))
        step = batch.receive()
        assert step.truncated.all() == (length == 3)
        assert not step.terminated.any()
    batch.close()


@pytest.mark.nightly
def test_actions_are_repeated_with_the_configured_probability() -> None:
    def screens(probability: float) -> bytes:
        batch = opened(4, repeat_action_probability=probability, max_noops=0)
        for number in range(8):
            batch.send(np.full(4, number % 4, dtype=np.int64))
            seen = batch.receive().observations
        batch.close()
        return seen.tobytes()

    assert screens(0.0) == screens(0.0) != screens(0.25)


def test_an_empty_range_of_no_ops_is_refused() -> None:
    with pytest.raises(ValueError, match="give 0, or a larger max_noops"):
        PaacConfig(max_noops=0, min_noops=1)


def test_fire_at_reset_launches_the_ball_of_breakout() -> None:
    def moves(fires: bool) -> bool:
        batch = opened(1, fire_at_reset=fires, max_noops=1)
        seen = []
        for _ in range(6):
            batch.send(np.zeros(1, dtype=np.int64))
            seen.append(batch.receive().observations[0, -1])
        batch.close()
        return any((screen != seen[0]).any() for screen in seen)

    assert moves(True)
    assert not moves(False)
