"""Tests for start points: making, storing, reading and refusing them."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from arcadia_workers.contract.protocols import PROTOCOLS
from arcadia_workers.contract.protocols.starts import Start, StartSetFile, before
from arcadia_workers.trainer.evaluation import evaluating
from arcadia_workers.trainer.evaluation.evaluating import StartsError, after
from arcadia_workers.trainer.games import playing, subjects
from arcadia_workers.trainer.games.emulator import AtariGame
from arcadia_workers.trainer.games.playing import ActionTrail, StartPointError, play

PONG = "ALE/Pong-v5"
AGENT = PROTOCOLS["agent-starts"]


@pytest.fixture(scope="module")
def trails() -> list[ActionTrail]:
    """Return the action trails of two episodes."""
    protocol = replace(PROTOCOLS["no-op-30min"], cap_frames=400)
    subject = subjects.random_subject(PONG, protocol)
    played = play(subject, protocol, 1, range(2), playing.opening(protocol, None))
    return [one.trail for one in played if one.trail]


@pytest.fixture
def points(trails: list[ActionTrail]) -> StartSetFile:
    return evaluating.cut(PONG, trails, 5, seed=1, player="agent", source="the random policy")


@pytest.mark.nightly
def test_start_points_come_from_all_frames_of_the_play(trails: list[ActionTrail]) -> None:
    every = evaluating.cut(PONG, trails, 2 * 399, seed=1, player="agent", source="")
    assert [start.frames for start in every.starts] == 2 * list(range(1, 400))
    assert {start.seed for start in every.starts} == {trail.seed for trail in trails}
    some = evaluating.cut(PONG, trails, 5, seed=1, player="agent", source="")
    assert some == evaluating.cut(PONG, trails, 5, seed=1, player="agent", source="")
    assert some != evaluating.cut(PONG, trails, 5, seed=2, player="agent", source="")
    with pytest.raises(StartsError, match="too short for 799 start points"):
        evaluating.cut(PONG, trails, 799, seed=1, player="agent", source="")


def test_actions_are_split_at_a_frame() -> None:
    actions = [(3, 4), (0, 2), (3, 1)]
    assert before(actions, 5) == ((3, 4), (0, 1))
    assert after(actions, 5) == ((0, 1), (3, 1))
    assert before(actions, 0) == after(actions, 7) == ()
    assert before(actions, 7) == after(actions, 0) == tuple(actions)


def test_every_start_point_can_be_reached(points: StartSetFile) -> None:
    begin, game = playing.opening(AGENT, points), AtariGame(PONG, 108_000, 4)
    for number, start in enumerate(points.starts):
        begin(game, number, playing.draws(AGENT, 1, number))
        assert (game.frames, game.screen_hash(), game.over) == (start.frames, start.screen, False)


def test_a_start_point_with_another_screen_is_refused(points: StartSetFile) -> None:
    last = points.starts[-1]
    wrong = last.model_copy(update={"actions": (*last.actions, (3, 30))})
    begin = playing.opening(AGENT, points.model_copy(update={"starts": (wrong,)}))
    with pytest.raises(StartPointError, match=r"start point 0 of ALE/Pong-v5 leads to a different screen.*ale-py"):
        begin(AtariGame(PONG, 108_000, 4), 0, playing.draws(AGENT, 1, 0))


def test_a_start_set_is_unchanged_after_writing_and_reading(points: StartSetFile, tmp_path: Path) -> None:
    file = tmp_path / "starts.json"
    evaluating.write(file, points)
    assert evaluating.read_starts(file, AGENT, PONG) == points
    stored = json.loads(file.read_text())
    assert (stored["format"], stored["version"], stored["env"], stored["player"]) == (
        "arcadia-starts",
        1,
        PONG,
        "agent",
    )
    file.write_text(json.dumps(stored, indent=4))
    assert evaluating.read_starts(file, AGENT, PONG).sha256 == points.sha256


def test_a_start_set_of_an_agent_cannot_be_used_as_a_persons(points: StartSetFile, tmp_path: Path) -> None:
    evaluating.write(tmp_path / "starts.json", points)
    with pytest.raises(StartsError, match=r"an agent's play, but human-starts starts from a person's play"):
        evaluating.read_starts(tmp_path / "starts.json", PROTOCOLS["human-starts"], PONG)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "is not a set of start points"),
        ("[]", "is not a set of start points"),
        ('{"format": "arcadia-starts", "version": 2}', r"version: Input should be 1"),
        ('{"env": "ALE/Pongg-v5"}', r"env: .*did you mean ALE/Pong-v5"),
        ('{"env": "ALE/Breakout-v5", "player": "agent", "source": "", "emulator": "", "starts": []}', "starts: "),
    ],
)
def test_an_invalid_file_is_refused_with_a_message(content: str, said: str, tmp_path: Path) -> None:
    file = tmp_path / "starts.json"
    file.write_text(content)
    with pytest.raises(StartsError, match=said) as refused:
        evaluating.read_starts(file, AGENT, PONG)
    assert "\n" not in str(refused.value)


def test_a_start_set_with_duplicates_is_refused(points: StartSetFile, tmp_path: Path) -> None:
    evaluating.write(tmp_path / "starts.json", points.model_copy(update={"starts": points.starts * 2}))
    with pytest.raises(StartsError, match=r"starts: .*starts\.0 and starts\.5 have the same seed and actions"):
        evaluating.read_starts(tmp_path / "starts.json", AGENT, PONG)


def test_a_start_set_of_another_game_is_refused(tmp_path: Path) -> None:
    other = StartSetFile(
        env="ALE/Breakout-v5",
        player="agent",
        source="",
        emulator="",
        starts=(Start(seed=1, actions=((0, 1),), screen="0" * 64),),
    )
    evaluating.write(tmp_path / "starts.json", other)
    with pytest.raises(StartsError, match=r"start points of ALE/Breakout-v5, but the game is ALE/Pong-v5"):
        evaluating.read_starts(tmp_path / "starts.json", AGENT, PONG)
    with pytest.raises(StartsError, match="cannot be read: No such file"):
        evaluating.read_starts(tmp_path / "none.json", AGENT, PONG)
    with pytest.raises(StartsError, match="cannot be written"):
        evaluating.write(tmp_path / "nowhere" / "starts.json", other)
