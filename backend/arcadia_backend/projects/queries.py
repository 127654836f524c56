"""Reads of projects."""

import math
from typing import Any

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from arcadia_backend.colors import color_of
from arcadia_backend.database import tables
from arcadia_backend.database.scope import Role, current
from arcadia_backend.projects import schemas
from arcadia_workers.contract.config.problems import title_of
from arcadia_workers.contract.games import env_title
from arcadia_workers.contract.worker_api import ACTIVE


def load_projects(session: Session) -> list[schemas.ProjectSummary]:
    """Return all projects. Main comes first, then the others by name."""
    projects = session.scalars(select(tables.Project)).all()
    ordered = sorted(projects, key=lambda project: (project.id != tables.MAIN_ID, project.name_key))
    counts = _count_items(session)
    return [_to_summary(project, counts) for project in ordered]


def to_schema(session: Session, project: tables.Project) -> schemas.Project:
    """Return a project with the content of its page."""
    pinned = session.get(tables.Report, project.pinned_report_id) if project.pinned_report_id else None
    return schemas.Project(
        **_to_summary(project, _count_items(session, project.id)).model_dump(),
        text=project.text,
        executor=project.executor,
        pinned_report=schemas.PinnedReport(id=pinned.id, title=pinned.title) if pinned else None,
        best_agents=_best_agents(session, project.id),
    )


def _to_summary(project: tables.Project, counts: dict[int, dict[str, Any]]) -> schemas.ProjectSummary:
    counted_items = counts.get(project.id, {})
    counted = ("runs", "active_runs", "archived_runs", "studies", "reports", "artifacts")
    numbers = {name: counted_items.get(name, 0) for name in counted}
    return schemas.ProjectSummary(
        id=project.id,
        name=project.name,
        created_at=project.created_at,
        last_activity=max([project.created_at, *counted_items.get("times", [])]),
        may_edit=tables.is_editable(project.id),
        may_administer=tables.is_editable(project.id) and current().role(project.id) == Role.ADMINISTRATOR,
        **numbers,
    )


def _count_items(session: Session, only: int | None = None) -> dict[int, dict[str, Any]]:
    """Return the counts and the times of each project, or of one."""
    run, study, report, artifact = tables.Run, tables.Study, tables.Report, tables.Artifact
    listed = run.archived_at.is_(None)
    numbers: dict[int, dict[str, Any]] = {}
    runs = {
        "runs": func.count().filter(listed),
        "active_runs": func.count().filter(listed, run.state.in_(ACTIVE)),
        "archived_runs": func.count().filter(~listed),
    }
    for model, columns, times in (
        (run, runs, (run.created_at, run.started_at, run.finished_at)),
        (study, {"studies": func.count()}, (study.started_at, study.finished_at)),
        (report, {"reports": func.count()}, (report.updated_at,)),
        (artifact, {"artifacts": func.count()}, (artifact.created_at,)),
    ):
        labeled = [column.label(name) for name, column in columns.items()]
        query = select(model.project_id, *labeled, *map(func.max, times)).group_by(model.project_id)
        query = query if only is None else query.where(model.project_id == only)
        for project_id, *values in session.execute(query):
            entry = numbers.setdefault(project_id, {"times": []})
            entry |= dict(zip(columns, values, strict=False))
            entry["times"] += [time for time in values[len(columns) :] if time is not None]
    return numbers


def _best_agents(session: Session, project_id: int) -> list[schemas.ProjectAgent]:
    """Return the run with the best return of each environment. Archived runs are left out."""
    run = tables.Run
    columns = (run.id, run.name, run.env, run.algorithm, run.best_return, run.poster_file_id)
    query = select(*columns).where(run.project_id == project_id, run.archived_at.is_(None), run.env != "")
    best: dict[str, Any] = {}
    # Compare here, because databases sort NaN differently. The earliest wins a tie.
    for row in session.execute(query.where(run.best_return.is_not(None)).order_by(run.id)):
        if math.isfinite(row.best_return) and (row.env not in best or row.best_return > best[row.env].best_return):
            best[row.env] = row
    checkpoints = _best_checkpoints(session, [row.id for row in best.values()])
    agents = [_to_agent(row, *checkpoints.get(row.id, (None, None))) for row in best.values()]
    return sorted(agents, key=lambda agent: agent.env_title.casefold())


def _to_agent(row: Any, checkpoint_id: int | None, step: int | None) -> schemas.ProjectAgent:
    return schemas.ProjectAgent(
        run_id=row.id,
        run_name=row.name,
        env=row.env,
        env_title=env_title(row.env),
        method=title_of(row.algorithm),
        best_return=row.best_return,
        color=color_of(row.id),
        poster_file_id=row.poster_file_id,
        checkpoint_id=checkpoint_id,
        checkpoint_step=step,
    )


def _best_checkpoints(session: Session, run_ids: list[int]) -> dict[int, tuple[int, int]]:
    """Return the best checkpoint of each run, or its newest one, among those that have a file."""
    checkpoint = tables.Checkpoint
    kept = (checkpoint.run_id.in_(run_ids), checkpoint.file_id.is_not(None))
    query = select(checkpoint.run_id, checkpoint.id, checkpoint.step).where(*kept)
    rows = session.execute(query.order_by(checkpoint.best, checkpoint.attempt, checkpoint.step, checkpoint.id))
    return {row.run_id: (row.id, row.step) for row in rows}
