"""Lookup of projects by id or name, and the conditions of lists."""

from collections.abc import Collection
from typing import Annotated, Any

from fastapi import Query
from sqlalchemy import ColumnElement, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import InstrumentedAttribute, Session

from backend.database.engine import after_commit
from backend.database.tables import MAIN_ID, Project, Report, Run, Study, name_key
from backend.errors import Conflict, FieldError, Invalid, NotFound
from backend.live.notices import publish
from workers.contract.values import Text

MAX_LISTED_NAMES = 20

Projects = Annotated[list[Text], Query(max_length=50, description="Only of these projects, in upper or lower case.")]


def find_project(session: Session, project_id: int, *, lock: bool = False) -> Project:
    """Return a project, locked until the transaction ends if `lock` is True. Raise NotFound if it does not exist."""
    project = session.get(Project, project_id, with_for_update=True if lock else None)
    if project is None:
        raise NotFound(f"There is no project {project_id}.")
    return project


def resolve(session: Session, name: str | None, *, field: str = "project") -> int:
    """Return the id of a project by its name, or of Main. Raise Invalid, which lists the projects, if there is none."""
    if name is None:
        return MAIN_ID
    found = _find_id(session, name)
    if found is None:
        raise Invalid(FieldError(field=field, message=_unknown(session, name)))
    return found


def resolve_or_create(session: Session, name: str | None) -> int:
    """Return the id of a project by its name, and create the project if there is none."""
    name = (name or "").strip()
    found = _find_id(session, name) if name else MAIN_ID
    if found is not None:
        return found
    project = Project(name=name, name_key=name_key(name))
    savepoint = session.begin_nested()
    try:
        session.add(project)
        session.flush()
    except IntegrityError:
        # Another transaction has just created it.
        savepoint.rollback()
        return resolve(session, name)
    savepoint.commit()
    announce_projects(session)
    return project.id


def project_of(session: Session, run: Run) -> int:
    """Return the id of a run's project, which no merge can delete before this transaction ends."""
    query = select(Project.id).join(Run, Run.project_id == Project.id).where(Run.id == run.id)
    locked = query.with_for_update(read=True, key_share=True, of=Project)
    # While the first query waits for a merge, its project is deleted. The second one finds where the run is now.
    return session.scalar(locked) or session.scalar(locked) or MAIN_ID


def assign(session: Session, item: Run | Study | Report, name: str) -> None:
    """Move an item into a project by its name. Raise Invalid if there is none."""
    item.project_id = resolve(session, name)
    session.flush()
    session.refresh(item, ["project"])
    announce_projects(session)


def flush_name(session: Session, taken: str) -> None:
    """Send the changes to the database. Raise Conflict with this message if the name is taken."""
    try:
        session.flush()
    except IntegrityError as error:
        if "name_key" not in str(error.orig):
            raise
        raise Conflict(taken) from error


def in_projects(column: InstrumentedAttribute[int], names: Collection[str]) -> list[ColumnElement[bool]]:
    """Return the condition for rows of any of these projects, or no condition without names."""
    if not names:
        return []
    return [column.in_(select(Project.id).where(Project.name_key.in_([name_key(name) for name in names])))]


def announce_projects(session: Session) -> None:
    """Notify open pages of changed projects after the commit."""
    after_commit(session, lambda: publish("projects.changed", {}))


def _find_id(session: Session, name: str) -> int | None:
    # The lock keeps a merge from deleting the project before this transaction ends.
    query: Any = select(Project.id).where(Project.name_key == name_key(name)).with_for_update(read=True, key_share=True)
    found: int | None = session.scalar(query)
    return found


def _unknown(session: Session, name: str) -> str:
    names = session.scalars(select(Project.name).order_by(Project.id).limit(MAX_LISTED_NAMES + 1)).all()
    listed = ", ".join(names[:MAX_LISTED_NAMES]) + (" and more" if len(names) > MAX_LISTED_NAMES else "")
    return f"there is no project {name!r}; there are {listed}. Create it on the page Projects"
