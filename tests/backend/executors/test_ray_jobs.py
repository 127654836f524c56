"""The answer of Ray to `GET /api/jobs/`, and amounts of memory in its units."""

from datetime import UTC, datetime
from typing import Any

import pytest

from arcadia_backend.executors.executor import ExecutorError, SchedulerJob
from arcadia_backend.executors.ray import RaySettings, _bytes, read_jobs

JOB: dict[str, Any] = {
    "type": "SUBMISSION",
    "submission_id": "arcadia-x-run-12-1",
    "status": "RUNNING",
    "message": "Job is running.",
    "metadata": {"arcadia": "arcadia-x-run-12-1"},
    "start_time": 1_764_500_000_000,
    "end_time": None,
    "driver_agent_http_address": "http://10.0.0.7:52365",
    "driver_exit_code": None,
    "error_type": None,
}
ENDED = {"end_time": 1_764_500_060_500, "driver_exit_code": 1}


def read(**changes: Any) -> SchedulerJob:
    (job,) = read_jobs([{**JOB, **changes}, {**JOB, "type": "DRIVER", "submission_id": None}])
    return job


def test_a_running_job_has_its_host() -> None:
    job = read()
    assert (job.handle, job.mark) == ("arcadia-x-run-12-1", "arcadia-x-run-12-1")
    assert (job.phase, job.scheduler_state, job.outcome, job.host) == ("running", "RUNNING", None, "10.0.0.7")
    assert (job.reason, job.ended_at, job.exit_code) == (None, None, None)


def test_a_waiting_job_says_why() -> None:
    job = read(status="PENDING", message="Waiting for 8 CPUs.", driver_agent_http_address=None, metadata=None)
    assert (job.phase, job.reason, job.host, job.mark) == ("waiting", "Waiting for 8 CPUs.", None, "")


@pytest.mark.parametrize(
    ("status", "error", "outcome"),
    [
        ("SUCCEEDED", None, "completed"),
        ("STOPPED", None, "cancelled"),
        ("FAILED", None, "failed"),
        ("FAILED", "JOB_SUPERVISOR_ACTOR_START_TIMEOUT", "not started"),
    ],
)
def test_a_job_that_has_ended_says_when_and_how(status: str, error: str | None, outcome: str) -> None:
    job = read(**ENDED, status=status, error_type=error)
    assert (job.phase, job.outcome, job.exit_code, job.reason) == ("ended", outcome, 1, None)
    assert job.ended_at == datetime(2025, 11, 30, 10, 54, 20, 500_000, UTC)


@pytest.mark.parametrize(
    "listed", [None, {"jobs": []}, ["job"], [{**JOB, "metadata": "none"}], [{"type": "SUBMISSION"}]]
)
def test_another_answer_is_an_error(listed: Any) -> None:
    with pytest.raises(ExecutorError, match="did not return a list of jobs"):
        read_jobs(listed)


@pytest.mark.parametrize(
    ("memory", "size"),
    [("", None), ("512", 512 * 2**20), ("64K", 2**16), ("3M", 3 * 2**20), ("2G", 2**31), ("1T", 2**40)],
)
def test_memory_has_a_unit(memory: str, size: int | None) -> None:
    assert _bytes(memory) == size


def test_the_form_begins_with_the_address() -> None:
    assert next(iter(RaySettings.model_json_schema()["properties"])) == "address"
