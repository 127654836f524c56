"""Tests for reports of failed attempts: our errors as a message, bugs with type and stack trace."""

import dataclasses
import os
from pathlib import Path

import pytest

from arcadia_workers.contract import events
from arcadia_workers.contract.events import Failed
from arcadia_workers.trainer import session
from arcadia_workers.trainer.errors import StopRequest, TrainerError
from arcadia_workers.trainer.host.devices import DeviceError
from arcadia_workers.trainer.host.memory import MemoryShortageError, TooManyProcessesError
from arcadia_workers.trainer.host.processes import ActorCrashed, ActorFailed
from arcadia_workers.trainer.launching import Launch
from arcadia_workers.trainer.methods.ga3c.experiences import SharedMemoryError
from arcadia_workers.trainer.methods.gorila.ray_cluster import ClusterError, RayLostError
from arcadia_workers.trainer.run.checkpoints import CheckpointError
from arcadia_workers.trainer.run.directory_run import DivergedError
from arcadia_workers.trainer.run.journal import Journal
from arcadia_workers.trainer.run.run import TrainingRun
from tests.workers.trainer import made_method
from tests.workers.trainer.made_method import STILL, StillConfig


def failed_with(error: Exception, directory: Path, monkeypatch: pytest.MonkeyPatch) -> Failed:
    """Train with a method that raises this error, which fails the run. Return the last event."""
    return events.Failed.model_validate_json(last_event(error, directory, monkeypatch, status=1))


def last_event(error: Exception, directory: Path, monkeypatch: pytest.MonkeyPatch, *, status: int) -> bytes:
    """Train with a method that raises this error, and check the exit status. Return the last event."""

    def fail(_config: StillConfig, _run: TrainingRun) -> None:
        raise error

    made_method.register(monkeypatch, dataclasses.replace(STILL, train=fail))
    with Journal(directory) as journal:
        launch = Launch(StillConfig(), directory, resume=False, progress_bar=False)
        assert session.train(launch, journal, StopRequest()) == status
    return (directory / "events.jsonl").read_bytes().splitlines()[-1]


@pytest.mark.parametrize(
    "kind",
    [
        ActorFailed,
        CheckpointError,
        ClusterError,
        DeviceError,
        DivergedError,
        MemoryShortageError,
        SharedMemoryError,
        TooManyProcessesError,
    ],
)
def test_a_trainer_error_is_reported_as_a_message(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], kind: type[TrainerError]
) -> None:
    failed = failed_with(kind("too little of it: take less"), tmp_path, monkeypatch)
    assert (failed.message, failed.traceback) == ("too little of it: take less", "")
    assert capsys.readouterr().err == "too little of it: take less\n"


def test_a_bug_is_reported_with_its_type_and_stack_trace(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    failed = failed_with(ZeroDivisionError("nothing to divide by"), tmp_path, monkeypatch)
    assert failed.message == "ZeroDivisionError: nothing to divide by"
    errors = capsys.readouterr().err
    for text in (failed.traceback, errors):
        assert "in fail\n" in text
        assert text.endswith("ZeroDivisionError: nothing to divide by\n")


def test_a_run_whose_helpers_were_killed_can_continue(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    error = RayLostError("Ray's node (raylet) was killed.")
    last = last_event(error, tmp_path, monkeypatch, status=os.EX_TEMPFAIL)
    assert b'"failed"' not in last
    assert capsys.readouterr().err == "Ray's node (raylet) was killed.\n"


def test_a_crash_in_a_process_is_reported_with_that_processs_stack_trace(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    crash = ActorCrashed("agent 3 failed: ZeroDivisionError: nothing to divide by")
    crash.add_note('agent 3: File "emulator.py", line 7, in burn')
    failed = failed_with(crash, tmp_path, monkeypatch)
    assert failed.message == "agent 3 failed: ZeroDivisionError: nothing to divide by"
    for text in (failed.traceback, capsys.readouterr().err):
        assert 'agent 3: File "emulator.py", line 7, in burn' in text
