"""Tests for start points at decisions of a recorded episode."""

from contextlib import closing
from dataclasses import replace
from typing import Any

import pytest

from arcadia_workers.contract.config import PaacConfig
from arcadia_workers.contract.jobs import StartPointsParameters
from arcadia_workers.contract.protocols import PROTOCOLS
from arcadia_workers.contract.protocols.starts import StartSetFile, starts_at
from arcadia_workers.trainer.evaluation.evaluating import StartsError
from arcadia_workers.trainer.evaluation.report import SavedPoints
from arcadia_workers.trainer.futures.simulating import moments
from arcadia_workers.trainer.games import playing
from arcadia_workers.trainer.games.emulator import AtariGame
from arcadia_workers.trainer.recording import retracing
from arcadia_workers.trainer.recording.recording import StoppedError
from arcadia_workers.trainer.recording.retracing import OtherEpisodeError
from tests.workers.trainer.evaluation import made_checkpoint

PONG, PROTOCOL, SEED, EPISODE = PaacConfig(env="ALE/Pong-v5"), PROTOCOLS["no-op-5min"], 3, 1
DECISIONS = [0, 20, 40]


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[int], list[tuple[int, str]], list[float]]:
    """Return the actions, screens and scores of the first decisions of an agent's episode."""
    actions, screens, scores = [], [], []
    subject = made_checkpoint.subject(tmp_path_factory.mktemp("run"), PONG, PROTOCOL)
    with closing(moments(subject, PROTOCOL, SEED, EPISODE)) as episode:
        for moment in episode:
            game = playing.emulated(moment.game)
            actions.append(int(moment.action))
            screens.append((game.frames, game.screen_hash()))
            scores.append(game.score)
            if moment.decision == DECISIONS[-1]:
                break
    return actions, screens, scores


def parameters(actions: list[int], score: float, **changes: Any) -> StartPointsParameters:
    """Return the request of a job."""
    usual = {
        "replay_id": 1,
        "name": "mine",
        "source": "a replay",
        "env": PONG.env,
        "action_set": PONG.action_set,
        "frames_per_action": PONG.environment.frames_per_step,
        "protocol": PROTOCOL.name,
        "seed": SEED,
        "episode": EPISODE,
        "actions": actions,
        "decisions": DECISIONS,
        "score": score,
        "max_bytes": 1_000_000,
    }
    return StartPointsParameters.model_validate(usual | changes)


def set_of(points: SavedPoints) -> StartSetFile:
    """Return the start set of saved points."""
    starts = starts_at(points.seed, points.actions, points.screens)
    return StartSetFile(env=PONG.env, player="agent", source="a replay", emulator=points.emulator, starts=starts)


def test_an_evaluation_begins_at_the_screens_of_the_replay(
    recorded: tuple[list[int], list[tuple[int, str]], list[float]],
) -> None:
    actions, screens, scores = recorded
    done: list[int] = []
    points = retracing.points(parameters(actions, scores[-1]), done.append)
    assert (list(points.screens), done) == ([screens[decision] for decision in DECISIONS], [1, 2, 3])
    protocol = PROTOCOLS["agent-starts"]
    begin = playing.opening(protocol, set_of(points))
    game = AtariGame(PONG.env, protocol.cap_frames, PONG.environment.frames_per_step)
    for number, decision in enumerate(DECISIONS):
        begin(game, number, playing.draws(protocol, 1, number))
        assert (game.frames, game.screen_hash()) == screens[decision]
        game.step(actions[decision])
        if decision + 1 < len(screens):
            assert (game.frames, game.screen_hash()) == screens[decision + 1]


def test_an_episode_with_another_score_is_refused(
    recorded: tuple[list[int], list[tuple[int, str]], list[float]],
) -> None:
    actions, _, scores = recorded
    with pytest.raises(OtherEpisodeError, match="before the last start point, not"):
        retracing.points(parameters(actions, scores[-1] + 1), lambda _: None)


def test_an_episode_that_ends_earlier_is_refused() -> None:
    which = parameters([0] * 5_000, 0, decisions=[5_000])
    with pytest.raises(OtherEpisodeError, match="ended here before decision 5001"):
        retracing.points(which, lambda _: None)


def test_a_decision_before_the_first_frame_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(PROTOCOLS, PROTOCOL.name, replace(PROTOCOL, noops=(0, 0)))
    with pytest.raises(StartsError, match="choose a later one"):
        retracing.points(parameters([], 0, decisions=[0]), lambda _: None)


def test_a_set_that_is_too_large_is_refused() -> None:
    which = parameters([0, 2, 3, 2], 0, decisions=[1, 4])
    size = len(set_of(retracing.points(which, lambda _: None)).content)
    retracing.points(which.model_copy(update={"max_bytes": size}), lambda _: None)
    with pytest.raises(StartsError, match=f"take {size} bytes, more than the limit of {size - 1}"):
        retracing.points(which.model_copy(update={"max_bytes": size - 1}), lambda _: None)


def test_saving_start_points_can_be_stopped() -> None:
    with pytest.raises(StoppedError):
        retracing.points(parameters([0] * 40, 0), lambda _: None, lambda: True)
