"""Queries of evaluations, as schemas of the API."""

from collections.abc import Sequence

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from backend.checkpoints.superseded import superseded_ids
from backend.database.tables import Evaluation, Job, Run
from backend.errors import FieldError, Invalid
from backend.evaluations import service
from backend.evaluations.schemas import EvaluationPage, EvaluationWithEpisodes, RunEvaluation
from backend.jobs.queue import JobQueue, read_queue
from backend.jobs.service import state_reason
from backend.start_sets.schemas import UsedStarts
from backend.start_sets.service import used_start_sets
from workers.contract.protocols.document import EvaluationDocument

RESULT_FIELDS = (
    "mean",
    "median",
    "distinct",
    "standard_error",
    "interval",
    "human_normalized",
    "normalized_by",
    "not_normalized_because",
)
# Ids have at most this many digits.
MAX_CURSOR_DIGITS = 16


def read_page(session: Session, run: Run, limit: int, cursor: str | None) -> EvaluationPage:
    """Return one page of a run's evaluations, newest first."""
    of_run = Evaluation.run_id == run.id
    query = select(Evaluation, Job).join(Job, Job.id == Evaluation.job_id).where(of_run)
    if cursor is not None:
        query = query.where(Evaluation.id < _read_cursor(cursor))
    rows = [(row[0], row[1]) for row in session.execute(query.order_by(Evaluation.id.desc()).limit(limit + 1))]
    best = service.find_best(session, run)
    return EvaluationPage(
        items=_to_schemas(session, run.id, rows[:limit]),
        next_cursor=str(rows[limit - 1][0].id) if len(rows) > limit else None,
        total=session.scalar(select(func.count()).select_from(Evaluation).where(of_run)) or 0,
        best=_to_schemas(session, run.id, [service.find_evaluation(session, best)])[0] if best else None,
    )


def with_episodes(session: Session, evaluation: Evaluation, job: Job) -> EvaluationWithEpisodes:
    """Return an evaluation with its episodes."""
    (one,) = _to_schemas(session, evaluation.run_id, [(evaluation, job)])
    return EvaluationWithEpisodes(**one.model_dump(), episodes=service.list_episodes(session, evaluation))


def list_by_step(session: Session, run: Run) -> list[RunEvaluation]:
    """Return all evaluations of a run in order of their steps."""
    query = select(Evaluation, Job).join(Job, Job.id == Evaluation.job_id)
    query = query.where(Evaluation.run_id == run.id).order_by(Evaluation.step, Evaluation.id)
    return _to_schemas(session, run.id, [(row[0], row[1]) for row in session.execute(query)])


def _to_schemas(session: Session, run_id: int, rows: Sequence[tuple[Evaluation, Job]]) -> list[RunEvaluation]:
    waiting = any(job.state == "queued" for _, job in rows)
    queue = read_queue(session) if waiting else None
    starts = used_start_sets(session, [evaluation for evaluation, _ in rows])
    superseded = superseded_ids(session, run_id)
    return [
        _to_schema(evaluation, job, queue, starts.get(evaluation.id), superseded=evaluation.checkpoint_id in superseded)
        for evaluation, job in rows
    ]


def _to_schema(
    evaluation: Evaluation, job: Job, queue: JobQueue | None, starts: UsedStarts | None, *, superseded: bool
) -> RunEvaluation:
    # The result of an unfinished job may still be discarded.
    ended = job.state == "done" and evaluation.document is not None
    document = EvaluationDocument.model_validate(evaluation.document) if ended else None
    copied = ("id", "run_id", "origin", "checkpoint_id", "step", "frames", "protocol", "acting", "seed")
    return RunEvaluation.model_validate(
        {name: getattr(evaluation, name) for name in copied}
        | {name: getattr(job, name) for name in ("state", "traceback", "worker")}
        | {name: getattr(job, name) for name in ("created_at", "started_at", "finished_at")}
        | {name: getattr(document, name, None) for name in RESULT_FIELDS}
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


def _read_cursor(cursor: str) -> int:
    if cursor.isascii() and cursor.isdecimal() and len(cursor) < MAX_CURSOR_DIGITS:
        return int(cursor)
    raise Invalid(FieldError(field="cursor", message="not a cursor of this list; start again without one"))
