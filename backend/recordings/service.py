"""Requesting, listing and deleting recordings. Their jobs produce the replays."""

from collections.abc import Sequence

from sqlalchemy import select
from sqlalchemy.orm import Session

from backend.checkpoints.choice import find_chosen
from backend.checkpoints.playing import usual_protocol_of
from backend.database.tables import Checkpoint, Evaluation, Job, Replay, Run
from backend.errors import FieldError, Invalid, NotFound
from backend.jobs import service as jobs
from backend.jobs.queue import read_queue
from backend.recordings.schemas import Recording, RecordingRequest
from backend.replays.service import discard_recording
from backend.web.lookup import find_run, refuse_without_agent
from workers.contract.config.evaluation import unfit_without_starts_because
from workers.contract.jobs import RecordingParameters
from workers.contract.protocols import PROTOCOLS

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


def list_recordings(session: Session, run: Run) -> list[Recording]:
    """Return a run's recordings, newest first."""
    query = select(Job).where(Job.run_id == run.id, Job.kind == "recording").order_by(Job.id.desc())
    return to_schemas(session, session.scalars(query).all())
