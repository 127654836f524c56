"""Recordings as users ask for them; their errands bring the replays."""

from collections.abc import Sequence

from sqlalchemy import select
from sqlalchemy.orm import Session

from backend.checkpoints.wanted import wanted_checkpoint
from backend.database.tables import Checkpoint, Errand, Evaluation, Run, Video
from backend.errands import service as errands
from backend.errands.queue import line
from backend.errors import Conflict, FieldError, Invalid, NotFound
from backend.recordings.schemas import AskRecording, Recording
from backend.replays.service import discard_recording
from backend.web.lookup import find_run
from workers.contract.config.evaluation import protocol_of, unfit_without_starts_because
from workers.contract.errands import RecordingParameters
from workers.contract.protocols import PROTOCOLS

# Of one run, of which a schedule leaves some to users.
MOST_WAITING = 10
MOST_SCHEDULED = 5


def ask(session: Session, run: Run, wanted: AskRecording) -> Errand:
    """Have a worker record an episode; the run is locked, so that the checkpoint stays until it is recorded."""
    protocol = protocol_of(run.config) if wanted.protocol is None else wanted.protocol
    if (refusal := unfit_without_starts_because(protocol, run.env)) is not None:
        raise Invalid(FieldError(field="protocol", message=refusal))
    checkpoint = wanted_checkpoint(session, run, wanted.checkpoint)
    if errands.waiting(session, run, "recording") >= MOST_WAITING:
        raise Conflict(f"{MOST_WAITING} recordings of run {run.id} wait already. Ask again once one of them is done.")
    told = RecordingParameters(protocol=protocol, seed=wanted.seed, episode=wanted.episode)
    return errands.ask(session, run, checkpoint, "recording", told.model_dump(mode="json"), total=1)


def follow(session: Session, run: Run, evaluation: Evaluation) -> None:
    """Have the first episode of a scheduled evaluation recorded too: the same start at every age of the agent."""
    if PROTOCOLS[evaluation.protocol].starts_from or errands.waiting(session, run, "recording") >= MOST_SCHEDULED:
        return
    told = RecordingParameters(protocol=evaluation.protocol, seed=evaluation.seed, episode=0)
    checkpoint = session.get_one(Checkpoint, evaluation.checkpoint_id)
    errands.ask(session, run, checkpoint, "recording", told.model_dump(mode="json"), total=1)


def find_recording(session: Session, recording_id: int, *, lock: bool = False) -> Errand:
    """The recording's errand, or a problem that says there is none; a locked one has its run locked first."""
    errand = session.get(Errand, recording_id)
    if errand is not None and errand.kind == "recording" and lock:
        find_run(session, errand.of_run, lock=True)
        # Gone meanwhile, or changed.
        errand = session.get(Errand, recording_id, populate_existing=True, with_for_update=True)
    if errand is None or errand.kind != "recording":
        raise NotFound(f"There is no recording {recording_id}.")
    return errand


def remove(session: Session, errand: Errand) -> None:
    """Remove a recording with its replay and that one's saliency."""
    discard_recording(session, errand)
    errands.remove(session, errand)


def shown(session: Session, found: Sequence[Errand]) -> list[Recording]:
    """Recordings as the API shows them."""
    queue = line(session) if any(errand.state == "queued" for errand in found) else None
    of = Video.errand_id.in_([errand.id for errand in found])
    videos = dict(session.execute(select(Video.errand_id, Video.id).where(of)).all())
    at = Checkpoint.id.in_([errand.checkpoint_id for errand in found])
    steps: dict[int | None, int] = dict(session.execute(select(Checkpoint.id, Checkpoint.step).where(at)).all())
    same = ("id", "run_id", "state", "traceback", "checkpoint_id", "worker", "created_at", "started_at", "finished_at")
    return [
        Recording.model_validate(
            {name: getattr(errand, name) for name in same}
            | RecordingParameters.model_validate(errand.parameters).model_dump()
            | {
                "reason": errands.reason(errand, queue),
                "step": steps[errand.checkpoint_id],
                "video_id": videos.get(errand.id) if errand.state == "done" else None,
            }
        )
        for errand in found
    ]


def of_run(session: Session, run: Run) -> list[Recording]:
    """A run's recordings, the latest asked for first."""
    query = select(Errand).where(Errand.run_id == run.id, Errand.kind == "recording").order_by(Errand.id.desc())
    return shown(session, session.scalars(query).all())
