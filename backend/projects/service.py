"""Operations on projects. Every function works inside the caller's transaction."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import func, select, update
from sqlalchemy.orm import Session

from backend.database.tables import MAIN, MAIN_ID, Artifact, Project, Report, Run, Study, StudyRun, name_key
from backend.errors import Conflict, FieldError, Invalid
from backend.projects.lookup import announce_projects, flush_name
from backend.projects.schemas import CreateProject, EditProject, MovedItems, MoveItems

_TAKEN = "There is already a project {!r}. Names differ in more than case."
_ITEMS: tuple[tuple[type[Run] | type[Study] | type[Report] | type[Artifact], str, str], ...] = (
    (Run, "run", "runs"),
    (Study, "study", "studies"),
    (Report, "report", "reports"),
    (Artifact, "artifact", "artifacts"),
)


def create(session: Session, new: CreateProject) -> Project:
    """Create a project. Raise Conflict if there is one with this name."""
    project = Project(name=new.name, name_key=name_key(new.name), text=new.text)
    session.add(project)
    flush_name(session, _TAKEN.format(new.name))
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
    flush_name(session, _TAKEN.format(project.name))
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


def _count(session: Session, model: Any, project: Project) -> int:
    return session.scalar(select(func.count()).select_from(model).where(model.project_id == project.id)) or 0


def _existing_report(session: Session, report_id: int | None) -> int | None:
    if report_id is not None and session.get(Report, report_id) is None:
        raise Invalid(FieldError(field="pinned_report_id", message=f"there is no report {report_id}"))
    return report_id
