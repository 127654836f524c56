"""Tests for how a worker starts its processes."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from arcadia_workers.contract import layout
from arcadia_workers.contract.jobs import JobKind, JobRequest
from arcadia_workers.contract.live import LiveAddress
from arcadia_workers.worker.attempt_directory import CheckpointStore
from arcadia_workers.worker.backend_client import BackendClient
from arcadia_workers.worker.work import Jobs


@pytest.fixture
def client() -> Iterator[BackendClient]:
    """Return a client of a backend that is never called."""
    client = BackendClient("http://127.0.0.1:9", "token", "one", "cpu")
    yield client
    client.close()


@pytest.mark.parametrize(
    ("kind", "niceness"), [("evaluation", "10"), ("recording", "10"), ("live", "0"), ("play", "0")]
)
def test_jobs_have_low_priority_unless_somebody_watches(
    client: BackendClient, tmp_path: Path, kind: JobKind, niceness: str
) -> None:
    jobs = Jobs(client, CheckpointStore(client, tmp_path / "store"), niceness=10)
    address = LiveAddress(url="ws://127.0.0.1:9/api/v1/worker/jobs/5/live", ticket="ticket")
    asked = JobRequest(kind=kind, step=100, parameters={}, live=address if kind in ("live", "play") else None)
    (tmp_path / layout.REQUEST).write_text(asked.model_dump_json())
    assert jobs.command(tmp_path)[-2:] == ["--nice", niceness]
