"""Core and GPU hours that runs and jobs used, by person, project, study, month and kind of work."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Annotated, Literal, get_args

from fastapi import APIRouter, Query
from fastapi.responses import StreamingResponse
from pydantic import AwareDatetime, BaseModel, Field
from sqlalchemy import ColumnElement, func, or_, select, update
from sqlalchemy.orm import Session

from arcadia_backend.database.columns import utc_now
from arcadia_backend.database.engine import Db
from arcadia_backend.database.rights import backend_rights
from arcadia_backend.database.scope import current
from arcadia_backend.database.tables import (
    Job,
    Person,
    Project,
    Run,
    RunSubmission,
    Study,
    StudyRun,
    Usage,
    Worker,
)
from arcadia_backend.errors import FieldError, Invalid
from arcadia_backend.projects.schemas import Projects
from arcadia_backend.projects.service import in_projects
from arcadia_backend.web.formats import attachment, csv_line
from arcadia_backend.workers import is_connected
from arcadia_workers.contract.values import Id
from arcadia_workers.contract.worker_api import WORKERS

Group = Literal["person", "project", "study", "month", "kind"]
# The rows of attempts at runs on workers. Their jobs and the jobs of schedulers have other rows.
OF_ATTEMPT = Usage.job_id.is_(None) & Usage.submission_id.is_(None)


class UsageRow(BaseModel):
    """Hours of one combination of the requested groups. Fields of other groups are null."""

    month: str | None = Field(description="In UTC, such as `2026-12`.")
    person_id: int | None
    person: str | None = Field(description="Null for work without an account.")
    project_id: int | None
    project: str | None = Field(description="Null if it was deleted, or if you have no access to it.")
    study_id: int | None
    study: str | None = Field(description="Null without a study, or if it was deleted.")
    kind: str | None = Field(description="`training`, or the kind of the job.")
    core_hours: float
    gpu_hours: float
    attempts: int = Field(description="Attempts and starts. One that lasts over several months counts in each.")


class UsageTable(BaseModel):
    """Hours by group, with the work that still runs."""

    groups: list[Group]
    rows: list[UsageRow]
    core_hours: float
    gpu_hours: float


def begin_run(session: Session, run: Run) -> None:
    """Record that an attempt at a run starts. The jobs of schedulers are recorded by their own reports."""
    if run.executor == WORKERS:
        host, cores = _share_of_host(session, run.worker)
        gpus = 1.0 if run.queue == "gpu" else 0.0
        _begin(session, run, run.project_id, "training", run.attempt, host=host, cores=cores, gpus=gpus)


def begin_job(session: Session, job: Job) -> None:
    """Record that an attempt at a job starts. A job computes in one thread, without a GPU."""
    run = None if job.run_id is None else session.get(Run, job.run_id)
    project_id = job.project_id if run is None else run.project_id
    if project_id is not None:
        host = _share_of_host(session, job.worker)[0]
        person = job.person_id
        _begin(session, run, project_id, job.kind, job.attempt, host=host, cores=1.0, job_id=job.id, person_id=person)


def record_start(
    session: Session, run: Run, submission: RunSubmission, started_at: datetime, cores: int | None, gpus: int | None
) -> Usage:
    """Record that a job of a scheduler has started, once for each start. Return its row."""
    query = select(Usage).where(Usage.submission_id == submission.id, Usage.started_at == started_at)
    with backend_rights(session):
        row = session.scalar(query)
        if row is None:
            row = Usage(
                submission_id=submission.id,
                host=submission.host,
                executor=submission.executor,
                started_at=started_at,
                run_id=run.id,
                project_id=run.project_id,
                person_id=run.person_id,
                study_id=_study_of(session, run),
                kind="training",
                attempt=submission.attempt,
            )
            session.add(row)
        row.cores, row.gpus = float(cores or 0), float(gpus or 0)
    return row


def end(session: Session, *rows: ColumnElement[bool]) -> None:
    """Record that attempts have ended, unless they have before."""
    ended = update(Usage).where(*rows, Usage.ended_at.is_(None)).values(ended_at=utc_now())
    with backend_rights(session):
        session.execute(ended.execution_options(synchronize_session=False))


def resume(session: Session, *rows: ColumnElement[bool]) -> None:
    """Record that an attempt whose worker fell silent continues. It held its cores all the time."""
    with backend_rights(session):
        resumed = update(Usage).where(*rows).values(ended_at=None)
        session.execute(resumed.execution_options(synchronize_session=False))


def _begin(
    session: Session,
    run: Run | None,
    project_id: int,
    kind: str,
    attempt: int,
    *,
    host: str | None,
    cores: float,
    gpus: float = 0.0,
    job_id: int | None = None,
    person_id: int | None = None,
) -> None:
    with backend_rights(session):
        session.add(
            Usage(
                project_id=project_id,
                person_id=person_id or (run.person_id if run else None),
                study_id=_study_of(session, run) if run else None,
                kind=kind,
                run_id=run.id if run else None,
                job_id=job_id,
                attempt=attempt,
                executor=WORKERS,
                host=host,
                cores=cores,
                gpus=gpus,
            )
        )


def _study_of(session: Session, run: Run) -> int | None:
    return session.scalar(select(func.min(StudyRun.study_id)).where(StudyRun.run_id == run.id))


def _share_of_host(session: Session, name: str | None) -> tuple[str | None, float]:
    """Return the host of a worker and the cores that one of its workers has. The workers of a host share its cores."""
    worker = None if name is None else session.get(Worker, name)
    if worker is None or not worker.cores:
        return (worker.host if worker else None), 1.0
    now = utc_now()
    others = session.scalars(select(Worker).where(Worker.host == worker.host, Worker.executor == WORKERS))
    return worker.host, worker.cores / max(1, sum(is_connected(each, now) for each in others))


def read_usage(
    session: Session,
    groups: list[Group],
    *,
    since: datetime | None = None,
    until: datetime | None = None,
    projects: list[str] | None = None,
    people: list[int] | None = None,
    studies: list[int] | None = None,
) -> UsageTable:
    """Return the hours in a period by group, of the projects that the caller sees and of the caller."""
    now = utc_now()
    if since is not None and until is not None and since >= until:
        raise Invalid(FieldError(field="to", message="must be later than `from`"))
    end_of_period = min(until or now, now)
    columns = Usage.project_id, Usage.person_id, Usage.study_id, Usage.kind
    query = select(*columns, Usage.cores, Usage.gpus, Usage.started_at, Usage.ended_at)
    query = query.where(Usage.started_at < end_of_period, *in_projects(Usage.project_id, projects or []))
    if since is not None:
        query = query.where(or_(Usage.ended_at.is_(None), Usage.ended_at > since))
    if people:
        query = query.where(Usage.person_id.in_(people))
    if studies:
        query = query.where(Usage.study_id.in_(studies))
    is_by_month = "month" in groups
    sums: dict[tuple[object, ...], list[float]] = {}
    rows = [*session.execute(query)]
    scope = current()
    if not scope.everything and scope.person_id is not None and scope.token_id is None and not projects:
        # Own work in projects that the caller sees no more, without the project.
        hidden = query.where(Usage.person_id == scope.person_id, Usage.project_id.not_in(scope.projects))
        with backend_rights(session):
            rows += session.execute(hidden)
    for row in rows:
        begun = max(row.started_at, since) if since else row.started_at
        ended = min(row.ended_at or now, end_of_period)
        is_visible = scope.role(row.project_id) is not None
        values = {
            "person": row.person_id,
            "project": row.project_id if is_visible else None,
            "study": row.study_id if is_visible else None,
            "kind": row.kind,
        }
        for month, seconds in _parts(begun, ended, is_by_month=is_by_month):
            total = sums.setdefault(tuple((values | {"month": month})[each] for each in groups), [0.0, 0.0, 0])
            total[0] += seconds * row.cores
            total[1] += seconds * row.gpus
            total[2] += 1
    return _to_table(session, groups, sums)


def _parts(begun: datetime, ended: datetime, *, is_by_month: bool) -> Iterator[tuple[str | None, float]]:
    """Yield the seconds of a period, for each month if wanted. A clock that was set back makes none negative."""
    if not is_by_month:
        yield None, max(0.0, (ended - begun).total_seconds())
        return
    while True:
        month = f"{begun:%Y-%m}"
        next_month = datetime(begun.year + begun.month // 12, begun.month % 12 + 1, 1, tzinfo=UTC)
        yield month, max(0.0, (min(ended, next_month) - begun).total_seconds())
        if ended <= next_month:
            return
        begun = next_month


def _to_table(session: Session, groups: list[Group], sums: dict[tuple[object, ...], list[float]]) -> UsageTable:
    keys: list[dict[str, object]] = [dict(zip(groups, key, strict=True)) for key in sums]
    named: dict[str, type[Person | Project | Study]] = {"person": Person, "project": Project, "study": Study}
    names: dict[str, dict[object, str]] = {}
    for group, model in named.items():
        ids = {key[group] for key in keys if key.get(group) is not None}
        found = session.execute(select(model.id, model.name).where(model.id.in_(ids))) if ids else ()
        names[group] = {row.id: row.name for row in found}
    rows = [
        UsageRow.model_validate(
            {
                "month": key.get("month"),
                "kind": key.get("kind"),
                **{f"{group}_id": key.get(group) for group in names},
                **{group: known.get(key.get(group)) for group, known in names.items()},
                "core_hours": cores / 3600,
                "gpu_hours": gpus / 3600,
                "attempts": int(attempts),
            }
        )
        for key, (cores, gpus, attempts) in zip(keys, sums.values(), strict=True)
    ]
    rows.sort(key=lambda row: (row.month or "", -row.core_hours, row.project_id or 0, row.person_id or 0))
    core_hours, gpu_hours = (sum(total[place] for total in sums.values()) / 3600 for place in (0, 1))
    return UsageTable(groups=groups, rows=rows, core_hours=core_hours, gpu_hours=gpu_hours)


router = APIRouter(tags=["usage"])

Groups = Annotated[list[Group], Query(max_length=5, description="One row for each combination of these.")]
Since = Annotated[AwareDatetime | None, Query(alias="from", description="Only the time after this.")]
Until = Annotated[AwareDatetime | None, Query(alias="to", description="Only the time before this.")]
People = Annotated[list[Id], Query(max_length=50, description="Only of these people, by their ids.")]
Studies = Annotated[list[Id], Query(max_length=50, description="Only of these studies, by their ids.")]


@router.get("/usage")
def show_usage(
    db: Db,
    by: Groups = ["month", "project"],  # noqa: B006 - FastAPI copies it
    since: Since = None,
    until: Until = None,
    project: Projects = [],  # noqa: B006
    person: People = [],  # noqa: B006
    study: Studies = [],  # noqa: B006
) -> UsageTable:
    """Return the core and GPU hours of all runs and jobs, also of deleted ones."""
    with db.read() as session:
        groups = list(dict.fromkeys(by))
        return read_usage(session, groups, since=since, until=until, projects=project, people=person, studies=study)


@router.get("/export/usage.csv", response_class=StreamingResponse)
def export_usage_csv(
    db: Db,
    by: Groups = ["month", "project"],  # noqa: B006
    since: Since = None,
    until: Until = None,
    project: Projects = [],  # noqa: B006
    person: People = [],  # noqa: B006
    study: Studies = [],  # noqa: B006
) -> StreamingResponse:
    """Export the rows of `GET /usage` as CSV."""
    table = show_usage(db, by, since, until, project, person, study)
    fields = [name for name in UsageRow.model_fields if name.removesuffix("_id") in {*get_args(Group)} - {*by}]
    columns = [name for name in UsageRow.model_fields if name not in fields]
    lines = (csv_line(getattr(row, name) for name in columns) for row in table.rows)
    return attachment(iter([csv_line(columns), *lines]), "usage.csv")
