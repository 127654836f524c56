"""Recordings as users ask for them; their jobs bring the replays."""

from collections.abc import Sequence

from sqlalchemy import select
from sqlalchemy.orm import Session

from backend.checkpoints.choice import find_chosen
from backend.database.tables import Checkpoint, Evaluation, Job, Replay, Run
from backend.errors import Conflict, FieldError, Invalid, NotFound
from backend.jobs import service as jobs
from backend.jobs.queue import read_queue
from backend.recordings.schemas import AskRecording, Recording
from backend.replays.service import discard_recording
from backend.web.lookup import find_run
from workers.contract.config.evaluation import protocol_of, unfit_without_starts_because
from workers.contract.jobs import RecordingParameters
from workers.contract.protocols import PROTOCOLS

# Of one run, of which a schedule leaves some to users.
MOST_WAITING = 10
MOST_SCHEDULED = 5


def ask(session: Session, run: Run, wanted: AskRecording) -> Job:
    """Have a worker record an episode; the run is locked, so that the checkpoint stays until it is recorded."""
    protocol = protocol_of(run.config) if wanted.protocol is None else wanted.protocol
    if (refusal := unfit_without_starts_because(protocol, run.env)) is not None:
        raise Invalid(FieldError(field="protocol", message=refusal))
    checkpoint = find_chosen(session, run, wanted.checkpoint)
    if jobs.count_unfinished(session, run, "recording") >= MOST_WAITING:
        raise Conflict(f"{MOST_WAITING} recordings of run {run.id} wait already. Ask again once one of them is done.")
    told = RecordingParameters(protocol=protocol, seed=wanted.seed, episode=wanted.episode)
    return jobs.enqueue(session, run, checkpoint, "recording", told.model_dump(mode="json"), total=1)


def follow(session: Session, run: Run, evaluation: Evaluation) -> None:
    """Have the first episode of a scheduled evaluation recorded too: the same start at every age of the agent."""
    if PROTOCOLS[evaluation.protocol].starts_from or jobs.count_unfinished(session, run, "recording") >= MOST_SCHEDULED:
        return
    told = RecordingParameters(protocol=evaluation.protocol, seed=evaluation.seed, episode=0)
    checkpoint = session.get_one(Checkpoint, evaluation.checkpoint_id)
    jobs.enqueue(session, run, checkpoint, "recording", told.model_dump(mode="json"), total=1)


def find_recording(session: Session, recording_id: int, *, lock: bool = False) -> Job:
    """The recording's job, or a problem that says there is none; a locked one has its run locked first."""
    job = session.get(Job, recording_id)
    if job is not None and job.kind == "recording" and lock:
        find_run(session, job.require_run_id(), lock=True)
        # Gone meanwhile, or changed.
        job = session.get(Job, recording_id, populate_existing=True, with_for_update=True)
    if job is None or job.kind != "recording":
        raise NotFound(f"There is no recording {recording_id}.")
    return job


def remove(session: Session, job: Job) -> None:
    """Remove a recording with its replay and that one's saliency."""
    discard_recording(session, job)
    jobs.remove(session, job)


def shown(session: Session, found: Sequence[Job]) -> list[Recording]:
    """Recordings as the API shows them."""
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


def of_run(session: Session, run: Run) -> list[Recording]:
    """A run's recordings, the latest asked for first."""
    query = select(Job).where(Job.run_id == run.id, Job.kind == "recording").order_by(Job.id.desc())
    return shown(session, session.scalars(query).all())
