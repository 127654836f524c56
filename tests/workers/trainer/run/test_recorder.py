"""Tests for the background recorder, which records one kept checkpoint after another."""

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path

import psutil
import pytest

from arcadia_workers.contract.events import CheckpointFile
from arcadia_workers.trainer.run.recorder import RecordedReplay, Recorder, RecordingResult
from tests.processes import has_ended
from tests.workers.waiting import PATIENCE_SECONDS, wait_until

REPLAY = RecordedReplay(
    "replays/a.mp4", "replays/a.png", None, "replays/a.npz", 3.0, length=7, seconds=0.5, complete=True
)
PLAYS = (sys.executable, "-c", f"import json; print(json.dumps({asdict(REPLAY)!r}))")
HANGS = (sys.executable, "-c", "import signal; signal.pause()")
FAILS = (sys.executable, "-c", "print('noise'); raise RuntimeError('the weights do not fit')")


def checkpoint(step: int) -> CheckpointFile:
    """Return a checkpoint file that does not exist. Fake recorders do not read it."""
    return CheckpointFile(file=f"checkpoints/{step}", sha256="0" * 64, bytes=1, step=step, frames=step)


def recordings(recorder: Recorder, number: int) -> list[RecordingResult]:
    """Wait for this number of recordings and return them."""
    found: list[RecordingResult] = []

    def enough() -> bool:
        if recording := recorder.poll():
            found.append(recording)
        return len(found) == number

    wait_until(enough)
    return found


def running(recorder: Recorder) -> psutil.Process:
    """Return the process of the current recording."""
    recorder.poll()
    assert recorder._process is not None
    return psutil.Process(recorder._process.pid)


def test_a_shortened_replay_reports_the_length_of_its_part() -> None:
    assert REPLAY.what_is_missing(2_000) is None
    assert replace(REPLAY, seconds=300.0, complete=False).what_is_missing(2_000) == (
        "The replay of step 2,000 shows only the first 5 minutes of its episode, and its return covers only that part"
    )


@pytest.fixture
def hanging(tmp_path: Path) -> Iterator[Recorder]:
    """Yield a recorder whose recordings never end."""
    recorder = Recorder(tmp_path, HANGS)
    yield recorder
    recorder.close()


def test_a_recorder_has_a_lower_priority_than_its_trainer_at_any_niceness(
    hanging: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []
    monkeypatch.setattr(os, "setpriority", lambda _which, _pid, niceness: asked.append(niceness))
    for trainers in (0, 10, 19):
        monkeypatch.setattr(os, "getpriority", lambda _which, _pid, trainers=trainers: trainers)
        hanging.add(checkpoint(trainers))
        running(hanging).kill()
        wait_until(hanging.poll)
    assert asked == [5, 15, 19]


def test_every_checkpoint_gets_its_replay(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path, PLAYS)
    for step in (1, 2, 3):
        recorder.add(checkpoint(step))
    found = recordings(recorder, 3)
    assert [recording.checkpoint.step for recording in found] == [1, 3, 2]
    assert [recording.outcome for recording in found] == [REPLAY] * 3
    assert recorder.in_use == []


def test_a_slow_recorder_spreads_the_replays_over_training(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path, PLAYS)
    for step in range(0, 900, 100):
        recorder.add(checkpoint(step))
    assert [recording.checkpoint.step for recording in recordings(recorder, 5)] == [0, 800, 400, 200, 600]


def test_a_milestone_is_recorded_first(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path, PLAYS)
    for step in (0, 100, 900):
        recorder.add(checkpoint(step), first=step == 100)
    assert [recording.checkpoint.step for recording in recordings(recorder, 3)] == [100, 900, 0]


def test_recordings_run_one_by_one_with_a_lower_priority_than_training(hanging: Recorder) -> None:
    hanging.add(checkpoint(1))
    hanging.add(checkpoint(2))
    first = running(hanging)
    assert running(hanging) == first
    assert hanging.in_use == ["checkpoints/1"]
    # 19 is the lowest priority, which the tests themselves may have.
    assert first.nice() > min(psutil.Process().nice(), 18)


def test_queued_recordings_of_deleted_checkpoints_are_dropped(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path, PLAYS)
    for step in (1, 2, 3):
        recorder.add(checkpoint(step))
    recorder.forget_all_but(["checkpoints/2"])
    assert [recording.checkpoint.step for recording in recordings(recorder, 1)] == [2]
    assert recorder.poll() is None


def test_a_failure_is_reported_with_its_last_line_of_output(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path, FAILS)
    recorder.add(checkpoint(1))
    assert recordings(recorder, 1)[0].outcome == "RuntimeError: the weights do not fit"


def test_a_killed_recorder_is_reported(hanging: Recorder) -> None:
    hanging.add(checkpoint(1))
    running(hanging).kill()
    assert recordings(hanging, 1)[0].outcome == "the recorder ended with status -9"


def test_a_recording_without_end_is_killed(hanging: Recorder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("arcadia_workers.trainer.run.recorder.RECORDING_SECONDS", 0.0)
    hanging.add(checkpoint(1))
    assert recordings(hanging, 1)[0].outcome == "it took longer than 0 minutes"


def test_draining_returns_all_recordings_that_finish_in_time(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path, PLAYS)
    for step in (1, 2):
        recorder.add(checkpoint(step))
    assert [recording.checkpoint.step for recording in recorder.drain(PATIENCE_SECONDS, give_up=bool)] == [1, 2]
    assert recorder.unfinished_steps == []


def test_draining_ends_at_its_deadline_and_on_request(hanging: Recorder) -> None:
    hanging.add(checkpoint(1))
    assert list(hanging.drain(0.2, give_up=bool)) == []
    assert list(hanging.drain(3600, give_up=lambda: True)) == []
    hanging.add(checkpoint(2))
    assert hanging.unfinished_steps == [1, 2]


def test_closing_kills_the_recording(hanging: Recorder) -> None:
    hanging.add(checkpoint(1))
    process = running(hanging)
    hanging.close()
    psutil.wait_procs([process], timeout=PATIENCE_SECONDS)
    assert has_ended(process)


@pytest.mark.nightly
def test_a_recorder_does_not_start_if_its_trainer_has_ended() -> None:
    other = os.getpid() + 1
    command = [sys.executable, "-m", "arcadia_workers.trainer.replay", "nowhere", "nothing", "--parent", str(other)]
    ended = subprocess.run(command, check=False, capture_output=True, text=True, timeout=PATIENCE_SECONDS)
    assert (ended.returncode, ended.stderr) == (1, "the trainer is gone\n")


def test_much_output_does_not_block_a_recorder(tmp_path: Path) -> None:
    noise = "import sys; sys.stderr.write('x' * 1_000_000); sys.stdout.write('y' * 1_000_000 + chr(10)); "
    recorder = Recorder(tmp_path, (sys.executable, "-c", noise + PLAYS[2]))
    recorder.add(checkpoint(1))
    assert recordings(recorder, 1)[0].outcome == REPLAY


@pytest.mark.parametrize("said", ["", "print('not JSON')", "print('{}')", "print('[1]')"])
def test_a_recorder_without_valid_output_is_a_failed_recording(tmp_path: Path, said: str) -> None:
    recorder = Recorder(tmp_path, (sys.executable, "-c", said))
    recorder.add(checkpoint(1))
    assert recordings(recorder, 1)[0].outcome == "the recorder did not describe it"


def test_training_continues_if_no_recorder_can_be_started(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path, (str(tmp_path / "missing"),))
    recorder.add(checkpoint(1))
    outcome = recordings(recorder, 1)[0].outcome
    assert outcome == "the recorder could not be started: No such file or directory"
    assert recorder.in_use == []
