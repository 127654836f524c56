"""Background thread that applies bulk actions, with the present rights of the person who started each."""

import logging
import math
import time
from collections.abc import Mapping, Sequence
from itertools import product

from sqlalchemy import select, update
from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import Session

from arcadia_backend.accounts import sign_in
from arcadia_backend.accounts.roles import is_valid, scope_of
from arcadia_backend.database import tables
from arcadia_backend.database.columns import utc_now
from arcadia_backend.database.engine import Database, after_commit
from arcadia_backend.database.rights import MissingRight, projects_of
from arcadia_backend.database.scope import Scope, acting_as
from arcadia_backend.database.tables import AccessToken, BulkActionRun, Run
from arcadia_backend.doorbell import Doorbell
from arcadia_backend.errors import Invalid
from arcadia_backend.failure_log import FailureLog
from arcadia_backend.live.background import BackgroundThread
from arcadia_backend.live.notices import publish
from arcadia_backend.projects import service as projects
from arcadia_backend.projects.schemas import MoveItems
from arcadia_backend.runs import service
from arcadia_backend.runs.bulk import announce, end, end_early
from arcadia_backend.runs.states import announcing_together
from arcadia_backend.web.lookup import find_run

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
