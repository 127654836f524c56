"""Merging of projects, inside the caller's transaction."""

import secrets
from collections import Counter
from collections.abc import Callable, Container
from itertools import chain, count
from typing import Any, cast

from sqlalchemy import CursorResult, select, update
from sqlalchemy.orm import Session

from arcadia_backend.accounts.audit import AUDITED, record_in
from arcadia_backend.database.columns import utc_now
from arcadia_backend.database.scope import Role
from arcadia_backend.database.tables import (
    MAIN,
    MAIN_ID,
    MAX_PANELS,
    Artifact,
    Board,
    Job,
    KeptGame,
    MovedPanel,
    Project,
    Report,
    Run,
    SavedView,
    ScoreRule,
    StartSet,
    Study,
    Usage,
    name_key,
)
from arcadia_backend.errors import Conflict, FieldError, Invalid
from arcadia_backend.projects.schemas import MAX_TEXT
from arcadia_backend.projects.service import announce_projects, find_project, resolve

# Leaves room for a space and a number.
MAX_NUMBERED_NAME = 90


def merge(session: Session, source: Project, into: str) -> Project:
    """Move everything of a project into another one, and delete it. Its text follows the other's text."""
    if source.id == MAIN_ID:
        raise Conflict(f"{MAIN} cannot be merged into another project. Move its runs instead.")
    target = find_project(session, resolve(session, into, field="into", role=Role.ADMINISTRATOR))
    if target.id == source.id:
        raise Invalid(FieldError(field="into", message="choose another project than this one"))
    text = "\n\n".join(each for each in (target.text, source.text) if each)
    if len(text) > MAX_TEXT:
        raise Conflict(f"The texts of the two projects have more than {MAX_TEXT:,} characters. Shorten one first.")
    target.text = text
    target.pinned_report_id = target.pinned_report_id or source.pinned_report_id
    moved = _move_all(session, source, target)
    # Lock both in the order of their ids, because saving a board locks its project.
    for project_id in sorted((source.id, target.id)):
        find_project(session, project_id, lock=True)
    # Runs that were created before the lock and committed after the first move.
    moved += _move_all(session, source, target)
    _merge_boards(session, source, target)
    _move_views(session, source, target)
    _move_artifacts(session, source, target)
    _move_start_sets(session, source, target)
    source_id = source.id
    record_in(session, (source_id, target.id), "merge", "project", source_id, source.name, {"into": target.id, **moved})
    session.delete(source)
    session.flush()
    announce_projects(session, source_id, target.id)
    return target


# The objects that an entry of the audit log counts.
_COUNTED: dict[Any, str] = {Study: "studies", Run: "runs", Report: "reports"}


def _move_all(session: Session, source: Project, target: Project) -> Counter[str]:
    """Move what belongs to a project. Return the numbers of runs, studies and reports for the audit log."""
    moved: Counter[str] = Counter()
    # A transaction locks a study before its runs.
    for model in (Study, Run, Report, KeptGame, Job, ScoreRule, Usage):
        of_source = update(model).where(model.project_id == source.id).values(project_id=target.id)
        result = session.execute(of_source, execution_options={"synchronize_session": False, **AUDITED})
        if (name := _COUNTED.get(model)) is not None:
            moved[name] += cast("CursorResult[Any]", result).rowcount
    return moved


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
    keys = {key: secrets.token_hex(4) if key in taken else key for key in (panel["key"] for panel in moved.panels)}
    panels = [panel | {"key": keys[panel["key"]]} for panel in moved.panels]
    if len(board.panels) + len(panels) > MAX_PANELS:
        raise Conflict(f"The boards of the two projects have more than {MAX_PANELS} panels. Remove some first.")
    board.panels = [*board.panels, *panels]
    board.version += 1
    board.updated_at = utc_now()
    # Store where the panels are now, those of earlier merges too.
    for earlier in session.scalars(select(MovedPanel).where(MovedPanel.into_id == source.id)):
        if earlier.into_key in keys:
            earlier.into_id, earlier.into_key = target.id, keys[earlier.into_key]
    session.add_all(
        MovedPanel(project_id=source.id, key=key, into_id=target.id, into_key=new) for key, new in keys.items()
    )


def _free_name(
    name: str, taken: Container[str], separator: str = " ", key: Callable[[str], str] = lambda name: name
) -> str:
    """Return a name, with a number if it is taken."""
    numbered = (f"{name[:MAX_NUMBERED_NAME]}{separator}{number}" for number in count(2))
    return next(each for each in chain([name], numbered) if key(each) not in taken)


def _move_views(session: Session, source: Project, target: Project) -> None:
    """Move the views. If the target has the name of one, the moved one gets a number."""
    taken = set(session.scalars(select(SavedView.name_key).where(SavedView.project_id == target.id)))
    for view in session.scalars(select(SavedView).where(SavedView.project_id == source.id).order_by(SavedView.id)):
        view.name = _free_name(view.name, taken, key=name_key)
        view.name_key, view.project_id = name_key(view.name), target.id
        taken.add(view.name_key)
    session.flush()


def _move_artifacts(session: Session, source: Project, target: Project) -> None:
    """Move the artifacts. If the target has the name of one, the moved one gets a number."""
    taken = set(session.scalars(select(Artifact.name).where(Artifact.project_id == target.id)))
    query = select(Artifact).where(Artifact.project_id == source.id).order_by(Artifact.id)
    for artifact in session.scalars(query.with_for_update()).all():
        artifact.name = _free_name(artifact.name, taken, "-")
        artifact.project_id = target.id
        taken.add(artifact.name)
    session.flush()


def _move_start_sets(session: Session, source: Project, target: Project) -> None:
    """Move the start sets. If the target has the name of one for the game, the moved one gets a number."""
    query = select(StartSet.env, StartSet.name).where(StartSet.project_id == target.id)
    taken = {(env, name) for env, name in session.execute(query)}
    for stored in session.scalars(select(StartSet).where(StartSet.project_id == source.id).order_by(StartSet.id)).all():
        stored.name = _free_name(stored.name, {name for env, name in taken if env == stored.env})
        stored.project_id = target.id
        taken.add((stored.env, stored.name))
    session.flush()
