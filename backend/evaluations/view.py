"""Evaluations as the API shows them, with their jobs' states."""

from collections.abc import Sequence

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from backend.checkpoints.superseded import superseded_of
from backend.database.tables import Evaluation, Job, Run
from backend.errors import FieldError, Invalid
from backend.evaluations import service
from backend.evaluations.schemas import EvaluationPage, EvaluationWithEpisodes, RunEvaluation
from backend.jobs.queue import JobQueue, read_queue
from backend.jobs.service import state_reason
from backend.start_sets.schemas import UsedStarts
from backend.start_sets.service import used
from workers.contract.protocols.document import EvaluationDocument

FOUND = ("mean", "median", "standard_error", "interval", "human_normalised", "normalised_by", "not_normalised_because")
# Numbers in the database go no further.
CURSOR_DIGITS = 16


def page(session: Session, run: Run, limit: int, cursor: str | None) -> EvaluationPage:
    """One page of a run's evaluations, the latest first."""
    mine = Evaluation.run_id == run.id
    query = select(Evaluation, Job).join(Job, Job.id == Evaluation.job_id).where(mine)
    if cursor is not None:
        query = query.where(Evaluation.id < _read(cursor))
    rows = [(row[0], row[1]) for row in session.execute(query.order_by(Evaluation.id.desc()).limit(limit + 1))]
    best = service.best(session, run)
    return EvaluationPage(
        items=_shown(session, run.id, rows[:limit]),
        next_cursor=str(rows[limit - 1][0].id) if len(rows) > limit else None,
        total=session.scalar(select(func.count()).select_from(Evaluation).where(mine)) or 0,
        best=_shown(session, run.id, [service.find_evaluation(session, best)])[0] if best else None,
    )


def shown(session: Session, evaluation: Evaluation, job: Job) -> EvaluationWithEpisodes:
    """One evaluation with its episodes."""
    (one,) = _shown(session, evaluation.run_id, [(evaluation, job)])
    return EvaluationWithEpisodes(**one.model_dump(), episodes=service.episodes(session, evaluation))


def of_run(session: Session, run: Run) -> list[RunEvaluation]:
    """All evaluations of a run, in the order of their steps."""
    query = select(Evaluation, Job).join(Job, Job.id == Evaluation.job_id)
    query = query.where(Evaluation.run_id == run.id).order_by(Evaluation.step, Evaluation.id)
    return _shown(session, run.id, [(row[0], row[1]) for row in session.execute(query)])


def _shown(session: Session, run_id: int, rows: Sequence[tuple[Evaluation, Job]]) -> list[RunEvaluation]:
    waiting = any(job.state == "queued" for _, job in rows)
    queue = read_queue(session) if waiting else None
    starts = used(session, [evaluation for evaluation, _ in rows])
    gone = superseded_of(session, run_id)
    return [
        _one(evaluation, job, queue, starts.get(evaluation.id), superseded=evaluation.checkpoint_id in gone)
        for evaluation, job in rows
    ]


def _one(
    evaluation: Evaluation, job: Job, queue: JobQueue | None, starts: UsedStarts | None, *, superseded: bool
) -> RunEvaluation:
    # Until it is done, what an attempt has found may be discarded yet.
    ended = job.state == "done" and evaluation.document is not None
    document = EvaluationDocument.model_validate(evaluation.document) if ended else None
    same = ("id", "run_id", "origin", "checkpoint_id", "step", "frames", "protocol", "acting", "seed")
    return RunEvaluation.model_validate(
        {name: getattr(evaluation, name) for name in same}
        | {name: getattr(job, name) for name in ("state", "traceback", "worker")}
        | {name: getattr(job, name) for name in ("created_at", "started_at", "finished_at")}
        | {name: getattr(document, name, None) for name in FOUND}
        | {
            "unlike_training": document.unlike_training if document else [],
            "reason": state_reason(job, queue),
            "start_set": starts,
            "superseded": superseded,
            "checkpoint_sha256": evaluation.sha256,
            "episodes_done": job.done,
            "episodes_total": job.total,
        }
    )


def _read(cursor: str) -> int:
    if cursor.isascii() and cursor.isdecimal() and len(cursor) < CURSOR_DIGITS:
        return int(cursor)
    raise Invalid(FieldError(field="cursor", message="not a cursor of this list; begin again without one"))
