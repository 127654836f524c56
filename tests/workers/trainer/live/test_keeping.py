"""Tests for games that a person keeps."""

from pathlib import Path

import numpy as np
import pytest

from arcadia_workers.contract.config import PaacConfig
from arcadia_workers.contract.protocols.starts import Start, before
from arcadia_workers.trainer.evaluation.report import KeptPlay
from arcadia_workers.trainer.games import playing, subjects
from arcadia_workers.trainer.games.emulator import AtariGame
from arcadia_workers.trainer.live import live_agent
from arcadia_workers.trainer.live.show import Show, spread
from tests.workers.trainer.evaluation import made_checkpoint
from tests.workers.trainer.live.fake_line import FakeLine, after, at, keys

PONG = PaacConfig(env="ALE/Pong-v5")


@pytest.mark.nightly
def test_a_kept_game_reproduces_its_screens(tmp_path: Path) -> None:
    orders: dict[int, list[object]] = {1: ["take over", keys("up")], 30: [keys("down", "fire")], 150: ["keep", "keep"]}
    line = FakeLine(160, at(orders))
    kept: list[KeptPlay] = []
    Show(line, live_agent.of_people("ALE/Pong-v5"), tmp_path, kept.append).play(lambda: False)  # type: ignore[arg-type]
    (game,) = kept
    assert (game.played, game.ended) == (149, "unfinished")
    assert sum(frames for _, frames in game.actions) == 149
    frames = [frame for frame, _ in game.screens]
    assert len(set(frames)) == 100
    assert (frames[0], frames[-1]) == (1, 148)
    again = AtariGame("ALE/Pong-v5", None, 1)
    for frame, screen in game.screens[::9]:
        playing.arrive(again, Start(seed=game.seed, actions=before(game.actions, frame), screen=screen))
        assert (again.frames, again.screen_hash()) == (frame, screen)


def test_a_game_played_by_an_agent_is_not_kept(tmp_path: Path) -> None:
    made_checkpoint.write(tmp_path, PONG, step=5)
    kept: list[KeptPlay] = []
    staging = live_agent.of_agent(*subjects.read(tmp_path, None))
    Show(FakeLine(9, after(3, "take over", "keep")), staging, tmp_path, kept.append).play(lambda: False)  # type: ignore[arg-type]
    assert kept == []


@pytest.mark.parametrize("frames", [1, 2, 50, 101, 102, 5_000])
def test_screens_are_spread_over_a_game(frames: int) -> None:
    found = spread(frames, 100)
    assert len(set(found)) == len(found) == min(100, frames - 1)
    assert all(1 <= frame < frames for frame in found)
    gaps = np.diff([0, *found, frames])
    assert gaps.max() <= frames / max(1, len(found)) * 1.5 + 1
