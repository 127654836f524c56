"""Tests for the trainer as a program: events, exit statuses, and recovery from faults."""

import json
import os
import re
import resource
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest
import torch

from arcadia_workers.contract import events
from arcadia_workers.contract.presets import PRESETS
from arcadia_workers.contract.provenance import Provenance
from arcadia_workers.trainer.__main__ import main
from arcadia_workers.trainer.run import checkpoints
from arcadia_workers.trainer.run.journal import Journal
from arcadia_workers.trainer.run.run import TrainingState
from tests.workers.trainer.conftest import StartTrainer
from tests.workers.trainer.trainers import (
    ENDLESS,
    Trainer,
    assert_unbroken,
    of_kind,
    read_events,
    wait_for_checkpoints,
)
from tests.workers.waiting import PATIENCE_SECONDS, wait_until

SHORT = ("--preset", "paac-cartpole", "--set", "total_steps=3000", "--set", "device=cpu")


def ended(trainer: Trainer) -> tuple[int, str, str]:
    """Wait until a trainer ends. Return its status and output."""
    output, errors = trainer.communicate(timeout=PATIENCE_SECONDS)
    return trainer.returncode, output, errors


def recorders_of(trainer: Trainer) -> list[psutil.Process]:
    """Wait for the trainer's recorder and return its process."""
    process = psutil.Process(trainer.pid)
    wait_until(process.children)
    return process.children()


def assert_gone(processes: list[psutil.Process]) -> None:
    """Check that the processes end without being killed."""
    _, alive = psutil.wait_procs(processes, timeout=PATIENCE_SECONDS)
    assert all(process.status() == psutil.STATUS_ZOMBIE for process in alive)


def test_a_refused_trainer_does_not_change_the_configuration_of_the_running_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kept = tmp_path / "config.json"
    kept.write_text(PRESETS["paac-cartpole"].config.model_dump_json())
    before = kept.read_bytes()
    with Journal(tmp_path):
        assert main([*SHORT, "--dir", str(tmp_path), "--resume"]) == 2
    assert "another trainer is at work" in capsys.readouterr().err
    assert kept.read_bytes() == before


def test_a_run_that_needs_too_much_memory_fails_before_it_begins(tmp_path: Path, start_trainer: StartTrainer) -> None:
    config = tmp_path / "config.json"
    config.write_text(
        '{"algorithm": "paac", "env": "ALE/Pong-v5", "num_envs": 1024, "t_max": 2048, "network": "large-stride-1", '
        '"precision": "float32", "device": "cpu"}'
    )
    status, _, errors = ended(start_trainer(str(config)))
    assert status == 1
    assert errors.startswith("this configuration needs about 4,")
    assert errors.endswith("are free here: lower num_envs or t_max\n")
    assert [event.kind for event in read_events(tmp_path / "run")] == ["start_step", "provenance", "failed"]


def test_a_run_writes_all_events_from_start_to_finish(tmp_path: Path, start_trainer: StartTrainer) -> None:
    status, output, errors = ended(start_trainer(*SHORT))
    assert (status, errors) == (0, "")
    assert "steps/s, mean return of the last" in output.splitlines()[-1]
    run = tmp_path / "run"
    assert_unbroken(run)
    kinds = [event.kind for event in read_events(run)]
    assert (kinds[0], kinds[1], kinds[-1]) == ("start_step", "started", "finished")
    steps = [event.name for event in of_kind(run, events.StartStep)]
    assert (steps[0], steps[2:]) == ("Loading PyTorch", ["First update", None])
    assert re.fullmatch(r"Starting \d+ environments", str(steps[1]))
    assert output.splitlines()[:3] == steps[:3]
    started = of_kind(run, events.Started)[0]
    assert (started.step, started.resumed_from, started.seed) == (0, None, 1)
    assert (started.device, started.precision) == ("cpu", "float32")
    assert started.command[:5] == ["python", "-m", "arcadia_workers.trainer", "--dir", str(run)]
    assert started.versions["torch"] == torch.__version__
    assert {"python", "arcadia", "torch", "numpy", "gymnasium", "ale-py"} <= started.versions.keys()
    (reported,) = of_kind(run, events.ProvenanceEvent)
    assert reported.provenance == Provenance.model_validate_json((run / "provenance.json").read_bytes())
    assert reported.provenance.command == started.command
    assert reported.provenance.packages["torch"] == torch.__version__
    checkpoint = of_kind(run, events.CheckpointEvent)[-1]
    assert checkpoint.step >= 3000
    episodes = [episode for event in of_kind(run, events.Metrics) for episode in event.episodes]
    assert sum(episode.length for episode in episodes) == pytest.approx(3000, rel=0.3)
    video = of_kind(run, events.ReplayEvent)[-1]
    assert (video.step, video.checkpoint) == (checkpoint.step, checkpoint.checkpoint.file)
    assert (run / video.file).stat().st_size > 1000
    assert (run / video.poster).exists()


def test_sigterm_saves_and_ends_without_waiting_for_a_replay(tmp_path: Path, start_trainer: StartTrainer) -> None:
    trainer = start_trainer(*ENDLESS)
    run = tmp_path / "run"
    wait_for_checkpoints(run, trainer, 1)
    recorders = recorders_of(trainer)
    played = len(of_kind(run, events.ReplayEvent))
    for recorder in recorders:
        recorder.suspend()  # so that the current replay never ends
    trainer.send_signal(signal.SIGTERM)
    status, _, errors = ended(trainer)
    assert (status, errors) == (0, "")
    stopped = read_events(run)[-1]
    assert isinstance(stopped, events.Stopped)
    assert stopped.reason == "stopped by SIGTERM"
    assert of_kind(run, events.CheckpointEvent)[-1].step == stopped.step
    assert len(of_kind(run, events.ReplayEvent)) == played
    assert_gone(recorders)


def kept_ready(pipe: Path) -> tuple[Trainer, int]:
    """Start a trainer that waits for its arguments. Return it and the write end of its pipe."""
    os.mkfifo(pipe)
    writer = os.open(pipe, os.O_RDWR)
    return subprocess.Popen(
        [sys.executable, "-m", "arcadia_workers.trainer", "--wait-for-arguments", str(pipe)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    ), writer


def test_a_ready_trainer_trains_with_the_arguments_from_its_pipe(tmp_path: Path) -> None:
    trainer, writer = kept_ready(tmp_path / "pipe")
    given = ["--dir", str(tmp_path / "run"), *SHORT]
    os.write(writer, json.dumps(given).encode() + b"\n")
    status, _, errors = ended(trainer)
    os.close(writer)
    assert (status, errors) == (0, "")
    assert read_events(tmp_path / "run")[-1].kind == "finished"
    assert of_kind(tmp_path / "run", events.Started)[0].command == ["python", "-m", "arcadia_workers.trainer", *given]


def test_sigterm_to_a_ready_trainer_stops_its_next_run(tmp_path: Path) -> None:
    trainer, writer = kept_ready(tmp_path / "pipe")
    wait_until(lambda: int(caught_signals(trainer), 16) & (1 << (signal.SIGTERM - 1)))
    trainer.send_signal(signal.SIGTERM)
    os.write(writer, json.dumps(["--dir", str(tmp_path / "run"), *ENDLESS]).encode() + b"\n")
    status, _, errors = ended(trainer)
    os.close(writer)
    assert (status, errors) == (0, "")
    assert [event.kind for event in read_events(tmp_path / "run")][-1] == "stopped"


def test_sigterm_during_startup_ends_the_trainer_cleanly(tmp_path: Path, start_trainer: StartTrainer) -> None:
    trainer = start_trainer(*ENDLESS)
    run = tmp_path / "run"
    wait_until((run / "events.jsonl").exists)
    # The trainer sets its handlers just after it makes the event file; loading torch then takes far longer.
    wait_until(lambda: int(caught_signals(trainer), 16) & (1 << (signal.SIGTERM - 1)))
    trainer.send_signal(signal.SIGTERM)
    status, _, errors = ended(trainer)
    assert (status, errors) == (0, "")
    assert read_events(run)[-1].kind == "stopped"


def caught_signals(trainer: Trainer) -> str:
    """Return the mask of signals that the trainer handles."""
    lines = Path(f"/proc/{trainer.pid}/status").read_text().splitlines()
    return next(line.split()[1] for line in lines if line.startswith("SigCgt"))


@pytest.mark.nightly
def test_a_resume_after_kill_9_uses_the_newest_checkpoint(tmp_path: Path, start_trainer: StartTrainer) -> None:
    trainer = start_trainer(*ENDLESS)
    run = tmp_path / "run"
    wait_for_checkpoints(run, trainer, 2)
    recorders = recorders_of(trainer)
    trainer.kill()
    ended(trainer)
    assert_gone(recorders)
    before = read_events(run)
    newest = checkpoints.newest(run, pytest.fail)
    assert newest is not None

    # The worst case of a crash: a torn line, a damaged newest checkpoint and half a temporary file.
    with (run / "events.jsonl").open("ab") as file:
        file.write(b'{"seq":')
    (run / newest.file.file).write_bytes(b"damaged")
    (run / "checkpoints/.step-000000000001.safetensors.tmp").write_bytes(b"half")
    announced = of_kind(run, events.CheckpointEvent)
    older = next(event.step for event in reversed(announced) if event.step != newest.state.step)

    # Keep the saved configuration, but end a little later.
    end = (f"total_steps={newest.state.step + 2000}", "checkpoint_seconds=3600")
    again = start_trainer("--resume", "--set", end[0], "--set", end[1], "--no-progress-bar")
    assert ended(again)[::2] == (0, "")
    assert_unbroken(run)
    after = [event for event in read_events(run)[len(before) :] if not isinstance(event, events.StartStep)]
    started = after[0]
    assert isinstance(started, events.Started)
    assert (started.resumed_from, started.step) == (older, older)
    warning = after[1]
    assert isinstance(warning, events.Log)
    assert warning.level == "warning"
    assert f"continuing from step {older:,}" in warning.message
    assert after[-1].kind == "finished"
    assert after[-1].step >= newest.state.step + 2000
    assert not list((run / "checkpoints").glob(".*"))


@pytest.mark.nightly
def test_a_full_disk_fails_a_run_only_at_its_last_checkpoint(tmp_path: Path, start_trainer: StartTrainer) -> None:
    # Checkpoints have 3 MB. The event file stays far below that.
    trainer = start_trainer(*ENDLESS, "--set", "hidden_units=600", "--set", "t_max=64")
    run = tmp_path / "run"
    wait_for_checkpoints(run, trainer, 1)
    unlimited = resource.RLIM_INFINITY
    resource.prlimit(trainer.pid, resource.RLIMIT_FSIZE, (1_500_000, unlimited))
    wait_until(lambda: any("could not be written" in event.message for event in of_kind(run, events.Log)))
    whole = checkpoints.newest(run, pytest.fail)
    assert whole is not None
    assert not list((run / "checkpoints").glob(".*"))

    # When there is room again, the next checkpoint is written.
    resource.prlimit(trainer.pid, resource.RLIMIT_FSIZE, (unlimited, unlimited))
    wait_until(lambda: of_kind(run, events.CheckpointEvent)[-1].step > whole.state.step)

    # Without room for the last checkpoint, the run fails.
    resource.prlimit(trainer.pid, resource.RLIMIT_FSIZE, (1_500_000, unlimited))
    trainer.send_signal(signal.SIGTERM)
    status, _, errors = ended(trainer)
    assert status == 1
    assert "could not be written (File too large): free some space" in errors
    assert "Traceback" not in errors
    failed = read_events(run)[-1]
    assert isinstance(failed, events.Failed)
    assert failed.message in errors
    assert_unbroken(run)
    assert checkpoints.newest(run, pytest.fail) is not None


def test_an_error_while_training_is_reported_with_its_traceback(tmp_path: Path, start_trainer: StartTrainer) -> None:
    # A checkpoint without the network's weights cannot be restored.
    checkpoints.write(tmp_path / "run", TrainingState(100, 100, {}), PRESETS["paac-cartpole"].config, {})
    status, _, errors = ended(start_trainer(*SHORT, "--resume"))
    assert status == 1
    failed = read_events(tmp_path / "run")[-1]
    assert isinstance(failed, events.Failed)
    assert failed.message.startswith("ValueError: expected the parameters")
    assert "Traceback (most recent call last)" in failed.traceback
    assert "restore" in failed.traceback
    assert "Traceback" in errors


@pytest.mark.nightly
@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_a_missing_gpu_is_a_failure_with_a_message(tmp_path: Path, start_trainer: StartTrainer) -> None:
    status, _, errors = ended(start_trainer(*SHORT[:-2], "--set", "device=cuda"))
    assert status == 1
    assert errors == "device is cuda, but this machine has no GPU that torch can use: choose auto or cpu\n"
    failed = read_events(tmp_path / "run")[-1]
    assert isinstance(failed, events.Failed)
    assert failed.message in errors


@pytest.mark.required_cases(1)
@pytest.mark.parametrize(
    "asked",
    [
        pytest.param(("paac-pong",), id="at once"),
        pytest.param(("paac-pong", "--set", "ceiling_seconds=1"), id="with its ceiling", marks=pytest.mark.nightly),
        pytest.param(
            ("gorila-laptop",),
            id="by a method that looks at the game to estimate its memory",
            marks=pytest.mark.nightly,
        ),
    ],
)
def test_a_missing_game_is_a_failure_before_training_begins(
    tmp_path: Path, start_trainer: StartTrainer, monkeypatch: pytest.MonkeyPatch, asked: tuple[str, ...]
) -> None:
    monkeypatch.setenv("ALE_ROMS_DIR", str(tmp_path))
    status, output, errors = ended(start_trainer("--set", "device=cpu", "--preset", *asked))
    assert (status, output) == (1, "Loading PyTorch\n")
    assert errors == (
        f"ALE/Pong-v5 is missing: ALE_ROMS_DIR is {tmp_path}, which has no pong.bin. "
        "Unset it to play the games that come with ale-py, or put the game's pong.bin there\n"
    )
    *_, failed = read_events(tmp_path / "run")
    assert isinstance(failed, events.Failed)
    assert (failed.message, failed.traceback) == (errors.strip(), "")


def test_wrong_input_ends_with_status_2_and_a_message_before_torch_is_loaded(start_trainer: StartTrainer) -> None:
    status, output, errors = ended(start_trainer("--preset", "paac-cartpole", "--set", "num_envs=0", "--set", "sede=1"))
    assert (status, output) == (2, "")
    assert errors.splitlines() == [
        "num_envs: input should be greater than or equal to 1, not 0",
        "sede: PAAC has no such field: did you mean seed?",
    ]


def test_presets_can_be_listed() -> None:
    command = [sys.executable, "-X", "importtime", "-m", "arcadia_workers.trainer", "--list-presets"]
    shown = subprocess.run(
        command, check=True, capture_output=True, text=True, timeout=PATIENCE_SECONDS, env=os.environ
    )
    assert "paac-paper-nips" in shown.stdout
    assert " torch" not in shown.stderr
