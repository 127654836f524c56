"""Bulk actions: an action on many runs, applied in batches by a background thread as the person who started it.

The runs are listed when it is requested (docs/decisions/0099-bulk-actions-list-their-runs.md). Each batch is one
transaction with its runs, counts and place, so that a killed backend continues where the last one ended.
"""

import logging
import math
import time
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from itertools import product
from typing import Annotated, Any, Self

from fastapi import APIRouter, Depends, Query, Request
from pydantic import BaseModel, ConfigDict, Field, model_validator
from sqlalchemy import ColumnElement, Select, delete, func, insert, literal, select, update
from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import Session

from arcadia_backend.accounts import sign_in
from arcadia_backend.accounts.audit import record_bulk
from arcadia_backend.accounts.roles import is_valid, scope_of
from arcadia_backend.database import tables
from arcadia_backend.database.columns import utc_now
from arcadia_backend.database.engine import Database, Db, after_commit
from arcadia_backend.database.rights import MissingRight, backend_rights, projects_of, require
from arcadia_backend.database.scope import Role, Scope, acting_as, current
from arcadia_backend.database.tables import AccessToken, BulkActionRun, BulkState, Run
from arcadia_backend.doorbell import Doorbell
from arcadia_backend.errors import Conflict, FieldError, Invalid, NotFound
from arcadia_backend.failure_log import FailureLog
from arcadia_backend.live.background import BackgroundThread
from arcadia_backend.live.notices import Topic, publish
from arcadia_backend.projects import service as projects
from arcadia_backend.projects.schemas import MoveItems, ProjectName
from arcadia_backend.runs import service
from arcadia_backend.runs.filters import Filters, filter_conditions
from arcadia_backend.runs.routes import RunFilters
from arcadia_backend.runs.schemas import ManyRunsAction, Tags
from arcadia_backend.runs.states import ACTIONS, announcing_together, refusals
from arcadia_backend.web.idempotency import Idempotent
from arcadia_backend.web.lookup import DEFAULT_TIMEOUT, PathId, Timeout, Wait, find_run, wait_while
from arcadia_workers.contract.values import Id

MAX_EXCLUDED = 1_000
MAX_IDS = 10_000
# Each holds a list of runs.
MAX_UNFINISHED = 20
KEPT = timedelta(days=7)
LISTED = 20
OPPOSITES: dict[str, ManyRunsAction] = {"archive": "restore", "restore": "archive"}


class StartBulkAction(BaseModel):
    """An action to apply to some runs, or to all runs that match the filters of the query."""

    model_config = ConfigDict(extra="forbid")

    action: ManyRunsAction
    ids: Annotated[list[Id], Field(min_length=1, max_length=MAX_IDS)] | None = Field(
        default=None, description="The runs. Omit it to use the filters."
    )
    tags: Tags = Field(default=[], description="Tags to add or remove. Only for the actions tag and untag.")
    project: ProjectName | None = Field(
        default=None, description="Existing project that gets the runs. Only for the action move."
    )
    exclude: Annotated[list[Id], Field(max_length=MAX_EXCLUDED)] = Field(
        default=[], description="Matching runs to leave out."
    )
    up_to: Id | None = Field(
        default=None, description="Leave out runs with a higher id, such as runs made since the list was read."
    )

    @model_validator(mode="after")
    def _check_values(self) -> Self:
        if bool(self.tags) != (self.action in ("tag", "untag")):
            raise ValueError("the actions tag and untag need tags, and the others have none")
        if self.ids is not None and (self.exclude or self.up_to is not None):
            raise ValueError("exclude and up_to are for filters: leave runs out of ids instead")
        if (self.project is not None) != (self.action == "move"):
            raise ValueError("the action move needs a project, and the others have none")
        return self


class BulkAction(BaseModel):
    """A bulk action with its progress."""

    model_config = ConfigDict(from_attributes=True)

    id: int
    action: ManyRunsAction
    tags: list[str]
    project: str | None = Field(description="The project that gets the runs.")
    state: BulkState
    requested_by: str | None
    total: int = Field(description="Number of runs, or of those that matched when it was requested.")
    done: int
    skipped: int
    message: str | None = Field(description="Why it ended early, if nobody cancelled it.")
    may_edit: bool = Field(description="Whether you may cancel or undo it.")
    created_at: datetime
    finished_at: datetime | None


class Skipped(BaseModel):
    """A run that a bulk action did not change."""

    id: int
    reason: str


class SkippedRuns(BaseModel):
    """A part of the runs that a bulk action skipped, by their ids."""

    items: list[Skipped]
    total: int


class RefusedRuns(BaseModel):
    """Number of runs that do not allow an action for the same reason."""

    reason: str
    runs: int


class ActionCount(BaseModel):
    """How many runs allow an action, and why the others do not."""

    allowed: int
    refused: list[RefusedRuns]


class MatchingRuns(BaseModel):
    """The runs that match a filter, and how many of them allow each action."""

    runs: int
    newest: int | None = Field(description="Highest id, for `up_to`.")
    actions: dict[str, ActionCount] = Field(title="Action counts")


def count_actions(session: Session, filters: Filters) -> MatchingRuns:
    """Count the matching runs that allow each action, and on which the caller may do it."""
    has_key, is_archived = Run.reported_key.is_not(None), Run.archived_at.is_not(None)
    kinds = (Run.state, Run.desired, Run.origin, Run.project_id, has_key, is_archived)
    query = select(*kinds, func.count(), func.max(Run.id)).where(*filter_conditions(session, filters))
    rows = session.execute(query.group_by(*kinds)).all()
    counts: dict[str, dict[str | None, int]] = {action: {None: 0} for action in (*ACTIONS, "edit")}
    for state, desired, origin, project_id, key, archived, runs, _newest in rows:
        reasons = refusals(state, desired, origin, project_id, has_key=bool(key), archived=bool(archived)).model_dump()
        for action, found in counts.items():
            found[reasons[action]] = found.get(reasons[action], 0) + runs
    return MatchingRuns(
        runs=sum(row[6] for row in rows),
        newest=max((row[7] for row in rows), default=None),
        actions={action: _to_count(found) for action, found in counts.items()},
    )


def _to_count(runs_by_reason: dict[str | None, int]) -> ActionCount:
    refused = [RefusedRuns(reason=reason, runs=runs) for reason, runs in runs_by_reason.items() if reason is not None]
    return ActionCount(allowed=runs_by_reason[None], refused=sorted(refused, key=lambda each: -each.runs))


def start(session: Session, filters: Filters, request: StartBulkAction) -> tables.BulkAction:
    """List the runs for an action. Raise Conflict if too many actions are in progress."""
    if request.project is not None:
        projects.resolve(session, request.project)
    columns = {"tags": request.tags, "project": request.project}
    if request.ids is not None:
        if filters != Filters():
            raise Invalid(FieldError(field="ids", message="send either ids or filters in the query"))
        return _add(session, request.action, request.ids, **columns)
    wanted = select(Run.id).where(*filter_conditions(session, filters))
    if not current().everything:
        # Runs that the caller only sees are listed too, and skipped with the reason.
        wanted = wanted.where(Run.project_id.in_(current().projects))
    if request.exclude:
        wanted = wanted.where(Run.id.not_in(request.exclude))
    if request.up_to is not None:
        wanted = wanted.where(Run.id <= request.up_to)
    return _add(session, request.action, wanted, **columns)


def undo(session: Session, bulk: tables.BulkAction) -> tables.BulkAction:
    """Restore the runs that an action has archived, or the other way round. Raise Conflict if it cannot be undone."""
    if bulk.action not in OPPOSITES:
        raise Conflict(f"The bulk action {bulk.id} cannot be undone. Only archive and restore can.")
    if bulk.state == "running":
        raise Conflict(f"The bulk action {bulk.id} is still running. Cancel it first.")
    _require_right(session, bulk)
    handled = select(BulkActionRun.run_id).where(*_handled(bulk, skipped=False))
    return _add(session, OPPOSITES[bulk.action], handled)


def _add(session: Session, action: str, wanted: Select[int] | Sequence[int], **columns: Any) -> tables.BulkAction:
    table = tables.BulkAction
    session.execute(delete(table).where(table.finished_at < utc_now() - KEPT))
    unfinished = session.scalar(select(func.count()).select_from(table).where(table.state == "running")) or 0
    if unfinished >= MAX_UNFINISHED:
        raise Conflict(f"{unfinished} bulk actions are in progress. Wait until one has ended, or cancel one.")
    bulk = table(**{"action": action, "tags": [], "total": 0, "token_id": current().token_id, **columns})
    session.add(bulk)
    session.flush()
    with backend_rights(session):
        if isinstance(wanted, Select):
            listed = wanted.add_columns(literal(bulk.id))
            session.execute(insert(BulkActionRun).from_select(["run_id", "bulk_action_id"], listed))
        else:
            rows = [{"run_id": run_id, "bulk_action_id": bulk.id} for run_id in dict.fromkeys(wanted)]
            session.execute(insert(BulkActionRun), rows)
        counted = select(func.count()).select_from(BulkActionRun).where(BulkActionRun.bulk_action_id == bulk.id)
        bulk.total = session.scalar(counted) or 0
    record_bulk(session, bulk, "start")
    if bulk.total == 0:
        end(bulk, "done")
    announce(session, bulk)
    return bulk


def cancel(session: Session, bulk: tables.BulkAction) -> None:
    """End an action before its other runs. Raise Conflict if it has ended."""
    _require_right(session, bulk)
    if bulk.state == "cancelled":
        return
    if bulk.state != "running":
        raise Conflict(f"The bulk action {bulk.id} has already ended.")
    record_bulk(session, bulk, "cancel")
    end_early(session, bulk)


def end_early(session: Session, bulk: tables.BulkAction, message: str | None = None) -> None:
    end(bulk, "cancelled")
    bulk.message = message
    later = BulkActionRun.run_id > bulk.last_run_id
    with backend_rights(session):
        session.execute(delete(BulkActionRun).where(BulkActionRun.bulk_action_id == bulk.id, later))
    announce(session, bulk)


def _projects_of(session: Session, bulk: tables.BulkAction) -> Sequence[int]:
    """Return the projects of the runs that an action lists."""
    of_runs = select(Run.project_id).join(BulkActionRun, BulkActionRun.run_id == Run.id).distinct()
    with backend_rights(session):
        return session.scalars(of_runs.where(BulkActionRun.bulk_action_id == bulk.id)).all()


def _is_own(bulk: tables.BulkAction) -> bool:
    return bulk.person_id is not None and bulk.person_id == current().person_id


def _require_right(session: Session, bulk: tables.BulkAction) -> None:
    """Raise MissingRight unless the caller started an action, or is an editor in all projects that it changes."""
    for project_id in () if _is_own(bulk) else _projects_of(session, bulk):
        require(session, project_id, Role.EDITOR)


def to_schema(session: Session, bulk: tables.BulkAction) -> BulkAction:
    """Return a bulk action as the API shows it."""
    may_edit = _is_own(bulk) or not any(map(projects.why_not_editable, _projects_of(session, bulk)))
    same = BulkAction.model_fields.keys() - {"may_edit"}
    return BulkAction(**{name: getattr(bulk, name) for name in same}, may_edit=may_edit)


def find_bulk_action(session: Session, bulk_id: int, *, lock: bool = False) -> tables.BulkAction:
    """Return a bulk action, locked until the transaction ends if `lock` is True. Raise NotFound if there is none."""
    bulk = session.get(tables.BulkAction, bulk_id, with_for_update=True if lock else None)
    if bulk is None:
        raise NotFound(f"There is no bulk action {bulk_id}. They are kept for {KEPT.days} days.")
    return bulk


def _handled(bulk: tables.BulkAction, *, skipped: bool) -> list[ColumnElement[bool]]:
    of_kind = BulkActionRun.reason.is_not(None) if skipped else BulkActionRun.reason.is_(None)
    return [BulkActionRun.bulk_action_id == bulk.id, BulkActionRun.run_id <= bulk.last_run_id, of_kind]


def end(bulk: tables.BulkAction, state: BulkState) -> None:
    bulk.state, bulk.finished_at = state, utc_now()


def announce(session: Session, bulk: tables.BulkAction) -> None:
    after_commit(session, lambda: publish("bulk.changed", {"id": bulk.id}))


router = APIRouter(tags=["runs"])


@router.get("/run-actions")
def count_run_actions(db: Db, filters: RunFilters) -> MatchingRuns:
    """Count how many of the matching runs allow each action, and why the others do not."""
    with db.read() as session:
        return count_actions(session, filters)


@router.get("/bulk-actions")
def list_bulk_actions(db: Db) -> list[BulkAction]:
    """Return the latest bulk actions, newest first."""
    with db.read() as session:
        newest = select(tables.BulkAction).order_by(tables.BulkAction.id.desc()).limit(LISTED)
        return [to_schema(session, bulk) for bulk in session.scalars(newest).all()]


@router.post("/bulk-actions", status_code=201)
def start_bulk_action(db: Db, once: Idempotent, filters: RunFilters, request: StartBulkAction) -> BulkAction:
    """Apply an action to some runs, or to all that match the filters, which are those of `GET /runs`.

    The response comes at once, and `GET /bulk-actions/{bulk_id}?wait=finished` waits for the end. The server applies
    the action in batches, and continues after a restart. Runs that do not allow the action are skipped, and so are runs
    that you may not change then. Runs that match only later are not changed.
    """
    with once.write(db) as session:
        return once.store(session, to_schema(session, start(session, filters, request)))


async def wait_for_bulk_action(
    request: Request, bulk_id: PathId, wait: Wait = None, timeout: Timeout = DEFAULT_TIMEOUT
) -> None:
    """Wait until the action has ended, if requested."""

    def pending(session: Session) -> Topic | None:
        is_running = find_bulk_action(session, bulk_id).state == "running"
        return Topic(frozenset({"bulk.changed"}), {"id": bulk_id}) if is_running else None

    if wait is not None:
        await wait_while(pending, request, timeout)


@router.get("/bulk-actions/{bulk_id}", dependencies=[Depends(wait_for_bulk_action)])
def read_bulk_action(db: Db, bulk_id: PathId) -> BulkAction:
    """Return a bulk action with its progress, immediately or once it has ended."""
    with db.read() as session:
        return to_schema(session, find_bulk_action(session, bulk_id))


@router.get("/bulk-actions/{bulk_id}/skipped")
def list_skipped_runs(
    db: Db,
    bulk_id: PathId,
    after: Annotated[int, Query(ge=0, le=2**53, description="Return only runs with a higher id.")] = 0,
    limit: Annotated[int, Query(ge=1, le=1_000)] = 100,
) -> SkippedRuns:
    """Return the runs that a bulk action has skipped so far, with the reasons."""
    with db.read() as session:
        bulk = find_bulk_action(session, bulk_id)
        skipped = select(BulkActionRun).where(*_handled(bulk, skipped=True), BulkActionRun.run_id > after)
        rows = session.scalars(skipped.order_by(BulkActionRun.run_id).limit(limit))
        items = [Skipped(id=row.run_id, reason=row.reason or "") for row in rows]
        return SkippedRuns(items=items, total=bulk.skipped)


@router.post("/bulk-actions/{bulk_id}/cancel")
def cancel_bulk_action(db: Db, bulk_id: PathId) -> BulkAction:
    """End a bulk action. Runs that it has already changed stay changed."""
    with db.write() as session:
        bulk = find_bulk_action(session, bulk_id, lock=True)
        cancel(session, bulk)
        return to_schema(session, bulk)


@router.post("/bulk-actions/{bulk_id}/undo", status_code=201)
def undo_bulk_action(db: Db, once: Idempotent, bulk_id: PathId) -> BulkAction:
    """Restore the runs that a bulk action has archived, or archive those that it has restored."""
    with once.write(db) as session:
        bulk = find_bulk_action(session, bulk_id, lock=True)
        return once.store(session, to_schema(session, undo(session, bulk)))


log = logging.getLogger(__name__)

# Limits of one transaction, and a pause after it, in which others can write.
BATCH_SIZE, BATCH_SECONDS, PAUSE_SECONDS = 500, 0.2, 0.05
# How long the thread applies batches before it checks whether to stop, and how long it rests.
TURN_SECONDS, REST_SECONDS = 1.0, 0.25
# Pages fetch again what a notice about many runs may have changed.
NOTICE_SECONDS = 1.0


class BulkActionThread(BackgroundThread):
    """Background thread that applies bulk actions, a batch of each in turn. A batch holds the lock of its action."""

    def __init__(self, database: Database, doorbell: Doorbell) -> None:
        self._database, self._doorbell = database, doorbell
        super().__init__("bulk-actions", REST_SECONDS, self._work)
        self._failures = FailureLog(log)
        self._unpublished: set[tuple[str, int]] = set()
        self._published_at = -math.inf

    def _work(self) -> float:
        ends = time.monotonic() + TURN_SECONDS
        while self.run_once():
            if time.monotonic() > ends:
                return 0.0
            time.sleep(PAUSE_SECONDS)
        return math.inf

    def run_once(self) -> bool:
        """Apply the next batch of each unfinished action. Return True if there may be more. Log failures."""
        with self._failures.guard("Applying bulk actions"):
            with self._database.read() as session:
                unfinished = select(tables.BulkAction.id).where(tables.BulkAction.state == "running")
                ids = session.scalars(unfinished.order_by(tables.BulkAction.id)).all()
            for bulk_id in ids:
                self._apply(bulk_id)
            self._publish(is_last=not ids)
            return bool(ids)
        return False

    def _publish(self, *, is_last: bool) -> None:
        if self._unpublished and (is_last or time.monotonic() - self._published_at >= NOTICE_SECONDS):
            for name, project_id in sorted(self._unpublished):
                publish(name, {"project_id": project_id})
            self._unpublished, self._published_at = set(), time.monotonic()

    def _apply(self, bulk_id: int) -> None:
        """Apply a batch. If a run fails in an unexpected way, skip it, so that it does not stop the others."""
        for size in (BATCH_SIZE, 1):
            try:
                self._apply_batch(bulk_id, size)
            except DBAPIError:
                raise
            except Exception as error:
                self._failures.failed(f"A batch of bulk action {bulk_id} failed", error)
            else:
                return
        self._apply_batch(bulk_id, 1, failure="The server could not change this run. Its log says why.")

    def _apply_batch(self, bulk_id: int, size: int, failure: str | None = None) -> None:
        with self._database.write() as session:
            bulk = session.get(tables.BulkAction, bulk_id, with_for_update=True)
            if bulk is None or bulk.state != "running":
                return
            scope = _present_scope(session, bulk)
            if isinstance(scope, str):
                end_early(session, bulk, scope)
                return
            listed = select(BulkActionRun.run_id).where(BulkActionRun.bulk_action_id == bulk_id).limit(size)
            later = listed.where(BulkActionRun.run_id > bulk.last_run_id)
            ids = session.scalars(later.order_by(BulkActionRun.run_id)).all()
            affected = projects_of(session, "runs", ids)
            with announcing_together(session) as names:
                outcomes = dict.fromkeys(ids, failure) if failure else self._outcomes(session, scope, bulk, ids)
            _store(session, bulk, outcomes)
            affected |= projects_of(session, "runs", ids)
            after_commit(session, lambda: self._unpublished.update(product(names, affected)))

    def _outcomes(
        self, session: Session, scope: Scope, bulk: tables.BulkAction, ids: Sequence[int]
    ) -> dict[int, str | None]:
        """Apply the action as who requested it. Return for each handled run why it was skipped, or None."""
        with acting_as(scope):
            if bulk.action == "move":
                return _move(session, bulk.project or "", ids)
            outcomes = service.bulk(session, bulk.action, bulk.tags, ids, BATCH_SECONDS)  # type: ignore[arg-type]
            session.flush()
        if bulk.action == "resume":
            for run_id in (run_id for run_id, reason in outcomes.items() if reason is None):
                self._doorbell.ring_after_commit(session, find_run(session, run_id))
        return outcomes


def _present_scope(session: Session, bulk: tables.BulkAction) -> Scope | str:
    """Return what the person who started an action may do now, or why it has to end."""
    person = sign_in.person_of(session, bulk.person_id or 0)
    if person is None:
        return f"The account of {bulk.requested_by} was disabled."
    token = session.get(AccessToken, bulk.token_id) if bulk.token_id is not None else None
    if bulk.token_id is not None and (token is None or not is_valid(token.expires_at, token.revoked_at, utc_now())):
        return f"The token of {bulk.requested_by} that started it was revoked or has expired."
    return scope_of(session, person, token=token)


def _move(session: Session, project: str, ids: Sequence[int]) -> dict[int, str | None]:
    try:
        found = projects.find_project(session, projects.resolve(session, project))
    except Invalid:
        return dict.fromkeys(ids, f"There is no project {project}.")
    except MissingRight as error:
        return dict.fromkeys(ids, error.detail)
    outcomes: dict[int, str | None] = {run_id: f"There is no run {run_id}." for run_id in ids}
    for run_id, project_id in session.execute(select(Run.id, Run.project_id).where(Run.id.in_(ids))):
        reason = projects.why_not_editable(project_id)
        outcomes[run_id] = reason and f"Run {run_id}: {reason}"
    projects.move(session, found, MoveItems(runs=[each for each in ids if outcomes[each] is None]))
    return outcomes


def _store(session: Session, bulk: tables.BulkAction, outcomes: Mapping[int, str | None]) -> None:
    """Store the outcomes of a batch. The action is done if there are none."""
    reasons = {run_id: reason for run_id, reason in outcomes.items() if reason is not None}
    rows = [{"bulk_action_id": bulk.id, "run_id": run_id, "reason": reason} for run_id, reason in reasons.items()]
    if rows:
        session.execute(update(BulkActionRun), rows)
    bulk.skipped += len(rows)
    bulk.done += len(outcomes) - len(rows)
    bulk.last_run_id = max(outcomes, default=bulk.last_run_id)
    if bulk.done + bulk.skipped >= bulk.total or not outcomes:
        end(bulk, "done")
    announce(session, bulk)
