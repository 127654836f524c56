"""Operations on projects. Every function works inside the caller's transaction."""

import secrets
from collections.abc import Sequence
from typing import Any

from sqlalchemy import func, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from backend.database.columns import utc_now
from backend.database.tables import (
    MAIN,
    MAIN_ID,
    MAX_PANELS,
    Board,
    Project,
    Report,
    Run,
    SavedView,
    Study,
    StudyRun,
    name_key,
)
from backend.errors import Conflict, FieldError, Invalid
from backend.projects.lookup import announce_projects, find_project, resolve
from backend.projects.schemas import MAX_TEXT, CreateProject, EditProject, MovedItems, MoveItems

# Leaves room for a space and a number.
MAX_NUMBERED_NAME = 90

_ITEMS: tuple[tuple[type[Run] | type[Study] | type[Report], str, str], ...] = (
    (Run, "run", "runs"),
    (Study, "study", "studies"),
    (Report, "report", "reports"),
)


def create(session: Session, new: CreateProject) -> Project:
    """Create a project. Raise Conflict if there is one with this name."""
    project = Project(name=new.name, name_key=name_key(new.name), text=new.text)
    session.add(project)
    _flush(session, new.name)
    announce_projects(session)
    return project


def edit(session: Session, project: Project, changes: EditProject) -> None:
    """Change the name, the text or the pinned report. Raise Conflict for a name that is taken."""
    if changes.name is not None and changes.name != project.name:
        if project.id == MAIN_ID:
            raise Conflict(f"{MAIN} cannot be renamed, because it gets everything without a project.")
        project.name, project.name_key = changes.name, name_key(changes.name)
    if changes.text is not None:
        project.text = changes.text
    if "pinned_report_id" in changes.model_fields_set:
        project.pinned_report_id = _existing_report(session, changes.pinned_report_id)
    _flush(session, project.name)
    announce_projects(session)


def move(session: Session, project: Project, items: MoveItems) -> MovedItems:
    """Move runs, studies and reports into a project. A study brings its runs."""
    studies = _move(session, project, Study, items.studies)
    of_studies = select(StudyRun.run_id).where(StudyRun.study_id.in_(studies), StudyRun.run_id.is_not(None))
    run_ids = dict.fromkeys([*items.runs, *(run_id for run_id in session.scalars(of_studies) if run_id is not None)])
    moved = MovedItems(
        runs=_move(session, project, Run, list(run_ids)),
        studies=studies,
        reports=_move(session, project, Report, items.reports),
    )
    announce_projects(session)
    return moved


def merge(session: Session, source: Project, into: str) -> Project:
    """Move everything of a project into another one, and delete it. Its text follows the other's text."""
    if source.id == MAIN_ID:
        raise Conflict(f"{MAIN} cannot be merged into another project. Move its runs instead.")
    target = find_project(session, resolve(session, into, field="into"))
    if target.id == source.id:
        raise Invalid(FieldError(field="into", message="choose another project than this one"))
    text = "\n\n".join(each for each in (target.text, source.text) if each)
    if len(text) > MAX_TEXT:
        raise Conflict(f"The texts of the two projects have more than {MAX_TEXT:,} characters. Shorten one first.")
    target.text = text
    target.pinned_report_id = target.pinned_report_id or source.pinned_report_id
    _move_all(session, source, target)
    # Lock both in the order of their ids, because saving a board locks its project.
    for project_id in sorted((source.id, target.id)):
        find_project(session, project_id, lock=True)
    # Runs that were created before the lock and committed after the first move.
    _move_all(session, source, target)
    _merge_boards(session, source, target)
    _move_views(session, source, target)
    session.delete(source)
    session.flush()
    announce_projects(session)
    return target


def delete(session: Session, project: Project) -> None:
    """Delete an empty project. Raise Conflict if it has anything."""
    if project.id == MAIN_ID:
        raise Conflict(f"{MAIN} cannot be deleted, because it gets everything without a project.")
    counts = [(_count(session, model, project), one, many) for model, one, many in _ITEMS]
    if has := [f"{count:,} {one if count == 1 else many}" for count, one, many in counts if count]:
        raise Conflict(f"{project.name} has {' and '.join(has)}, archived ones included. Move or merge them first.")
    session.delete(project)
    session.flush()
    announce_projects(session)


def _move(session: Session, project: Project, model: Any, ids: Sequence[int]) -> list[int]:
    """Move items in the order of their ids, as all transactions lock them. Return the ids of those that exist."""
    found = session.scalars(select(model.id).where(model.id.in_(ids)).order_by(model.id).with_for_update()).all()
    session.execute(update(model).where(model.id.in_(found)).values(project_id=project.id))
    return list(found)


def _move_all(session: Session, source: Project, target: Project) -> None:
    # A transaction locks a study before its runs.
    for model in (Study, Run, Report):
        moved = update(model).where(model.project_id == source.id).values(project_id=target.id)
        session.execute(moved, execution_options={"synchronize_session": False})


def _merge_boards(session: Session, source: Project, target: Project) -> None:
    """Append the panels of a board to those of another one. Raise Conflict if they are too many."""
    moved = session.get(Board, source.id, populate_existing=True)
    if moved is None:
        return
    board = session.get(Board, target.id, populate_existing=True)
    if board is None:
        board = Board(project_id=target.id, panels=[], version=0)
        session.add(board)
    taken = {panel["key"] for panel in board.panels}
    panels = [panel | {"key": secrets.token_hex(4)} if panel["key"] in taken else panel for panel in moved.panels]
    if len(board.panels) + len(panels) > MAX_PANELS:
        raise Conflict(f"The boards of the two projects have more than {MAX_PANELS} panels. Remove some first.")
    board.panels = [*board.panels, *panels]
    board.version += 1
    board.updated_at = utc_now()


def _move_views(session: Session, source: Project, target: Project) -> None:
    """Move the views. If the target has the name of one, the moved one gets a number."""
    taken = set(session.scalars(select(SavedView.name_key).where(SavedView.project_id == target.id)))
    for view in session.scalars(select(SavedView).where(SavedView.project_id == source.id).order_by(SavedView.id)):
        names = [view.name, *(f"{view.name[:MAX_NUMBERED_NAME]} {number}" for number in range(2, len(taken) + 3))]
        view.name = next(name for name in names if name_key(name) not in taken)
        view.name_key, view.project_id = name_key(view.name), target.id
        taken.add(view.name_key)
    session.flush()


def _count(session: Session, model: Any, project: Project) -> int:
    return session.scalar(select(func.count()).select_from(model).where(model.project_id == project.id)) or 0


def _existing_report(session: Session, report_id: int | None) -> int | None:
    if report_id is not None and session.get(Report, report_id) is None:
        raise Invalid(FieldError(field="pinned_report_id", message=f"there is no report {report_id}"))
    return report_id


def _flush(session: Session, name: str) -> None:
    """Send the changes to the database. Raise Conflict if another project has the name."""
    try:
        session.flush()
    except IntegrityError as error:
        if "name_key" not in str(error.orig):
            raise
        raise Conflict(f"There is already a project {name!r}. Names differ in more than case.") from error
