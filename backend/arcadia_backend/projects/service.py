"""Operations on projects. Every function works inside the caller's transaction."""

from collections.abc import Collection, Sequence
from typing import Any

from sqlalchemy import ColumnElement, func, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import InstrumentedAttribute, Session

from arcadia_backend.accounts.audit import AUDITED, OBJECTS, record_moves
from arcadia_backend.database import tables
from arcadia_backend.database.engine import after_commit
from arcadia_backend.database.rights import may_edit, projects_of, require
from arcadia_backend.database.scope import Role, current
from arcadia_backend.database.tables import (
    MAIN,
    MAIN_ID,
    Artifact,
    Job,
    KeptGame,
    Replay,
    Report,
    Run,
    StartSet,
    Study,
    StudyRun,
    is_editable,
    name_key,
)
from arcadia_backend.errors import Conflict, FieldError, Invalid, NotFound
from arcadia_backend.live.notices import publish
from arcadia_backend.projects.schemas import CreateProject, EditProject, MovedItems, MoveItems
from arcadia_workers.contract.worker_api import EXECUTOR_TITLES, WORKERS

MAX_LISTED_NAMES = 20


def find_project(session: Session, project_id: int, *, lock: bool = False) -> tables.Project:
    """Return a project, locked until the transaction ends if `lock` is True. Raise NotFound if it does not exist."""
    project = session.get(tables.Project, project_id, with_for_update=True if lock else None)
    if project is None:
        raise NotFound(f"There is no project {project_id}.")
    return project


def resolve(session: Session, name: str | None, *, field: str = "project", role: Role = Role.EDITOR) -> int:
    """Return the id of a project by its name, or of Main.

    Raise Invalid, which lists the projects, if there is none. Raise MissingRight if the caller lacks the role in it.
    """
    project_id = find_visible(session, name, field=field)
    require(session, project_id, role)
    return project_id


def find_visible(session: Session, name: str | None, *, field: str = "project") -> int:
    """Return the id of a project to read from, by its name, or of Main. Raise Invalid if there is none."""
    project_id = MAIN_ID if name is None else _find_id(session, name)
    if project_id is None:
        raise Invalid(FieldError(field=field, message=_unknown(session, name or "")))
    return project_id


def require_editor(session: Session, table: str, *keys: int) -> None:
    """Raise MissingRight unless the caller is an editor in the projects of these rows of a table."""
    for project_id in sorted(projects_of(session, table, keys)):
        require(session, project_id, Role.EDITOR)


def resolve_or_create(session: Session, name: str | None) -> int:
    """Return the id of a project by its name, and create the project if there is none."""
    name = (name or "").strip()
    project_id = _find_id(session, name) if name else MAIN_ID
    if project_id is not None:
        return project_id
    project = tables.Project(name=name, name_key=name_key(name))
    savepoint = session.begin_nested()
    try:
        session.add(project)
        session.flush()
    except IntegrityError:
        # Another transaction has just created it.
        savepoint.rollback()
        return resolve(session, name)
    savepoint.commit()
    announce_projects(session, project.id)
    return project.id


def project_of(session: Session, run: Run) -> int:
    """Return the id of a run's project, which no merge can delete before this transaction ends."""
    query = select(tables.Project.id).join(Run, Run.project_id == tables.Project.id).where(Run.id == run.id)
    locked = query.with_for_update(read=True, key_share=True, of=tables.Project)
    # While the first query waits for a merge, its project is deleted. The second one finds where the run is now.
    return session.scalar(locked) or session.scalar(locked) or MAIN_ID


def why_not_editable(project_id: int) -> str | None:
    """Return why the caller may not change the content of a project, as a sentence, or None."""
    if "write" not in current().scopes:
        return "Your token only reads."
    return None if is_editable(project_id) else "You need the role editor in its project."


def assign(session: Session, item: Run | Study | Report, name: str) -> None:
    """Move an item into a project by its name. Raise Invalid if there is none."""
    before, item.project_id = item.project_id, resolve(session, name)
    session.flush()
    session.refresh(item, ["project"])
    if isinstance(item, Run):
        _bring_games(session, [item.id], item.project_id)
    announce_projects(session, before, item.project_id)


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
    return [
        column.in_(select(tables.Project.id).where(tables.Project.name_key.in_([name_key(name) for name in names])))
    ]


def announce_projects(session: Session, *project_ids: int) -> None:
    """Notify open pages of changed projects after the commit."""
    for project_id in dict.fromkeys(project_ids):
        notice = {"project_id": project_id}
        after_commit(session, lambda notice=notice: publish("projects.changed", notice))  # type: ignore[misc]


def _find_id(session: Session, name: str) -> int | None:
    # The lock keeps a merge from deleting the project before this transaction ends.
    query: Any = (
        select(tables.Project.id)
        .where(tables.Project.name_key == name_key(name))
        .with_for_update(read=True, key_share=True)
    )
    project_id: int | None = session.scalar(query)
    return project_id


def _unknown(session: Session, name: str) -> str:
    names = session.scalars(select(tables.Project.name).order_by(tables.Project.id).limit(MAX_LISTED_NAMES + 1)).all()
    listed = ", ".join(names[:MAX_LISTED_NAMES]) + (" and more" if len(names) > MAX_LISTED_NAMES else "")
    return f"there is no project {name!r}; there are {listed}. Create it on the page Projects"


_TAKEN = "There is already a project {!r}. Names differ in more than case."
# Another project has the name, but the caller must not learn this.
_UNUSABLE = "The name {!r} cannot be used. Choose another one."
_ITEMS: tuple[tuple[Any, str, str], ...] = (
    (Run, "run", "runs"),
    (Study, "study", "studies"),
    (Report, "report", "reports"),
    (Artifact, "artifact", "artifacts"),
    (StartSet, "start set", "start sets"),
    (KeptGame, "kept game", "kept games"),
)


def create(session: Session, new: CreateProject) -> tables.Project:
    """Create a project. Raise Conflict if there is one with this name."""
    project = tables.Project(name=new.name, name_key=name_key(new.name), text=new.text)
    session.add(project)
    flush_name(session, _TAKEN.format(new.name))
    announce_projects(session, project.id)
    return project


def edit(session: Session, project: tables.Project, changes: EditProject) -> None:
    """Change a project. Raise Conflict for a name that is taken."""
    taken = _TAKEN if changes.name and _find_id(session, changes.name) is not None else _UNUSABLE
    if changes.name is not None and changes.name != project.name:
        if project.id == MAIN_ID:
            raise Conflict(f"{MAIN} cannot be renamed, because it gets everything without a project.")
        project.name, project.name_key = changes.name, name_key(changes.name)
    if changes.text is not None:
        project.text = changes.text
    if "pinned_report_id" in changes.model_fields_set:
        report_id = changes.pinned_report_id
        if report_id is not None and session.get(Report, report_id) is None:
            raise Invalid(FieldError(field="pinned_report_id", message=f"there is no report {report_id}"))
        project.pinned_report_id = report_id
    if "executor" in changes.model_fields_set:
        if changes.executor is not None:
            require_set_up(session, changes.executor)
        project.executor = changes.executor
    flush_name(session, taken.format(project.name))
    announce_projects(session, project.id)


def require_set_up(session: Session, executor: str) -> None:
    """Raise Invalid if runs cannot choose an executor because it has no settings."""
    if executor != WORKERS and session.get(tables.ExecutorSettings, executor) is None:
        message = f"{EXECUTOR_TITLES[executor]} is not set up. The page Workers has its settings."
        raise Invalid(FieldError(field="executor", message=message))


def default_executor(session: Session, project_id: int) -> str:
    """Return where the runs of a project train by default."""
    own = session.scalar(select(tables.Project.executor).where(tables.Project.id == project_id))
    return own or session.scalar(select(tables.Installation.executor)) or WORKERS


def move(session: Session, project: tables.Project, items: MoveItems) -> MovedItems:
    """Move items into a project. Raise MissingRight unless the caller is an editor in all projects that this changes.

    A study brings its runs, and a run brings the kept games that continue its replays.
    """
    require(session, project.id, Role.EDITOR)
    studies = _move(session, project, Study, items.studies)
    of_studies = select(StudyRun.run_id).where(StudyRun.study_id.in_(studies), StudyRun.run_id.is_not(None))
    run_ids = dict.fromkeys([*items.runs, *(run_id for run_id in session.scalars(of_studies) if run_id is not None)])
    runs = _move(session, project, Run, list(run_ids))
    _bring_games(session, runs, project.id)
    games = _move(session, project, KeptGame, items.kept_games)
    _bring_films(session, KeptGame.id.in_(games), project.id)
    try:
        sets = _move(session, project, StartSet, items.start_sets)
    except IntegrityError as error:
        raise Conflict(f"{project.name} already has a start set of this name for the game.") from error
    reports = _move(session, project, Report, items.reports)
    return MovedItems(runs=runs, studies=studies, reports=reports, start_sets=sets, kept_games=games)


def _bring_games(session: Session, run_ids: Sequence[int], project_id: int) -> None:
    """Move the kept games that continue replays of runs, unless the caller may not edit them."""
    continued = select(Replay.id).where(Replay.run_id.in_(run_ids))
    of_replays = select(KeptGame.id).where(KeptGame.replay_id.in_(continued), may_edit(KeptGame))
    if games := session.scalars(of_replays).all():
        _change_project(session, KeptGame, games, project_id)
        _bring_films(session, KeptGame.id.in_(games), project_id)


def _bring_films(session: Session, moved: ColumnElement[bool], project_id: int) -> None:
    """Move the jobs of the videos of kept games, with their files."""
    films = session.scalars(select(KeptGame.job_id).where(moved)).all()
    # The entry of the game is enough.
    moved_films = update(Job).where(Job.id.in_(films)).values(project_id=project_id)
    session.execute(moved_films, execution_options=AUDITED)


def _change_project(session: Session, model: Any, ids: Sequence[int], project_id: int) -> dict[int, int]:
    """Move items that the caller may edit. Return their projects before, by id, in the order of locks."""
    query = select(model.id, model.project_id).where(model.id.in_(ids)).order_by(model.id).with_for_update()
    before: dict[int, int] = {row.id: row.project_id for row in session.execute(query)}
    for before_id in sorted({*before.values()}):
        require(session, before_id, Role.EDITOR)
    record_moves(session, OBJECTS[model].kind, before, project_id)
    moved = update(model).where(model.id.in_(before)).values(project_id=project_id)
    session.execute(moved, execution_options=AUDITED)
    return before


def delete(session: Session, project: tables.Project) -> None:
    """Delete an empty project. Raise Conflict if it has anything."""
    if project.id == MAIN_ID:
        raise Conflict(f"{MAIN} cannot be deleted, because it gets everything without a project.")
    counts = [(_count(session, model, project), one, many) for model, one, many in _ITEMS]
    if has := [f"{count:,} {one if count == 1 else many}" for count, one, many in counts if count]:
        raise Conflict(f"{project.name} has {' and '.join(has)}, archived ones included. Move or merge them first.")
    project_id = project.id
    session.delete(project)
    session.flush()
    announce_projects(session, project_id)


def _move(session: Session, project: tables.Project, model: Any, ids: Sequence[int]) -> list[int]:
    """Move items in the order of their ids, as all transactions lock them. Return the ids of those that exist.

    Raise MissingRight for items that the caller sees and may not edit.
    """
    before = _change_project(session, model, ids, project.id)
    announce_projects(session, project.id, *before.values())
    return list(before)


def _count(session: Session, model: Any, project: tables.Project) -> int:
    return session.scalar(select(func.count()).select_from(model).where(model.project_id == project.id)) or 0
