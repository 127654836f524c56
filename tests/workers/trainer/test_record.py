"""Tests for `arcadia record`, from the command line to the files."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import av
import numpy as np
import pytest
from numpy.typing import NDArray

from arcadia_workers.contract.config import PaacConfig
from arcadia_workers.contract.tracks import TrackError, read
from tests.workers.trainer.evaluation import made_checkpoint
from tests.workers.trainer.programs import record as main
from tests.workers.waiting import wait_until


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """Return a run directory with the checkpoints of steps 5 and 9."""
    directory = tmp_path / "run"
    for step in (5, 9):
        made_checkpoint.write(directory, PaacConfig(env="CartPole-v1", seed=1), step)
    return directory


@pytest.fixture(autouse=True)
def _headless(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")


def refused(capsys: pytest.CaptureFixture[str], *arguments: object, status: int = 2) -> str:
    """Run a wrong command and return its error message."""
    assert main([str(argument) for argument in arguments]) == status
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.count("\n") == 1
    return said.err


def test_the_output_describes_the_recording_and_its_files(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    assert main(["--run-dir", str(run), "--seed", "7", "--out", str(out)]) == 0
    said = capsys.readouterr().out
    track = read(out / "track.npz")
    assert f"paac at step 9 on CartPole-v1, {len(track)} points, episodes, seed 7" in said
    assert {file.name for file in out.iterdir()} == {"recording.mp4", "track.npz", "poster.png"}
    assert track.head.score == len(track)


def test_the_poster_is_from_the_middle_of_the_episode(run: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert main(["--run-dir", str(run), "--seed", "7", "--out", str(out)]) == 0
    (poster,), frames = _pixels(out / "poster.png"), _pixels(out / "recording.mp4")
    differences = [np.abs(poster - frame).mean() for frame in frames]
    assert len(frames) // 4 <= np.argmin(differences) + 1 <= len(frames) // 2 + 1


def _pixels(path: Path) -> list[NDArray[np.int16]]:
    with av.open(path) as container:
        return [frame.to_ndarray(format="rgb24").astype(np.int16) for frame in container.decode(video=0)]


def test_the_checkpoint_the_episode_and_json_output_can_be_chosen(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wanted = ["--checkpoint", "5", "--episode", "3", "--protocol", "episodes", "--longest", "0.1", "--json"]
    assert main(["--run-dir", str(run), "--out", str(tmp_path / "out"), *wanted]) == 0
    head = json.loads(capsys.readouterr().out)
    assert (head["checkpoint_step"], head["episode"], head["ended"]) == (5, 3, "unfinished")
    assert head["action_names"] == ["left", "right"]


def test_mistakes_are_explained(run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def ask(*arguments: object, status: int = 2) -> str:
        return refused(capsys, "--run-dir", run, "--out", tmp_path / "out", *arguments, status=status)

    assert "there is no run directory" in refused(capsys, "--run-dir", tmp_path / "none", "--out", tmp_path / "out")
    assert "choose a new one" in refused(capsys, "--run-dir", run, "--out", run)
    assert "choose one of no-op-5min" in ask("--protocol", "best")
    assert "use no-op-5min" in ask("--protocol", "human-starts")
    assert "is not for CartPole-v1: use episodes" in ask("--protocol", "no-op-5min")
    assert "from 0" in ask("--seed", -1)
    assert "from 0" in ask("--episode", -1)
    assert "above 0" in ask("--longest", "nan")
    assert "it has 5, 9" in ask("--checkpoint", 6, status=1)
    assert not (tmp_path / "out").exists()


def test_a_file_that_is_not_a_track_is_rejected(tmp_path: Path) -> None:
    (tmp_path / "track.npz").write_bytes(b"no archive")
    with pytest.raises(TrackError, match="not a track file"):
        read(tmp_path / "track.npz")


@pytest.mark.nightly
def test_a_stopped_recording_is_reported_and_leaves_no_files(tmp_path: Path) -> None:
    made_checkpoint.write(tmp_path / "run", PaacConfig(env="ALE/Breakout-v5"))
    out = tmp_path / "out"
    command = [
        sys.executable,
        "-m",
        "arcadia_workers.trainer.job",
        "record",
        "--run-dir",
        str(tmp_path / "run"),
        "--out",
        str(out),
    ]
    process = subprocess.Popen([*command, "--longest", "100000"], stderr=subprocess.PIPE, text=True)
    wait_until(lambda: out.exists() and any(out.iterdir()))
    process.send_signal(signal.SIGTERM)
    _, said = process.communicate()
    assert process.returncode == 1
    assert "stopped by SIGTERM before it was finished" in said
    assert list(out.iterdir()) == []
