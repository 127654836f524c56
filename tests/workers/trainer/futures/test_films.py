"""Tests that videos of futures show what happened in the futures."""

from pathlib import Path

import av
import numpy as np
import pytest
from numpy.typing import NDArray

from arcadia_workers.contract.config import A3cConfig, PaacConfig, RunConfig
from arcadia_workers.contract.futures import FuturesDocument, FuturesOptions
from arcadia_workers.trainer.futures.experiment import simulated
from arcadia_workers.trainer.futures.films import OtherFutureError, blended, film, thinned
from arcadia_workers.trainer.futures.request import FuturesRequest
from arcadia_workers.trainer.futures.simulating import (
    Branch,
    FutureSeeds,
    Moment,
    Plan,
    Player,
    draws,
    load,
    moments,
    simulate,
)
from tests.workers.trainer.evaluation import made_checkpoint
from tests.workers.trainer.recording.test_recording import protocol_of

DECISION, HORIZON, FUTURES = 30, 40, 8


@pytest.fixture(autouse=True)
def _headless(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")


def filmed(directory: Path, config: RunConfig, decision: int = DECISION) -> tuple[Player, FuturesDocument]:
    """Simulate futures of an untrained agent with videos."""
    made_checkpoint.write(directory, config)
    player = load(directory, None, protocol_of(config).name)
    options = FuturesOptions(decision=decision, futures=FUTURES, horizon=HORIZON)
    request = FuturesRequest(directory, None, None, seed=3, episode=0, options=options, videos=directory)
    return player, simulated(request, player)


def pictures(path: Path) -> list[NDArray[np.uint8]]:
    with av.open(str(path)) as video:
        return [frame.to_ndarray(format="rgb24").astype(np.uint8) for frame in video.decode(video=0)]


def replayed(player: Player, decision: int) -> tuple[Moment, list[Branch], list[FutureSeeds]]:
    """Simulate the same futures again, without videos."""
    episode = moments(player.subject, player.protocol, 3, 0)
    moment = next(moment for moment in episode if moment.decision == decision)
    drawn = draws(3, 0, decision, range(FUTURES))
    return moment, simulate(player.subject, moment, drawn, Plan(HORIZON)), drawn


@pytest.mark.nightly
def test_the_videos_of_an_atari_game_show_the_best_median_and_worst_future(tmp_path: Path) -> None:
    player, document = filmed(tmp_path, PaacConfig(env="ALE/Pong-v5"))
    shown = {video.shows: video for video in document.videos}
    assert list(shown) == ["best", "median", "worst", "ghosts"]
    returns = sorted(document.returns)
    chosen = [document.returns[shown[name].future or 0] for name in ("best", "median", "worst")]
    assert chosen == [returns[-1], returns[4], returns[0]]
    best = shown["best"].future
    assert best is not None
    seen = pictures(tmp_path / shown["best"].file)
    # One picture per decision, and one before the first decision.
    assert len(seen) == document.futures[best].decisions + 1
    moment, branches, drawn = replayed(player, DECISION)
    assert branches[best].game.score - moment.game.score == document.futures[best].score
    again = moment.game.branch([drawn[best].game_seed])[0]
    screens: list[NDArray[np.uint8]] = []
    again.show(lambda screen: screens.append(screen.copy()))
    for action in branches[best].actions:
        again.step(action)
    for picture, screen in zip(seen[1:], screens[3::4], strict=True):
        assert np.abs(picture.astype(int) - screen.repeat(2, axis=0).repeat(2, axis=1)).mean() < 3


def test_ghosts_blend_all_futures(tmp_path: Path) -> None:
    filmed(tmp_path, PaacConfig(env="ALE/Pong-v5"))
    ghosts, best = (pictures(tmp_path / f"future-{name}.mp4") for name in ("ghosts", "best"))
    assert len(ghosts) == HORIZON + 1
    # All futures begin with the same picture.
    assert np.abs(ghosts[0].astype(int) - best[0]).mean() < 1
    assert np.abs(ghosts[-1].astype(int) - best[-1]).max() > 30


def test_the_first_futures_of_two_actions_have_the_same_numbers(tmp_path: Path) -> None:
    made_checkpoint.write(tmp_path, PaacConfig(env="CartPole-v1"))
    player = load(tmp_path, None, None)
    sides = []
    for action in ("left", "right"):
        folder = tmp_path / action
        folder.mkdir()
        options = FuturesOptions(decision=3, futures=8, horizon=HORIZON, videos_of="first", first=[action])
        document = simulated(FuturesRequest(tmp_path, None, None, 3, 0, options, videos=folder), player)
        assert [(video.shows, video.future) for video in document.videos] == [("first", number) for number in range(3)]
        sides.append([pictures(folder / video.file) for video in document.videos])
    for one, other in zip(*sides, strict=True):
        # Both actions are played from the same moment.
        assert np.abs(one[0].astype(int) - other[0]).mean() < 1
        assert len(one) > 1
        assert len(other) > 1


def test_a_blended_picture_keeps_equal_pixels_and_shows_the_difference_of_one() -> None:
    futures = np.full((4, 1, 3, 3), 100, dtype=np.uint8)
    futures[0, 0, 1], futures[0, 0, 2] = 200, 0
    total = futures.sum(axis=0).astype(np.uint16)
    found = blended(futures.min(axis=0), futures.max(axis=0), total, 4)
    # The mean of 200, 100, 100 and 100 is 125, and 200 differs most from it.
    assert found[0, :, 0].tolist() == [100, round((125 + 200) / 2), round((75 + 0) / 2)]


@pytest.mark.parametrize(
    ("config", "rate"),
    [
        (PaacConfig(env="CartPole-v1"), 25),
        pytest.param(A3cConfig(env="Hopper-v5"), None, marks=pytest.mark.nightly),
        pytest.param(PaacConfig(env="Arcadia/CarRacing-v0"), None, marks=pytest.mark.nightly),
        pytest.param(PaacConfig(env="Arcadia/Labyrinth-v0"), None, marks=pytest.mark.nightly),
    ],
)
def test_futures_of_other_environments_are_filmed_in_a_new_environment(
    config: RunConfig, rate: int | None, tmp_path: Path
) -> None:
    _, document = filmed(tmp_path, config, decision=3)
    assert [video.shows for video in document.videos] == ["best", "median", "worst"]
    for video in document.videos:
        assert video.future is not None
        with av.open(str(tmp_path / video.file)) as opened:
            assert rate in (None, opened.streams.video[0].average_rate)
        if rate:
            decisions = document.futures[video.future].decisions
            assert len(pictures(tmp_path / video.file)) == 1 + decisions // 2


def test_a_video_with_another_score_is_refused(tmp_path: Path) -> None:
    config = PaacConfig(env="CartPole-v1")
    player, _ = filmed(tmp_path, config, decision=3)
    moment, branches, drawn = replayed(player, 3)
    branches[0].actions.pop()
    with pytest.raises(OtherFutureError, match="simulate without videos"):
        film(tmp_path / "other.mp4", moment, branches[0], drawn[0].game_seed, lambda: False)
    assert not (tmp_path / "other.mp4").exists()


def test_many_futures_have_videos_only_on_request() -> None:
    assert FuturesOptions(decision=0).renders_videos
    assert not FuturesOptions(decision=0, futures=65).renders_videos
    assert FuturesOptions(decision=0, futures=65, record_videos=True).renders_videos
    assert not FuturesOptions(decision=0, record_videos=False).renders_videos


@pytest.mark.parametrize(
    ("rate", "expected"), [(60, (4, 15)), (50, (2, 25)), (30, (2, 15)), (20, (1, 20)), (7, (1, 7))]
)
def test_videos_keep_at_least_15_pictures_per_second(rate: int, expected: tuple[int, int]) -> None:
    assert thinned(rate) == expected
