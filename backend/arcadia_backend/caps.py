"""Caps for people and projects: runs that train at once, and core and GPU hours in a month (UTC)."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Literal

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field
from sqlalchemy import ColumnElement, and_, extract, func, or_, select, true
from sqlalchemy.orm import Session

from arcadia_backend.accounts.people import find_person
from arcadia_backend.database.columns import utc_now
from arcadia_backend.database.engine import Db, after_commit
from arcadia_backend.database.rights import backend_rights
from arcadia_backend.database.scope import current
from arcadia_backend.database.tables import Cap, Person, Project, Run, RunSubmission, Usage
from arcadia_backend.errors import Conflict
from arcadia_backend.live.notices import publish
from arcadia_backend.projects.service import find_project
from arcadia_backend.web.lookup import PathId
from arcadia_workers.contract.values import NO_BOOLEAN
from arcadia_workers.contract.worker_api import ACTIVE

# From this share on, people are warned.
WARNING_SHARE = 0.8
Hours = Annotated[float, Field(ge=0, le=10**9, allow_inf_nan=False), NO_BOOLEAN]
Runs = Annotated[int, Field(ge=0, le=10**6), NO_BOOLEAN]


class CapLimits(BaseModel):
    """What one person or one project may use. Null is no limit."""

    model_config = ConfigDict(extra="forbid")

    max_runs: Runs | None = Field(default=None, description="Runs that train at once.")
    core_hours: Hours | None = Field(default=None, description="Core hours in a month, in UTC.")
    gpu_hours: Hours | None = Field(default=None, description="GPU hours in a month, in UTC.")


class UsedCap(CapLimits):
    """The caps of a person or a project, and what was used this month."""

    kind: Literal["person", "project"]
    id: int
    name: str
    runs: int = Field(description="Runs that train now, or whose job of a scheduler was submitted.")
    used_core_hours: float
    used_gpu_hours: float


@dataclass(frozen=True)
class CapState:
    """A cap with its use now."""

    cap: Cap
    name: str
    runs: int
    core_hours: float
    gpu_hours: float
    now: datetime

    @property
    def who(self) -> str:
        """The person or the project, as a sentence begins with it."""
        return self.name if self.cap.person_id is not None else f"Project {self.name}"

    @property
    def is_full(self) -> bool:
        """True if no other run may train now."""
        return self.cap.max_runs is not None and self.runs >= self.cap.max_runs

    @property
    def spent(self) -> str | None:
        """Return a sentence if the hours of this month are used."""
        for name, used, cap in self._hours():
            if cap is not None and used >= cap:
                return (
                    f"{self.who} has used {used:,.1f} of {cap:,.10g} {name} in {self.now:%B %Y}. The next month begins "
                    f"on {_next_month(self.now):%Y-%m-%d} (UTC). An administrator can raise the cap on the page Usage."
                )
        return None

    @property
    def wait_reason(self) -> str | None:
        """Return why a run may not start now, or None if it may."""
        if self.is_full:
            limit = "no runs" if not self.cap.max_runs else f"{self.cap.max_runs} at once"
            return f"{self.who} may train {limit}, and {self.runs} train now."
        return self.spent

    @property
    def warnings(self) -> list[str]:
        """Return a sentence for each kind of hours of which most are used."""
        return [
            f"{self.who} has used {used:,.1f} of {cap:,.10g} {name} in {self.now:%B %Y}."
            for name, used, cap in self._hours()
            if cap is not None and used >= WARNING_SHARE * cap
        ]

    def _hours(self) -> list[tuple[str, float, float | None]]:
        return [("core hours", self.core_hours, self.cap.core_hours), ("GPU hours", self.gpu_hours, self.cap.gpu_hours)]

    def is_of(self, person_id: int | None, project_id: int) -> bool:
        """Return True for the cap of this person or project."""
        return project_id == self.cap.project_id or (person_id is not None and person_id == self.cap.person_id)


def _month(now: datetime) -> datetime:
    return now.replace(day=1, hour=0, minute=0, second=0, microsecond=0)


def _next_month(now: datetime) -> datetime:
    first = _month(now)
    return first.replace(year=first.year + first.month // 12, month=first.month % 12 + 1)


def read_caps(session: Session, *which: ColumnElement[bool], lock: bool = False) -> list[CapState]:
    """Return caps with what is used of them, of all people and projects. With `lock`, lock them first."""
    with backend_rights(session):
        query = select(Cap).where(*which).order_by(Cap.id)
        caps = session.scalars(query.with_for_update() if lock else query).all()
        if not caps:
            return []
        people, projects = ([each.person_id for each in caps], [each.project_id for each in caps])
        names = dict(session.execute(select(Person.id, Person.name).where(Person.id.in_(people))).all())
        titles = dict(session.execute(select(Project.id, Project.name).where(Project.id.in_(projects))).all())
        now = utc_now()
        return [
            CapState(
                cap,
                names.get(cap.person_id, "") if cap.person_id is not None else titles.get(cap.project_id or 0, ""),
                _count_runs(session, cap),
                *_sum_hours(session, cap, now),
                now,
            )
            for cap in caps
        ]


def _count_runs(session: Session, cap: Cap) -> int:
    """Return how many runs train, or have a job that was submitted to a scheduler."""
    owner = Run.person_id == cap.person_id if cap.person_id is not None else Run.project_id == cap.project_id
    has_job = select(RunSubmission.id).where(RunSubmission.run_id == Run.id, RunSubmission.state != "ended").exists()
    is_submitted = and_(Run.state == "queued", has_job)
    return session.scalars(
        select(func.count()).select_from(Run).where(owner, or_(Run.state.in_(ACTIVE), is_submitted))
    ).one()


def _sum_hours(session: Session, cap: Cap, now: datetime) -> tuple[float, float]:
    """Return the core and GPU hours of this month, with work that still runs."""
    if cap.core_hours is None and cap.gpu_hours is None:
        return 0.0, 0.0
    owner = Usage.person_id == cap.person_id if cap.person_id is not None else Usage.project_id == cap.project_id
    begin, end = _month(now).timestamp(), func.coalesce(extract("epoch", Usage.ended_at), now.timestamp())
    started = extract("epoch", Usage.started_at)
    seconds = end - func.max(started, begin) if session.connection().dialect.name == "sqlite" else None
    if seconds is None:
        seconds = end - func.greatest(started, begin)
    in_month = (owner, or_(Usage.ended_at.is_(None), Usage.ended_at > _month(now)))
    sums = select(func.sum(seconds * Usage.cores), func.sum(seconds * Usage.gpus)).where(*in_month)
    cores, gpus = session.execute(sums).one()
    return max(0.0, float(cores or 0)) / 3_600, max(0.0, float(gpus or 0)) / 3_600


def may_start(session: Session) -> ColumnElement[bool]:
    """Return the condition for waiting runs that no cap holds back. Claims of capped runs follow one after another."""
    full = [state.cap for state in read_caps(session, lock=True) if state.wait_reason is not None]
    people = [cap.person_id for cap in full if cap.person_id is not None]
    projects = [cap.project_id for cap in full if cap.project_id is not None]
    if not full:
        return true()
    return and_(or_(Run.person_id.is_(None), Run.person_id.not_in(people)), Run.project_id.not_in(projects))


def within_caps(session: Session, run_ids: Sequence[int], *, lock: bool = False) -> list[int]:
    """Return the runs, in their order, that may be submitted to a scheduler at once. With `lock`, lock the caps."""
    states = read_caps(session, lock=lock)
    if not states:
        return [*run_ids]
    rows = session.execute(select(Run.id, Run.person_id, Run.project_id).where(Run.id.in_(run_ids)))
    owners = {row.id: (row.person_id, row.project_id) for row in rows}
    more: Counter[int] = Counter()
    allowed = []
    for run_id in run_ids:
        own = [state for state in states if run_id in owners and state.is_of(*owners[run_id])]
        limits = [(state, state.cap.max_runs) for state in own]
        fits = all(limit is None or state.runs + more[state.cap.id] < limit for state, limit in limits)
        if fits and not any(state.spent for state in own):
            allowed.append(run_id)
            more.update(state.cap.id for state in own)
    return allowed


def wait_reasons(session: Session, runs: Iterable[Run]) -> dict[int, str]:
    """Return for each waiting run that a cap holds back a sentence that says so."""
    waiting = [run for run in runs if run.state == "queued"]
    states = read_caps(session) if waiting else []
    return {
        run.id: reason
        for run in waiting
        for state in states
        if state.is_of(run.person_id, run.project_id) and (reason := state.wait_reason) is not None
    }


def require_hours(session: Session, project_id: int) -> None:
    """Raise Conflict if the caller or the project has used its hours of this month."""
    for state in _of_caller(session, project_id):
        if (spent := state.spent) is not None:
            raise Conflict(spent)


def warnings(session: Session, project_id: int) -> list[str]:
    """Return a sentence for each cap of the caller or the project of which most is used."""
    return [each for state in _of_caller(session, project_id) for each in state.warnings]


def _of_caller(session: Session, project_id: int) -> list[CapState]:
    person_id = current().person_id
    return read_caps(session, or_(Cap.project_id == project_id, Cap.person_id == (person_id or 0)))


router = APIRouter(tags=["usage"])


@router.get("/caps")
def list_caps(db: Db) -> list[UsedCap]:
    """List your caps and those of your projects, with what was used this month. Administrators see all."""
    with db.read() as session:
        return _list(session)


@router.put("/caps/people/{person_id}")
def set_cap_of_person(db: Db, person_id: PathId, limits: CapLimits) -> list[UsedCap]:
    """Set the caps of a person. Those that are left out or null end."""
    with db.write() as session:
        find_person(session, person_id)
        return _set(session, Cap(person_id=person_id), Cap.person_id == person_id, limits)


@router.put("/caps/projects/{project_id}")
def set_cap_of_project(db: Db, project_id: PathId, limits: CapLimits) -> list[UsedCap]:
    """Set the caps of a project. Those that are left out or null end."""
    with db.write() as session:
        find_project(session, project_id)
        return _set(session, Cap(project_id=project_id), Cap.project_id == project_id, limits)


def _set(session: Session, new: Cap, is_its: ColumnElement[bool], limits: CapLimits) -> list[UsedCap]:
    cap = session.scalar(select(Cap).where(is_its).with_for_update())
    wanted = limits.model_dump()
    has_limits = any(value is not None for value in wanted.values())
    if cap is not None and not has_limits:
        session.delete(cap)
    elif has_limits:
        cap = cap or new
        session.add(cap)
        for name, value in wanted.items():
            setattr(cap, name, value)
    session.flush()
    # Runs that were held back may start now.
    after_commit(session, lambda: publish("worker.changed", {"name": ""}))
    return _list(session)


def _list(session: Session) -> list[UsedCap]:
    scope = current()
    return [
        UsedCap(
            kind="project" if state.cap.project_id is not None else "person",
            id=state.cap.project_id or state.cap.person_id or 0,
            name=state.name,
            max_runs=state.cap.max_runs,
            core_hours=state.cap.core_hours,
            gpu_hours=state.cap.gpu_hours,
            runs=state.runs,
            used_core_hours=state.core_hours,
            used_gpu_hours=state.gpu_hours,
        )
        for state in read_caps(session)
        if scope.everything
        or (state.cap.person_id is not None and state.cap.person_id == scope.person_id)
        or state.cap.project_id in scope.projects
    ]
