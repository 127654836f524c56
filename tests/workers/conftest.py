"""Fixtures: a worker API over HTTP, and a supervisor with a fake trainer."""

import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from arcadia_workers.worker.attempt_directory import CheckpointStore
from arcadia_workers.worker.backend_client import BackendClient
from arcadia_workers.worker.heartbeat import HeartbeatThread
from arcadia_workers.worker.machine import machine_facts
from arcadia_workers.worker.supervisor import Supervisor
from arcadia_workers.worker.work import Jobs, Training
from tests.workers.fake_trainer import GATE
from tests.workers.waiting import PATIENCE_SECONDS
from tests.workers.worker_api import TOKEN, WorkerApi

FAKE_TRAINER = (sys.executable, str(Path(__file__).parent / "fake_trainer.py"))
FAKE_JOB = (sys.executable, str(Path(__file__).parent / "fake_job.py"))


@pytest.fixture
def api() -> Iterator[WorkerApi]:
    """Yield a worker API on a free port."""
    api = WorkerApi()
    yield api
    api.close()


@pytest.fixture
def client(api: WorkerApi) -> Iterator[BackendClient]:
    """Yield a client of the worker API."""
    client = BackendClient(api.url, TOKEN, "tester", "cpu")
    yield client
    client.close()


class Slot:
    """A supervisor with its heartbeat that claims runs in a thread."""

    def __init__(self, client: BackendClient, directory: Path, grace_seconds: float = 30) -> None:
        self.directory = directory
        self.heartbeat = HeartbeatThread(client, machine_facts(), job_slots=1)
        store = CheckpointStore(client, directory / "checkpoints")
        self.supervisor = Supervisor(
            client, self.heartbeat, directory, grace_seconds, Training(client, store, FAKE_TRAINER)
        )
        self.jobs = Supervisor(client, self.heartbeat, directory, grace_seconds, Jobs(client, store, 0, FAKE_JOB))
        self.heartbeat.start()
        self.thread: threading.Thread | None = None

    def look(self) -> None:
        """Start claiming and training."""
        self.thread = threading.Thread(target=self.supervisor.work_until_idle)
        self.thread.start()

    def done(self) -> None:
        """Wait until no run is left."""
        assert self.thread is not None
        self.thread.join(timeout=PATIENCE_SECONDS)
        assert not self.thread.is_alive()

    def close(self) -> None:
        """Stop everything."""
        self.supervisor.drain()
        self.jobs.drain()
        if self.thread:
            self.thread.join(timeout=PATIENCE_SECONDS)
        self.heartbeat.close()

    def let_trainer_continue(self, run: int) -> None:
        """Let a trainer continue that waits at a step (`waits_at` of its configuration)."""
        (self.attempt(run) / GATE).touch()

    def attempt(self, run: int, attempt: int = 1) -> Path:
        """Return an attempt's directory."""
        return self.directory / "runs" / str(run) / f"attempt-{attempt}"


@pytest.fixture
def slot(client: BackendClient, tmp_path: Path) -> Iterator[Slot]:
    """Yield a slot that gives trainers one second to stop."""
    slot = Slot(client, tmp_path / "worker", grace_seconds=1)
    yield slot
    slot.close()


def claim(run: int = 7, attempt: int = 1, **config: Any) -> dict[str, Any]:
    """Return a claim of a run with this fake trainer configuration."""
    return {
        "run_id": run,
        "attempt": attempt,
        "config": {"points": 20, **config},
        "lease_seconds": 60,
        "checkpoints": [],
    }


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shorten the pauses between retries."""
    monkeypatch.setattr("arcadia_workers.worker.answers.FIRST_SECONDS", 0.01)
    monkeypatch.setattr("arcadia_workers.worker.answers.MAX_SECONDS", 0.01)
    monkeypatch.setattr("arcadia_workers.worker.heartbeat.HELD_SECONDS", 0.01)
