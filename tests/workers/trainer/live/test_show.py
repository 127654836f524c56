"""Tests for a live game: pictures, the agent's outputs, the viewers' orders, and newer checkpoints."""

import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from arcadia_workers.contract.config import GorilaConfig, PaacConfig, RunConfig
from arcadia_workers.contract.live import Newer
from arcadia_workers.trainer.games import subjects
from arcadia_workers.trainer.live import live_agent
from arcadia_workers.trainer.live.show import Show
from tests.workers.trainer.evaluation import made_checkpoint
from tests.workers.trainer.live.fake_line import FakeLine, after, at, keys

CARTPOLE = PaacConfig(env="CartPole-v1")
PONG = PaacConfig(env="ALE/Pong-v5")


def play(
    directory: Path, config: RunConfig, pictures: int, orders: Callable[[int], list[object]] = lambda _: []
) -> FakeLine:
    """Play until this number of pictures was sent. `orders` gives the orders after each picture."""
    made_checkpoint.write(directory, config, step=5)
    line = FakeLine(pictures, orders)
    staging = live_agent.of_agent(*subjects.read(directory, None))
    assert Show(line, staging, directory).play(lambda: False) == "enough was seen"  # type: ignore[arg-type]
    return line


def test_every_frame_of_an_atari_game_is_shown_with_the_agents_outputs(tmp_path: Path) -> None:
    line = play(tmp_path, PONG, 81)
    assert np.diff([head.frames for head in line.heads]).tolist() == [1] * 80
    with Image.open(line_file(tmp_path, line.pictures[-1])) as picture:
        assert picture.size == (160, 210)
    assert len(set(line.pictures)) > 10, "the picture must change"
    thinking = [head for head in line.heads if head.value is not None]
    assert [len(head.numbers) for head in thinking] == [6] * 80
    assert all(sum(head.numbers) == pytest.approx(1, abs=0.01) for head in thinking)
    # Four frames per decision.
    assert {count % 4 for count in Counter(tuple(head.numbers) for head in thinking).values()} == {0}
    assert line.scenes[0].action_names[:2] == ("NOOP", "FIRE")


def line_file(directory: Path, picture: bytes) -> Path:
    """Write a picture to a file."""
    path = directory / "picture.png"
    path.write_bytes(picture)
    return path


def test_a_paused_game_can_be_stepped_by_single_decisions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made_checkpoint.write(tmp_path, PONG, step=5)
    line = FakeLine(30, after(9, "pause"))
    waited: list[int] = []

    def wait(_: float) -> None:
        if waited and waited[-1] == len(line.heads):
            line.over = "it does not go on"
        waited.append(len(line.heads))
        line.say("step")

    monkeypatch.setattr(time, "sleep", wait)
    reported = Show(line, live_agent.of_agent(*subjects.read(tmp_path, None)), tmp_path).play(lambda: False)  # type: ignore[arg-type]
    assert reported == "enough was seen"
    assert line.scenes[-1].paused
    # The decision during which the game was paused is completed. Then each step is one decision of four frames.
    assert np.diff(waited).tolist() == [4] * (len(waited) - 1)
    assert len(waited) > 3


def test_an_order_is_echoed_with_the_next_picture(tmp_path: Path) -> None:
    line = play(tmp_path, CARTPOLE, 8, after(3, {"order": "ping", "id": "a"}, {"order": "ping", "id": "b"}))
    assert [head.heard for head in line.heads[2:5]] == [[], ["a", "b"], []]


@pytest.mark.nightly
def test_a_new_game_begins_on_request_or_after_the_end_of_one(tmp_path: Path) -> None:
    line = play(tmp_path, CARTPOLE, 300, after(3, "new game"))
    games = [head.game for head in line.heads]
    assert games[:3] == [1, 1, 1]
    assert games[4] == 2
    assert line.heads[4].score <= 1
    assert games[-1] > 2, "the pole falls before 300 pictures"


def test_a_paused_game_can_be_restarted(tmp_path: Path) -> None:
    line = play(tmp_path, CARTPOLE, 4, lambda seen: ["pause", "new game"] if seen == 2 else ["new game"])
    assert [head.game for head in line.heads][-1] >= 2
    assert line.scenes[-1].paused


def test_a_newer_checkpoint_is_loaded_during_the_game(tmp_path: Path) -> None:
    made_checkpoint.write(tmp_path / "newer", CARTPOLE, step=50)
    found = subjects.read(tmp_path / "newer", None)[0]
    content = (tmp_path / "newer" / found.file.file).read_bytes()
    half = len(content) // 2
    newer = [Newer(checkpoint=found.file), content[:half], content[half:]]
    made_checkpoint.write(tmp_path / "run", CARTPOLE, step=5)
    # Parts of another checkpoint, whose head was lost with the connection, arrive first.
    line = FakeLine(10, lambda seen: [b"a lost one's"] if seen == 1 else newer if seen == 3 else [])
    Show(line, live_agent.of_agent(*subjects.read(tmp_path / "run", None)), tmp_path / "run").play(lambda: False)  # type: ignore[arg-type]
    reported = [(agent.step, agent.loaded) for agent in line.agents]
    assert (reported[0], reported[-1]) == ((5, 1), (50, 2))
    assert not (tmp_path / "run" / found.file.file).exists(), "no file is kept"


def test_a_damaged_newer_checkpoint_is_skipped(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made_checkpoint.write(tmp_path / "newer", CARTPOLE, step=50)
    found = subjects.read(tmp_path / "newer", None)[0]
    content = (tmp_path / "newer" / found.file.file).read_bytes()
    damaged = content[:-1] + bytes([content[-1] ^ 1])
    newer = Newer(checkpoint=found.file)
    line = play(tmp_path / "run", CARTPOLE, 10, at({3: [newer, damaged], 6: [newer, content]}))
    # The pole may fall in fewer than ten pictures. Then the scene of the next game has the same agent again.
    assert list(dict.fromkeys((agent.step, agent.loaded) for agent in line.agents)) == [(5, 1), (50, 2)]
    assert "continues with the current checkpoint: step-000000000050.safetensors is damaged" in capsys.readouterr().err
    assert not (tmp_path / "run" / found.file.file).exists(), "no file is kept"


def test_a_new_connection_receives_the_current_scene(tmp_path: Path) -> None:
    made_checkpoint.write(tmp_path, CARTPOLE, step=5)
    line = FakeLine(3, lambda _: [])
    line.heard.put(None)
    Show(line, live_agent.of_agent(*subjects.read(tmp_path, None)), tmp_path).play(lambda: False)  # type: ignore[arg-type]
    assert len([scene for scene in line.scenes if scene.game == 1]) == 2


def by_hand(directory: Path, env: str, pictures: int, orders: Callable[[int], list[object]]) -> FakeLine:
    """Play a game without an agent."""
    line = FakeLine(pictures, orders)
    reported = Show(line, live_agent.of_people(env), directory).play(lambda: False)  # type: ignore[arg-type]
    assert reported == "enough was seen"
    return line


def actions(line: FakeLine) -> list[str]:
    """Return the name of the action of each picture."""
    names = line.scenes[-1].action_names
    return ["–" if head.action is None else names[int(head.action)] for head in line.heads]  # type: ignore[arg-type]


def test_a_person_plays_frame_by_frame(tmp_path: Path) -> None:
    orders: dict[int, list[object]] = {1: ["take over", keys("up")], 4: [keys("up", "fire")], 6: [keys()]}
    line = by_hand(tmp_path, "ALE/Pong-v5", 8, at(orders))
    assert actions(line) == ["–", *["RIGHT"] * 3, *["RIGHTFIRE"] * 2, *["NOOP"] * 2]
    assert np.diff([head.frames for head in line.heads]).tolist() == [1] * 7
    assert (line.scenes[-1].hands, line.scenes[-1].agent) == ("v1", None)


def test_the_first_picture_after_a_key_acknowledges_it(tmp_path: Path) -> None:
    press = keys("left") | {"id": "k1"}
    line = by_hand(tmp_path, "ALE/Breakout-v5", 6, at({1: ["take over"], 3: [press]}))
    assert [head.heard for head in line.heads] == [[], [], [], ["k1"], [], []]
    assert actions(line)[2:5] == ["NOOP", "LEFT", "LEFT"]


def test_a_key_that_is_released_at_once_counts_for_one_frame(tmp_path: Path) -> None:
    orders: dict[int, list[object]] = {1: ["take over"], 3: [keys("fire"), keys()]}
    line = by_hand(tmp_path, "ALE/Breakout-v5", 6, at(orders))
    assert actions(line) == ["–", "NOOP", "NOOP", "FIRE", "NOOP", "NOOP"]


def test_a_game_without_a_player_waits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    line = FakeLine(5, after(3, "hand back"))
    stood: list[int] = []

    def wait(_: float) -> None:
        stood.append(len(line.heads))
        line.say("take over")

    monkeypatch.setattr(time, "sleep", wait)
    Show(line, live_agent.of_people("ALE/Pong-v5"), tmp_path).play(lambda: False)  # type: ignore[arg-type]
    assert stood == [1, 3]


def test_a_person_can_take_over_from_an_agent_and_hand_back(tmp_path: Path) -> None:
    orders: dict[int, list[object]] = {5: ["take over", keys("up")], 12: ["hand back"]}
    line = play(tmp_path, PONG, 40, at(orders))
    # Decisions are completed.
    assert actions(line)[5:13] == [*["RIGHT"] * 7, "NOOP"]
    assert all(head.value is not None for head in line.heads[1:]), "the agent does not act"
    assert [scene.hands for scene in line.scenes] == [None, "v1", None]


def test_only_one_viewer_plays_and_the_others_watch(tmp_path: Path) -> None:
    others = [{"order": each, "viewer": "v2"} for each in ("take over", "pause", "new game", "hand back")]
    orders: dict[int, list[object]] = {1: ["take over", keys("up")], 3: [*others, keys("down", viewer="v2")]}
    line = by_hand(tmp_path, "ALE/Pong-v5", 20, at(orders))
    assert actions(line)[1:] == ["RIGHT"] * 19
    assert {head.game for head in line.heads} == {1}
    assert (line.scenes[-1].hands, line.scenes[-1].paused) == ("v1", False)


def test_a_silent_viewer_loses_control(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("arcadia_workers.trainer.live.connection.SILENT_HANDS_SECONDS", -1)
    line = play(tmp_path, PONG, 20, after(1, "take over"))
    assert line.scenes[-1].hands is None
    assert line.heads[-1].value is not None


def test_a_new_connection_frees_the_controls(tmp_path: Path) -> None:
    orders: dict[int, list[object]] = {1: ["take over"], 8: [None]}
    line = play(tmp_path, PONG, 20, at(orders))
    assert [scene.hands for scene in line.scenes] == [None, "v1", None]
    assert line.heads[-1].value is not None


def test_a_game_that_ended_under_a_persons_control_waits_for_the_next_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live_agent, "CAP_FRAMES", 5)
    line = FakeLine(10, after(1, "take over"))
    stood: list[int] = []

    def wait(_: float) -> None:
        stood.append(len(line.heads))
        if line.scenes[-1].over:
            line.say("new game")

    monkeypatch.setattr(time, "sleep", wait)
    Show(line, live_agent.of_people("ALE/Pong-v5"), tmp_path).play(lambda: False)  # type: ignore[arg-type]
    assert [head.game for head in line.heads] == [*[1] * 6, *[2] * 4]
    assert 6 in stood


def test_games_without_keys_for_their_actions_cannot_be_taken_over(tmp_path: Path) -> None:
    line = play(tmp_path, PaacConfig(env="Arcadia/Identity-v0"), 5, after(1, "take over"))
    assert (line.scenes[-1].takes_hands, line.scenes[-1].hands) == (False, None)


def test_a_game_without_a_no_op_moves_only_while_a_key_is_held(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made_checkpoint.write(tmp_path, CARTPOLE, step=5)
    line = FakeLine(5, at({1: ["take over", keys("left")], 3: [keys()]}))
    stood: list[int] = []

    def wait(_: float) -> None:
        stood.append(len(line.heads))
        line.say(keys("right"))

    monkeypatch.setattr(time, "sleep", wait)
    Show(line, live_agent.of_agent(*subjects.read(tmp_path, None)), tmp_path).play(lambda: False)  # type: ignore[arg-type]
    assert stood == [3]
    assert actions(line)[-3:] == ["left", "right", "right"]


def test_the_game_stops_on_request(tmp_path: Path) -> None:
    made_checkpoint.write(tmp_path, CARTPOLE, step=5)
    line = FakeLine(10**6, lambda _: [])
    show = Show(line, live_agent.of_agent(*subjects.read(tmp_path, None)), tmp_path)  # type: ignore[arg-type]
    reported = show.play(lambda: len(line.heads) > 5)
    assert reported == "it was stopped"


@pytest.mark.parametrize(
    ("config", "sampled"),
    [
        (PaacConfig(env="CartPole-v1"), "policy"),
        (GorilaConfig(env="CartPole-v1"), "random"),
        (PaacConfig(env="Arcadia/Catch-v0"), "policy"),
    ],
    ids=["paac", "gorila", "pixels"],
)
def test_every_kind_of_agent_can_play_live(tmp_path: Path, config: RunConfig, sampled: str) -> None:
    line = play(tmp_path, config, 5, after(2, {"order": "temperature", "value": 0.25}))
    assert line.agents[-1].sampled == sampled
    assert line.agents[-1].temperature == 0.25
    assert line.heads[-1].numbers
