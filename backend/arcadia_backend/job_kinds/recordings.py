"""Recordings on request: an episode of a checkpoint, by protocol and seed, becomes a replay with a track."""

from collections.abc import Sequence

from fastapi import APIRouter
from pydantic import Field
from sqlalchemy import select
from sqlalchemy.orm import Session

from arcadia_backend import jobs
from arcadia_backend.checkpoints.availability import CheckpointChoice, find_chosen
from arcadia_backend.checkpoints.service import usual_protocol_of
from arcadia_backend.database.engine import Db
from arcadia_backend.database.tables import Checkpoint, Evaluation, Job, Replay, Run
from arcadia_backend.doorbell import Bell
from arcadia_backend.errors import FieldError, Invalid
from arcadia_backend.job_kinds.result_routes import add_job_routes
from arcadia_backend.jobs import JobFields, JobType, job_fields, read_queue
from arcadia_backend.replays.service import discard_recording, has_recording, keep_recording
from arcadia_backend.web.idempotency import Idempotent
from arcadia_backend.web.lookup import PathId, PathRun, find_run, refuse_without_agent
from arcadia_workers.contract import events as ev
from arcadia_workers.contract.config.emulator import unfit_without_starts_because
from arcadia_workers.contract.jobs import RecordingParameters
from arcadia_workers.contract.protocols import PROTOCOLS


class RecordingRequest(RecordingParameters):
    """A request to record an episode of a checkpoint."""

    checkpoint: CheckpointChoice = "newest"


class Recording(JobFields):
    """A requested recording: its state, and its replay when it is done."""

    id: int
    run_id: int
    checkpoint_id: int
    step: int = Field(description="The step of the checkpoint.")
    protocol: str
    seed: int
    episode: int
    replay_id: int | None = Field(description="The replay. Null until it is done.")


# Limit per run. A schedule leaves some room for users.
MAX_SCHEDULED_JOBS = 5


def request(session: Session, run: Run, wanted: RecordingRequest) -> Job:
    """Queue a recording. The caller holds the run's lock, which protects the checkpoint."""
    refuse_without_agent(run, "record")
    protocol = usual_protocol_of(run) if wanted.protocol is None else wanted.protocol
    if (refusal := unfit_without_starts_because(protocol, run.env)) is not None:
        raise Invalid(FieldError(field="protocol", message=refusal))
    checkpoint = find_chosen(session, run, wanted.checkpoint)
    jobs.check_room(session, run, "recording")
    parameters = RecordingParameters(protocol=protocol, seed=wanted.seed, episode=wanted.episode)
    return jobs.enqueue(session, run, checkpoint, "recording", parameters, total=1)


def record_scheduled(session: Session, run: Run, evaluation: Evaluation) -> None:
    """Queue a recording of a scheduled evaluation's first episode, so that all ages of the agent start alike."""
    if (
        PROTOCOLS[evaluation.protocol].starts_from
        or jobs.count_unfinished(session, run, "recording") >= MAX_SCHEDULED_JOBS
    ):
        return
    parameters = RecordingParameters(protocol=evaluation.protocol, seed=evaluation.seed, episode=0)
    checkpoint = session.get_one(Checkpoint, evaluation.checkpoint_id)
    jobs.enqueue(session, run, checkpoint, "recording", parameters, total=1)


def delete(session: Session, _recording: Job, job: Job) -> None:
    """Delete a recording with its replay and its saliency."""
    discard_recording(session, job)
    jobs.remove(session, job)


def to_schema(session: Session, _recording: Job, job: Job) -> Recording:
    """Convert a recording to its API schema."""
    return to_schemas(session, [job])[0]


def to_schemas(session: Session, rows: Sequence[Job]) -> list[Recording]:
    """Convert recordings to their API schemas."""
    queue = read_queue(session, rows)
    of = Replay.job_id.in_([job.id for job in rows])
    replays = dict(session.execute(select(Replay.job_id, Replay.id).where(of)).all())
    at = Checkpoint.id.in_([job.checkpoint_id for job in rows])
    steps: dict[int | None, int] = dict(session.execute(select(Checkpoint.id, Checkpoint.step).where(at)).all())
    same = ("id", "run_id", "checkpoint_id")
    return [
        Recording.model_validate(
            {name: getattr(job, name) for name in same}
            | job_fields(job, queue)
            | RecordingParameters.model_validate(job.parameters).model_dump()
            | {
                "step": steps[job.checkpoint_id],
                "replay_id": replays.get(job.id) if job.state == "done" else None,
            }
        )
        for job in rows
    ]


def load_recordings(session: Session, run: Run) -> list[Recording]:
    """Return a run's recordings, newest first."""
    query = select(Job).where(Job.run_id == run.id, Job.kind == "recording").order_by(Job.id.desc())
    return to_schemas(session, session.scalars(query).all())


router = APIRouter(tags=["files"])
JOB = JobType("recording", router, {ev.ReplayEvent: keep_recording}, has_recording, discard_recording)
add_job_routes(
    JOB,
    Recording,
    to_schema,
    cancel_text="Cancel a queued or running recording.",
    delete=delete,
    delete_text="Permanently delete a recording with its replay. A running one is stopped.",
)


@router.post("/runs/{run_id}/recordings", status_code=201)
def request_recording(db: Db, bell: Bell, once: Idempotent, run_id: PathId, wanted: RecordingRequest) -> Recording:
    """Queue the recording of an episode of a checkpoint. It becomes a replay of the run."""
    with once.write(db) as session:
        # Locked, so that the checkpoint is not deleted concurrently.
        job = request(session, find_run(session, run_id, lock=True), wanted)
        bell.ring_after_commit(session, job)
        return once.store(session, to_schema(session, job, job))


@router.get("/runs/{run_id}/recordings")
def list_recordings(db: Db, run: PathRun) -> list[Recording]:
    """List the requested recordings of a run, newest first."""
    with db.read() as session:
        return load_recordings(session, run)
