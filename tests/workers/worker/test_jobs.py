"""Tests for jobs, which a worker does beside training with the same components."""

import errno
import hashlib
import json
import os
import signal
import threading
from pathlib import Path
from typing import Any

import pytest

from arcadia_workers.worker.answers import Backoff
from tests.workers.conftest import Slot, claim
from tests.workers.waiting import PATIENCE_SECONDS, wait_until
from tests.workers.worker_api import WorkerApi

WEIGHTS = b"weights" * 1000


def offer(api: WorkerApi, number: int = 5, attempt: int = 1, content: bytes = WEIGHTS, **parameters: Any) -> None:
    """Queue a job whose checkpoint is file 3."""
    api.downloads[3] = content
    api.hashes[3] = hashlib.sha256(WEIGHTS).hexdigest()
    checkpoint = {
        "id": 3,
        "file": "checkpoints/step-000000000100.safetensors",
        "sha256": hashlib.sha256(WEIGHTS).hexdigest(),
        "bytes": len(WEIGHTS),
        "step": 100,
        "frames": 400,
    }
    api.job_claims.append(
        {
            "job_id": number,
            "attempt": attempt,
            "kind": "evaluation",
            "parameters": {"episodes": 3, **parameters},
            "lease_seconds": 60,
            "checkpoint": checkpoint,
        }
    )


def directory(slot: Slot, number: int = 5, attempt: int = 1) -> Path:
    """Return a job's directory."""
    return slot.directory / "jobs" / str(number) / f"attempt-{attempt}"


def begin(slot: Slot) -> threading.Thread:
    """Start looking for jobs in a thread."""
    thread = threading.Thread(target=slot.jobs.work_until_idle)
    thread.start()
    return thread


def done(thread: threading.Thread) -> None:
    """Wait until no job is left."""
    thread.join(timeout=PATIENCE_SECONDS)
    assert not thread.is_alive()


def test_a_job_is_done_delivered_and_released(api: WorkerApi, slot: Slot) -> None:
    offer(api)
    slot.jobs.work_until_idle()
    assert list(api.job_events[5, 1]) == [1, 2, 3, 4, 5]
    assert [(row["job"], row["outcome"]) for row in api.job_releases] == [(5, "finished")]
    assert not directory(slot).parent.exists()
    assert api.events == {}


def test_a_job_runs_beside_training_with_one_thread_and_its_checkpoint(api: WorkerApi, slot: Slot) -> None:
    api.claims.append(claim(points=10**6, interval=0.01))
    slot.look()
    offer(api, episodes=10**6, interval=0.01)
    thread = begin(slot)
    facts = directory(slot) / "facts.json"
    wait_until(lambda: facts.exists() and facts.read_text().endswith("}"))
    reported = json.loads(facts.read_text())
    assert reported["files"] == ["step-000000000100.json", "step-000000000100.safetensors"]
    assert reported["environment"]["OMP_NUM_THREADS"] == "1"
    assert reported["environment"]["CUDA_VISIBLE_DEVICES"] == ""
    points = len(api.points(7, 1))
    wait_until(lambda: len(api.points(7, 1)) > points and len(api.job_events.get((5, 1), {})) > 3)
    held = {"run": {"id": 7, "attempt": 1}, "jobs": [{"id": 5, "attempt": 1}], "job_slots": 1}
    wait_until(lambda: held.items() <= api.heartbeats[-1].items())
    slot.jobs.drain()
    done(thread)
    assert [row["outcome"] for row in api.job_releases] == ["drained"]


@pytest.mark.parametrize(("desired", "outcomes"), [("cancel", ["stopped"]), (None, [])])
def test_a_cancelled_or_deleted_job_ends(api: WorkerApi, slot: Slot, desired: str | None, outcomes: list[str]) -> None:
    offer(api, episodes=10**6, interval=0.01)
    thread = begin(slot)
    wait_until(lambda: (directory(slot) / "job.pid").exists())
    api.jobs_desired[5] = desired
    done(thread)
    assert [row["outcome"] for row in api.job_releases] == outcomes
    assert not directory(slot).exists()


def test_a_killed_job_is_reported_as_lost(api: WorkerApi, slot: Slot) -> None:
    offer(api, episodes=10**6, interval=0.01)
    thread = begin(slot)
    pid = directory(slot) / "job.pid"
    wait_until(lambda: pid.exists() and pid.read_text() and api.job_events)
    os.kill(int(pid.read_text()), signal.SIGKILL)
    done(thread)
    reported = [(row["outcome"], row["message"]) for row in api.job_releases]
    assert reported == [("lost", "The job's process was killed by SIGKILL.")]


def test_a_job_that_exits_without_a_result_has_failed(api: WorkerApi, slot: Slot) -> None:
    offer(api, how="complains")
    slot.jobs.work_until_idle()
    reported = [(row["outcome"], row["message"]) for row in api.job_releases]
    assert reported == [("failed", "The job's process exited with status 2: no such game")]


def test_a_damaged_checkpoint_fails_the_job_with_a_message(api: WorkerApi, slot: Slot) -> None:
    offer(api, content=b"weigths")
    slot.jobs.work_until_idle()
    ((outcome, message),) = [(row["outcome"], row["message"]) for row in api.job_releases]
    assert outcome == "failed"
    assert message == (
        "step-000000000100.safetensors is damaged: its content differs from what was saved. Choose another checkpoint."
    )


def test_a_checkpoint_missing_from_the_backend_fails_the_job_with_a_message(api: WorkerApi, slot: Slot) -> None:
    offer(api)
    api.downloads.clear()
    slot.jobs.work_until_idle()
    (row,) = api.job_releases
    assert row["outcome"] == "failed"
    assert "The backend rejected the download of" in row["message"]


POINTS = b'{"format": "arcadia-starts"}'


def offer_with_starts(api: WorkerApi, content: bytes | None, number: int = 5) -> None:
    """Queue a job that begins at start points."""
    offer(api, number)
    api.starts, api.starts_hash = content, hashlib.sha256(POINTS).hexdigest()
    api.job_claims[-1]["starts"] = {"sha256": api.starts_hash, "bytes": len(POINTS)}


def test_start_points_are_stored_beside_the_request_and_fetched_once(api: WorkerApi, slot: Slot) -> None:
    for number in (5, 6):
        offer_with_starts(api, POINTS, number)
    slot.jobs.work_until_idle()
    assert [row["outcome"] for row in api.job_releases] == ["finished", "finished"]
    assert api.downloaded == 2, "the checkpoint and the points, each once"
    offer_with_starts(api, POINTS, 7)
    api.job_claims[-1]["parameters"] |= {"episodes": 10**6, "interval": 0.01}
    thread = begin(slot)
    wait_until(lambda: (directory(slot, 7) / "job.pid").exists())
    assert (directory(slot, 7) / "starts.json").read_bytes() == POINTS
    api.jobs_desired[7] = "cancel"
    done(thread)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b'{"format": "arcadia-start"}', "the start set is damaged"),
        (None, "The backend rejected the download of the start set"),
    ],
)
def test_missing_start_points_fail_the_job_with_a_message(
    api: WorkerApi, slot: Slot, content: bytes | None, said: str
) -> None:
    offer_with_starts(api, content)
    slot.jobs.work_until_idle()
    (row,) = api.job_releases
    assert (row["outcome"], said in row["message"]) == ("failed", True), row
    assert row["message"].endswith("Import the set again.")


def test_a_checkpoint_is_fetched_once(api: WorkerApi, slot: Slot) -> None:
    for number in (5, 6):
        offer(api, number)
    slot.jobs.work_until_idle()
    assert [row["job"] for row in api.job_releases] == [5, 6]
    assert api.downloaded == 1


def test_jobs_of_a_killed_worker_are_delivered_and_released(api: WorkerApi, slot: Slot) -> None:
    directory(slot).mkdir(parents=True)
    event = {"kind": "evaluated_episode", "seq": 1, "time": 0.0, "step": 1, "frames": 1}
    (directory(slot) / "events.jsonl").write_text(json.dumps(event) + "\n")
    slot.jobs.recover()
    assert list(api.job_events[5, 1]) == [1]
    reported = [(row["outcome"], row["message"]) for row in api.job_releases]
    assert reported == [("lost", "The worker was killed while it did this job.")]
    assert api.releases == []


def test_a_restarted_worker_holds_all_leftover_jobs_until_they_are_delivered(api: WorkerApi, slot: Slot) -> None:
    event = {"kind": "evaluated_episode", "seq": 1, "time": 0.0, "step": 1, "frames": 1}
    for number in (5, 6):
        directory(slot, number).mkdir(parents=True)
        (directory(slot, number) / "events.jsonl").write_text(json.dumps(event) + "\n")
    api.fails_on = {1}
    recovery = threading.Thread(target=slot.jobs.recover)
    recovery.start()
    both = [{"id": 5, "attempt": 1}, {"id": 6, "attempt": 1}]
    try:
        wait_until(lambda: any(beat["jobs"] == both for beat in api.heartbeats))
    finally:
        api.fails_on = set()
        recovery.join()
    assert [(row["job"], row["outcome"]) for row in api.job_releases] == [(5, "lost"), (6, "lost")]
    wait_until(lambda: api.heartbeats[-1]["jobs"] == [])


def test_a_doorbell_during_a_job_returns_at_once_and_is_handled_later(api: WorkerApi, slot: Slot) -> None:
    offer(api, episodes=10**6, interval=0.01)
    thread = begin(slot)
    wait_until(lambda: api.job_events)
    slot.jobs.work_until_idle()
    assert thread.is_alive(), "the look returned while the job was running"
    offer(api, 6)
    slot.jobs.work_until_idle()
    api.jobs_desired[5] = "cancel"
    done(thread)
    assert [row["job"] for row in api.job_releases] == [5, 6], "the thread that did the job looked again"


def test_a_job_that_hits_a_full_disk_is_requeued_and_done_once_there_is_space(
    api: WorkerApi, slot: Slot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(slot.jobs, "_disk_backoff", Backoff(0.01, 0.01))
    offer(api, how="has no space")
    slot.jobs.work_until_idle()
    reported = [(row["outcome"], row["message"]) for row in api.job_releases]
    assert reported == [("drained", "The disk of worker tester is full. The work is retried when there is space.")]
    offer(api, attempt=2)

    def is_done() -> bool:
        slot.jobs.work_until_idle()
        return len(api.job_releases) == 2

    wait_until(is_done)
    assert api.job_releases[-1]["outcome"] == "finished"


def test_a_worker_with_a_full_disk_claims_nothing_for_a_while(
    api: WorkerApi, slot: Slot, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "request.json")

    monkeypatch.setattr("arcadia_workers.worker.attempt_directory.prepare_job", refuse)
    offer(api)
    offer(api, number=6)
    slot.jobs.work_until_idle()
    slot.jobs.work_until_idle()
    assert [(row["job"], row["outcome"]) for row in api.job_releases] == [(5, "drained")]
    assert len(api.job_claims) == 1
