"""Tests for Gorila as a program: it saves and ends on SIGTERM, resumes after kill -9, and cleans up Ray."""

import signal
from pathlib import Path
from typing import Any

import psutil
import pytest

from arcadia_workers.contract import events
from arcadia_workers.contract.config import GorilaConfig
from arcadia_workers.trainer.methods.gorila.ray_cluster import parent_of_folders
from tests.workers.trainer.conftest import StartTrainer
from tests.workers.trainer.trainers import Trainer, of_kind, wait_for_checkpoints
from tests.workers.waiting import PATIENCE_SECONDS, wait_until

CONFIG = GorilaConfig(
    env="CartPole-v1",
    num_actors=1,
    num_learners=1,
    total_steps=10**9,
    replay_frames=2000,
    learning_starts=100,
    checkpoint_seconds=1,
)


def family(trainer: Trainer) -> list[psutil.Process]:
    return psutil.Process(trainer.pid).children(recursive=True)


def assert_gone(processes: list[psutil.Process], seconds: float) -> None:
    _, alive = psutil.wait_procs(processes, timeout=seconds)
    assert all(process.status() == psutil.STATUS_ZOMBIE for process in alive)


def folders_of_ray(trainer: Trainer) -> list[Path]:
    return list(parent_of_folders().glob(f"arcadia-ray-{trainer.pid}-*"))


@pytest.mark.nightly
def test_it_resumes_after_kill_9_and_saves_and_ends_on_sigterm(tmp_path: Path, start_trainer: StartTrainer) -> None:
    run, path = tmp_path / "run", tmp_path / "gorila.json"
    path.write_text(CONFIG.model_dump_json())
    first = start_trainer(str(path), "--no-progress-bar")
    wait_for_checkpoints(run, first, 1)
    processes = family(first)
    assert any(process.name() == "raylet" for process in processes)
    first.kill()
    assert_gone(processes, seconds=PATIENCE_SECONDS)
    saved = of_kind(run, events.CheckpointEvent)[-1].step
    wait_until(lambda: not folders_of_ray(first))

    second = start_trainer("--resume", "--no-progress-bar")
    wait_until(lambda: of_kind(run, events.CheckpointEvent)[-1].step > saved)
    processes = family(second)
    assert {connection.laddr.ip.removeprefix("::ffff:") for each in processes for connection in listening(each)} == {
        "127.0.0.1"
    }
    second.send_signal(signal.SIGTERM)
    assert second.wait(timeout=PATIENCE_SECONDS) == 0
    assert_gone(processes, seconds=PATIENCE_SECONDS)
    assert of_kind(run, events.Started)[-1].resumed_from == saved
    assert of_kind(run, events.CheckpointEvent)[-1].step == of_kind(run, events.Stopped)[-1].step > saved
    assert not folders_of_ray(second)
    assert "SIGTERM received" not in second.communicate()[1]


def listening(process: psutil.Process) -> list[Any]:
    return [each for each in process.net_connections("tcp") if each.status == psutil.CONN_LISTEN]
