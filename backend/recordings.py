"""Recordings on request: an episode of a checkpoint, by protocol and seed, becomes a replay with a track."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response
from pydantic import BaseModel, ConfigDict, Field
from sqlalchemy import select
from sqlalchemy.orm import Session

from backend import jobs
from backend.checkpoints.availability import CheckpointChoice, find_chosen
from backend.checkpoints.service import usual_protocol_of
from backend.database.engine import Db
from backend.database.tables import Checkpoint, Evaluation, Job, Replay, Run
from backend.doorbell import Bell
from backend.errors import FieldError, Invalid, NotFound
from backend.jobs import read_queue
from backend.replays.service import discard_recording
from backend.web.idempotency import Idempotent
from backend.web.lookup import (
    DEFAULT_TIMEOUT,
    PathId,
    PathRun,
    Timeout,
    Wait,
    find_run,
    job_in_progress,
    refuse_without_agent,
    wait_while,
)
from workers.contract.config.emulator import unfit_without_starts_because
from workers.contract.jobs import RecordingParameters
from workers.contract.protocols import PROTOCOLS
from workers.contract.values import NO_BOOLEAN, Seed, ShortText
from workers.contract.worker_api import JobState

MAX_EPISODE_INDEX = 1_000_000


class RecordingRequest(BaseModel):
    """A request to record an episode of a checkpoint."""

    model_config = ConfigDict(extra="forbid")

    checkpoint: CheckpointChoice = "newest"
    protocol: ShortText | None = Field(
        default=None,
        description="How it starts and ends, such as no-op-5min. Default: the run's evaluation protocol.",
    )
    seed: Seed = Field(default=1, description="The same seed gives the same episode.")
    episode: Annotated[int, Field(ge=0, lt=MAX_EPISODE_INDEX), NO_BOOLEAN] = Field(
        default=0, description="The index of the episode in an evaluation with this protocol and seed, from 0."
    )


class Recording(BaseModel):
    """A requested recording: its state, and its replay when it is done."""

    id: int
    run_id: int
    state: JobState
    reason: str | None = Field(description="Why it is waiting, has failed, or shows only part of the episode.")
    traceback: str | None = Field(description="The traceback if it failed because of a bug.")
    checkpoint_id: int
    step: int = Field(description="The step of the checkpoint.")
    protocol: str
    seed: int
    episode: int
    replay_id: int | None = Field(description="The replay. Null until it is done.")
    worker: str | None
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None


# Limits per run. A schedule leaves some room for users.
MAX_WAITING_JOBS = 10
MAX_SCHEDULED_JOBS = 5


def request(session: Session, run: Run, wanted: RecordingRequest) -> Job:
    """Queue a recording. The caller holds the run's lock, which protects the checkpoint."""
    refuse_without_agent(run, "record")
    protocol = usual_protocol_of(run) if wanted.protocol is None else wanted.protocol
    if (refusal := unfit_without_starts_because(protocol, run.env)) is not None:
        raise Invalid(FieldError(field="protocol", message=refusal))
    checkpoint = find_chosen(session, run, wanted.checkpoint)
    jobs.check_room(session, run, "recording", MAX_WAITING_JOBS, "recordings")
    parameters = RecordingParameters(protocol=protocol, seed=wanted.seed, episode=wanted.episode)
    return jobs.enqueue(session, run, checkpoint, "recording", parameters.model_dump(mode="json"), total=1)


def record_scheduled(session: Session, run: Run, evaluation: Evaluation) -> None:
    """Queue a recording of a scheduled evaluation's first episode, so that all ages of the agent start alike."""
    if (
        PROTOCOLS[evaluation.protocol].starts_from
        or jobs.count_unfinished(session, run, "recording") >= MAX_SCHEDULED_JOBS
    ):
        return
    parameters = RecordingParameters(protocol=evaluation.protocol, seed=evaluation.seed, episode=0)
    checkpoint = session.get_one(Checkpoint, evaluation.checkpoint_id)
    jobs.enqueue(session, run, checkpoint, "recording", parameters.model_dump(mode="json"), total=1)


def find_recording(session: Session, recording_id: int, *, lock: bool = False) -> Job:
    """Return a recording's job. Raise NotFound if it does not exist. With `lock`, lock its run first."""
    job = session.get(Job, recording_id)
    if job is not None and job.kind == "recording" and lock:
        find_run(session, job.require_run_id(), lock=True)
        # It may have changed or been deleted before the lock.
        job = session.get(Job, recording_id, populate_existing=True, with_for_update=True)
    if job is None or job.kind != "recording":
        raise NotFound(f"Recording {recording_id} does not exist.")
    return job


def delete(session: Session, job: Job) -> None:
    """Delete a recording with its replay and its saliency."""
    discard_recording(session, job)
    jobs.remove(session, job)


def to_schemas(session: Session, found: Sequence[Job]) -> list[Recording]:
    """Convert recordings to their API schemas."""
    queue = read_queue(session) if any(job.state == "queued" for job in found) else None
    of = Replay.job_id.in_([job.id for job in found])
    replays = dict(session.execute(select(Replay.job_id, Replay.id).where(of)).all())
    at = Checkpoint.id.in_([job.checkpoint_id for job in found])
    steps: dict[int | None, int] = dict(session.execute(select(Checkpoint.id, Checkpoint.step).where(at)).all())
    same = ("id", "run_id", "state", "traceback", "checkpoint_id", "worker", "created_at", "started_at", "finished_at")
    return [
        Recording.model_validate(
            {name: getattr(job, name) for name in same}
            | RecordingParameters.model_validate(job.parameters).model_dump()
            | {
                "reason": jobs.state_reason(job, queue),
                "step": steps[job.checkpoint_id],
                "replay_id": replays.get(job.id) if job.state == "done" else None,
            }
        )
        for job in found
    ]


def load_recordings(session: Session, run: Run) -> list[Recording]:
    """Return a run's recordings, newest first."""
    query = select(Job).where(Job.run_id == run.id, Job.kind == "recording").order_by(Job.id.desc())
    return to_schemas(session, session.scalars(query).all())


router = APIRouter(tags=["files"])


@router.post("/runs/{run_id}/recordings", status_code=201)
def request_recording(db: Db, bell: Bell, once: Idempotent, run_id: PathId, wanted: RecordingRequest) -> Recording:
    """Queue the recording of an episode of a checkpoint. It becomes a replay of the run."""
    with once.write(db) as session:
        # Locked, so that the checkpoint is not deleted concurrently.
        job = request(session, find_run(session, run_id, lock=True), wanted)
        bell.ring_after_commit(session, job)
        return once.store(session, to_schemas(session, [job])[0])


@router.get("/runs/{run_id}/recordings")
def list_recordings(db: Db, run: PathRun) -> list[Recording]:
    """List the requested recordings of a run, newest first."""
    with db.read() as session:
        return load_recordings(session, run)


async def wait_for_recording(
    request: Request, recording_id: PathId, wait: Wait = None, timeout: Timeout = DEFAULT_TIMEOUT
) -> None:
    """Wait until the recording has ended, if requested."""
    if wait is not None:
        await wait_while(lambda session: job_in_progress(find_recording(session, recording_id)), request, timeout)


@router.get("/recordings/{recording_id}", dependencies=[Depends(wait_for_recording)])
def read_recording(db: Db, recording_id: PathId) -> Recording:
    """Return the state of a recording, immediately or once it has ended."""
    with db.read() as session:
        return to_schemas(session, [find_recording(session, recording_id)])[0]


@router.post("/recordings/{recording_id}/cancel")
def cancel_recording(db: Db, recording_id: PathId) -> Recording:
    """Cancel a waiting or active recording."""
    with db.write() as session:
        job = find_recording(session, recording_id, lock=True)
        jobs.cancel(session, job)
        return to_schemas(session, [job])[0]


@router.delete("/recordings/{recording_id}", status_code=204)
def delete_recording(db: Db, recording_id: PathId) -> Response:
    """Permanently delete a recording with its replay. An active one is canceled."""
    with db.write() as session:
        delete(session, find_recording(session, recording_id, lock=True))
    return Response(status_code=204)
