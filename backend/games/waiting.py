"""Runs of a game without a score, each with its pending or failed evaluation."""

from collections.abc import Collection
from typing import Any

from sqlalchemy import ScalarSelect, Select, exists, select
from sqlalchemy.orm import Session

from backend.colors import color_of
from backend.database.tables import Checkpoint, Evaluation, Job, Run
from backend.games.schemas import WaitingEvaluation, WaitingRun
from backend.jobs.queue import JobQueue, read_queue
from backend.jobs.service import UNFINISHED, state_reason
from backend.projects.lookup import in_projects
from workers.contract.config.problems import title_of

MAX_RUNS = 50


def waiting_runs(
    session: Session, env: str, scored: Collection[int], projects: Collection[str] = ()
) -> tuple[list[WaitingRun], int]:
    """Return the newest runs without a score, and their total. Archived and reported runs are left out."""
    of_projects = in_projects(Run.project_id, projects)
    wanted = (Run.env == env, Run.origin == "trained", Run.archived_at.is_(None), *of_projects)
    listed = select(Run.id).where(*wanted).order_by(Run.id.desc())
    ids = [number for number in session.scalars(listed) if number not in scored]
    rows = session.execute(_runs_with_evaluations().where(Run.id.in_(ids[:MAX_RUNS]))).all()
    queued = any(row.Job is not None and row.Job.state == "queued" for row in rows)
    queue = read_queue(session) if queued else None
    return [_to_schema(row, queue) for row in rows], len(ids)


def _runs_with_evaluations() -> Select[*tuple[Any, ...]]:
    """Select runs, newest first, each with the evaluation to show."""
    kept = exists().where(Checkpoint.run_id == Run.id, Checkpoint.file_id.is_not(None))
    columns = (
        *(Run.id, Run.name, Run.algorithm, Run.state, Run.step, kept.label("kept"), Job),
        *(Evaluation.id.label("evaluation_id"), Evaluation.protocol, Evaluation.step.label("evaluated_step")),
    )
    query = select(*columns).select_from(Run).outerjoin(Evaluation, Evaluation.id == _shown_evaluation())
    return query.outerjoin(Job, Job.id == Evaluation.job_id).order_by(Run.id.desc())


def _shown_evaluation() -> ScalarSelect[int]:
    """Select the evaluation of a run to show: a running one, else a queued one, else the last."""
    under_way = [(Job.state == state).desc() for state in ("running", "queued")]
    query = select(Evaluation.id).join(Job, Job.id == Evaluation.job_id).where(Evaluation.run_id == Run.id)
    return query.order_by(*under_way, Evaluation.id.desc()).limit(1).correlate(Run).scalar_subquery()


def _to_schema(row: Any, queue: JobQueue | None) -> WaitingRun:
    return WaitingRun(
        id=row.id,
        name=row.name,
        method=title_of(row.algorithm),
        color=color_of(row.id),
        state=row.state,
        step=row.step,
        has_checkpoint=row.kept,
        evaluation=_evaluation(row, row.Job, queue),
    )


def _evaluation(row: Any, job: Job | None, queue: JobQueue | None) -> WaitingEvaluation | None:
    if job is None or job.state not in (*UNFINISHED, "failed"):
        return None
    return WaitingEvaluation(
        id=row.evaluation_id,
        state=job.state,
        reason=state_reason(job, queue),
        traceback=job.traceback,
        protocol=row.protocol,
        step=row.evaluated_step,
        episodes_done=job.done,
        episodes_total=job.total,
    )
