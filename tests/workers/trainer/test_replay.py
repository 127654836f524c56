"""Tests that a replay is one reproducible episode of the checkpoint's agent, with its track."""

from pathlib import Path

import av
import pytest

from arcadia_workers.contract.config import PaacConfig
from arcadia_workers.contract.tracks import read
from arcadia_workers.trainer import replay as replays
from arcadia_workers.trainer.recording import replays as recorded
from tests.workers.trainer.evaluation import made_checkpoint


@pytest.fixture(autouse=True)
def _headless(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")


def untrained(directory: Path, env: str, step: int = 5) -> str:
    """Write a checkpoint of a fresh network and return its file."""
    return made_checkpoint.write(directory, PaacConfig(env=env, seed=1), step)


def test_an_episode_is_recorded_completely(tmp_path: Path) -> None:
    replay = replays.record(tmp_path, untrained(tmp_path, "CartPole-v1"))
    assert (replay.file, replay.poster) == ("replays/step-000000000005.mp4", "replays/step-000000000005.png")
    assert (replay.seen, replay.track) == (None, "replays/step-000000000005.npz")
    assert replay.complete
    assert replay.episode_return == replay.length > 5  # CartPole gives 1 per step
    assert replay.seconds == pytest.approx((replay.length + 1) / 50)
    assert len(read(tmp_path / replay.track)) == replay.length
    with av.open(str(tmp_path / replay.file)) as container:
        assert container.streams.video[0].frames == replay.length + 1
    written = sorted(path.suffix for path in (tmp_path / "replays").iterdir())
    assert written == [".mp4", ".npz", ".png"]


def test_the_same_checkpoint_plays_the_same_episode(tmp_path: Path) -> None:
    file = untrained(tmp_path, "CartPole-v1")
    first = replays.record(tmp_path, file)
    track, last_frame = (tmp_path / first.track).read_bytes(), (tmp_path / first.poster).read_bytes()
    assert replays.record(tmp_path, file) == first
    assert (tmp_path / first.track).read_bytes() == track
    assert (tmp_path / first.poster).read_bytes() == last_frame


def test_replays_of_all_checkpoints_start_in_the_same_state(tmp_path: Path) -> None:
    begins = []
    for step in (1, 2):
        replay = replays.record(tmp_path, untrained(tmp_path, "CartPole-v1", step))
        begins.append(read(tmp_path / replay.track).columns["observation"][0])
    assert (begins[0] == begins[1]).all()


def test_atari_replays_show_every_frame_at_60_frames_per_second(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recorded, "LONGEST_SECONDS", 2.0)
    replay = replays.record(tmp_path, untrained(tmp_path, "ALE/Breakout-v5"))
    assert replay.seen == "replays/step-000000000005.seen.mp4"
    for file, width, height in ((replay.file, 320, 420), (replay.seen, 84, 84)):
        with av.open(str(tmp_path / file)) as container:
            stream = container.streams.video[0]
            assert (stream.width, stream.height) == (width, height)
            assert stream.average_rate == 60
            # The last step may have fewer than four frames, because the game ends.
            assert 4 * replay.length - 3 < stream.frames <= 4 * replay.length + 1


def test_a_long_episode_is_cut_and_marked_as_incomplete(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recorded, "LONGEST_SECONDS", 1.0)
    replay = replays.record(tmp_path, untrained(tmp_path, "Acrobot-v1"))
    assert not replay.complete
    assert (replay.seconds, replay.length, replay.episode_return) == (1.0, 14, -14)
