"""Tests for GA3C as a program: it saves and ends on SIGTERM, resumes after kill -9, and its agents end with it."""

import signal
from pathlib import Path

import psutil
import pytest

from arcadia_workers.contract import events
from arcadia_workers.contract.config import Ga3cConfig
from tests.workers.trainer.conftest import StartTrainer
from tests.workers.trainer.trainers import Trainer, of_kind, wait_for_checkpoints
from tests.workers.waiting import PATIENCE_SECONDS, wait_until

CONFIG = Ga3cConfig(env="CartPole-v1", num_agents=3, t_max=8, adjustment_seconds=0.5, checkpoint_seconds=1)


def family(trainer: Trainer) -> list[psutil.Process]:
    return psutil.Process(trainer.pid).children(recursive=True)


def assert_gone(processes: list[psutil.Process], seconds: float) -> None:
    _, alive = psutil.wait_procs(processes, timeout=seconds)
    assert all(process.status() == psutil.STATUS_ZOMBIE for process in alive)


def configuration(directory: Path) -> str:
    path = directory / "ga3c.json"
    path.write_text(CONFIG.model_dump_json())
    return str(path)


@pytest.mark.nightly
def test_it_resumes_after_kill_9_and_saves_and_ends_on_sigterm(tmp_path: Path, start_trainer: StartTrainer) -> None:
    run = tmp_path / "run"
    first = start_trainer(configuration(tmp_path), "--no-progress-bar")
    wait_for_checkpoints(run, first, 1)
    processes = family(first)
    first.kill()
    assert_gone(processes, seconds=PATIENCE_SECONDS)
    saved = of_kind(run, events.CheckpointEvent)[-1].step

    second = start_trainer("--resume", "--no-progress-bar")
    wait_until(lambda: of_kind(run, events.CheckpointEvent)[-1].step > saved)
    processes = family(second)
    second.send_signal(signal.SIGTERM)
    assert second.wait(timeout=PATIENCE_SECONDS) == 0
    assert_gone(processes, seconds=PATIENCE_SECONDS)
    assert of_kind(run, events.Started)[-1].resumed_from == saved
    assert of_kind(run, events.CheckpointEvent)[-1].step == of_kind(run, events.Stopped)[-1].step > saved


@pytest.mark.nightly
def test_a_killed_agent_fails_the_run_with_its_name(tmp_path: Path, start_trainer: StartTrainer) -> None:
    run = tmp_path / "run"
    trainer = start_trainer(configuration(tmp_path), "--no-progress-bar")
    wait_for_checkpoints(run, trainer, 1)
    processes = family(trainer)
    next(each for each in processes if each.ppid() != trainer.pid).kill()
    _, errors = trainer.communicate(timeout=PATIENCE_SECONDS)
    assert trainer.returncode == 1
    assert "was killed by signal 9" in of_kind(run, events.Failed)[-1].message
    assert "was killed by signal 9" in errors
    assert_gone(processes, seconds=PATIENCE_SECONDS)
