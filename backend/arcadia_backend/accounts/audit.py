"""The audit log: who did what, when, from where and to what, written in the transaction of the change.

A listener records changes of the tables in `OBJECTS` that a person or a token makes, also the owner of an open
installation. Changes of workers and of the backend itself are not recorded. `record` adds entries of other actions,
such as a sign-in.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import delete, event, insert, inspect
from sqlalchemy.orm import Session, UOWTransaction

from arcadia_backend.accounts.roles import ROLE_NAMES, backend_rights
from arcadia_backend.database import tables
from arcadia_backend.database.columns import utc_now
from arcadia_backend.database.scope import Scope, current
from arcadia_backend.database.tables import AuditEntry, Person

# Longer values are shortened.
MAX_TEXT = 1_000
# Scopes with which programs report what happened. Their changes are not actions of a person.
REPORTING = frozenset({"log", "worker"})


@dataclass(frozen=True)
class AuditedObject:
    """How changes of a table are recorded.

    kind         noun of the object
    fields       columns whose old and new values are recorded. A change of others is not.
    name         column with the object's name
    identity     column with its id
    records_new  False for rows that a job adds
    """

    kind: str
    fields: tuple[str, ...] = ()
    name: str | None = "name"
    identity: str = "id"
    records_new: bool = True


OBJECTS: Mapping[type, AuditedObject] = {
    tables.Run: AuditedObject("run", ("name", "notes", "priority", "project_id", "desired", "archived_at")),
    tables.Study: AuditedObject("study", ("name", "question", "project_id", "state")),
    tables.Report: AuditedObject("report", ("title", "project_id", "version", "share_token"), name="title"),
    tables.Project: AuditedObject("project", ("name", "text", "pinned_report_id", "open_role", "executor")),
    tables.Board: AuditedObject("board", ("version",), name=None, identity="project_id"),
    tables.SavedView: AuditedObject("view", ("name", "query")),
    # Each run that it changes has an entry.
    tables.BulkAction: AuditedObject("bulk action", ("action", "tags", "project"), name="action"),
    tables.Job: AuditedObject("job", ("desired",), name="kind"),
    tables.Artifact: AuditedObject("artifact", ("name", "project_id")),
    tables.ArtifactVersion: AuditedObject("artifact version", ("details",), name=None),
    tables.AliasChange: AuditedObject("alias", ("checkpoint_id", "run_id", "why")),
    tables.Replay: AuditedObject("replay", ("pinned",), name="file", records_new=False),
    tables.Checkpoint: AuditedObject("checkpoint", (), name="file", records_new=False),
    tables.StartSet: AuditedObject("start points", ("name",)),
    tables.KeptGame: AuditedObject("kept game", (), name="env"),
    tables.AlertRule: AuditedObject("alert rule", ("enabled", "threshold", "rings"), name="kind", identity="kind"),
    tables.ScoreRule: AuditedObject("score rule", ("env", "score"), name="env"),
    # Its address and its secret stay out of the log.
    tables.AlertChannel: AuditedObject("alert channel", ("name", "kind", "kinds", "enabled")),
    tables.ExecutorSettings: AuditedObject("scheduler", ("settings",), name="executor", identity="executor"),
    tables.Installation: AuditedObject("installation", ("executor",), name=None, records_new=False),
    tables.Person: AuditedObject("person", ("name", "email", "is_administrator", "disabled_at")),
    tables.PersonGroup: AuditedObject("group", ("name",)),
    tables.GroupMember: AuditedObject("group member", name=None, identity="group_id"),
    tables.ProjectRole: AuditedObject("role", ("role",), name=None),
    tables.AccessToken: AuditedObject("token", ("name", "scopes", "project_id", "expires_at", "revoked_at")),
}
# Verbs for changes that have their own. A changed column with this value is this action.
_VERBS: Mapping[tuple[type, str], Callable[[Any], str]] = {
    (tables.Run, "desired"): lambda value: {"run": "resume"}.get(value, value),
    (tables.Run, "archived_at"): lambda value: "restore" if value is None else "archive",
    (tables.Job, "desired"): lambda value: "cancel" if value != "run" else "resume",
    (tables.Person, "disabled_at"): lambda value: "enable" if value is None else "disable",
    (tables.AccessToken, "revoked_at"): lambda _value: "revoke",
}
# Columns with the name of who launched it. They also have a column with the person.
_AUTHORS = {tables.Run: "launched_by", tables.Study: "started_by", tables.BulkAction: "requested_by"}
# The secret of a shared link grants access.
_SECRET_FIELDS = ("share_token",)


def record(
    session: Session,
    action: str,
    kind: str,
    object_id: object,
    object_name: str = "",
    *,
    by: Person | None = None,
    address: str | None = None,
    project_id: int | None = None,
    before: Mapping[str, Any] | None = None,
    after: Mapping[str, Any] | None = None,
) -> None:
    """Record an action of the caller, or of a person who is about to sign in."""
    scope = current()
    entry = _entry(scope, action, kind, object_id, object_name, project_id, before, after)
    if by is not None:
        entry |= {"person_id": by.id, "name": by.name}
    if address is not None:
        entry["address"] = address[:100]
    _insert(session, [entry])


def record_moves(session: Session, kind: str, ids: Sequence[int], project_id: int) -> None:
    """Record that one statement moved items into a project."""
    if ids and _is_recorded(scope := current()):
        after = {"project_id": project_id}
        _insert(session, [_entry(scope, "move", kind, each, "", project_id, None, after) for each in ids])


def _entry(
    scope: Scope,
    action: str,
    kind: str,
    object_id: object,
    object_name: str,
    project_id: int | None,
    before: Mapping[str, Any] | None,
    after: Mapping[str, Any] | None,
) -> dict[str, Any]:
    return {
        "at": utc_now(),
        "person_id": scope.person_id,
        # The owner of an open installation has no name.
        "name": (scope.name or (scope.caller if scope.everything else ""))[:100],
        "token_id": scope.token_id,
        "address": scope.address[:100],
        "action": action,
        "kind": kind,
        "object_id": str(object_id)[:100],
        "object_name": object_name[:320],
        "project_id": project_id,
        "before": dict(before) if before else None,
        "after": dict(after) if after else None,
    }


def _insert(session: Session, entries: list[dict[str, Any]]) -> None:
    with backend_rights():
        session.connection().execute(insert(AuditEntry), entries)


def _is_recorded(scope: Scope) -> bool:
    """Return True for actions of a person or of a token, except of programs that report what happened."""
    is_known = scope.person_id is not None or scope.token_id is not None
    return is_known and scope.attempt is None and not (scope.scopes and scope.scopes <= REPORTING)


@event.listens_for(Session, "before_flush")
def _name_authors(session: Session, _context: UOWTransaction, _instances: object) -> None:
    """Name the caller in what they launch."""
    scope = current()
    if scope.person_id is None:
        return
    for row in session.new:
        column = _AUTHORS.get(type(row))
        if column is not None and row.person_id is None:
            row.person_id = scope.person_id
            setattr(row, column, scope.name[:100])


@event.listens_for(Session, "after_flush")
def _record_changes(session: Session, _context: UOWTransaction) -> None:
    scope = current()
    if not _is_recorded(scope):
        return
    entries = []
    for row in session.new:
        spec = OBJECTS.get(type(row))
        if spec is not None and spec.records_new:
            entries.append(_of_row(session, scope, row, spec, "create", None, _values(row, spec)))
        elif isinstance(row, tables.RunChange):
            entries.append(_of_settings(session, scope, row))
    for row in session.dirty:
        spec = OBJECTS.get(type(row))
        if spec is not None and (changed := _changes(row, spec)):
            before = {name: value[0] for name, value in changed.items()}
            after = {name: value[1] for name, value in changed.items()}
            entries.append(_of_row(session, scope, row, spec, _verb(row, changed), before, after))
    for row in session.deleted:
        spec = OBJECTS.get(type(row))
        if spec is not None:
            entries.append(_of_row(session, scope, row, spec, "delete", _values(row, spec), None))
    if entries:
        _insert(session, entries)


def _of_row(
    session: Session,
    scope: Scope,
    row: Any,
    spec: AuditedObject,
    action: str,
    before: Mapping[str, Any] | None,
    after: Mapping[str, Any] | None,
) -> dict[str, Any]:
    name = str(_loaded(row, spec.name) or "") if spec.name else _name_of(session, row)
    identity, project = _loaded(row, spec.identity), _project_of(session, row)
    return _entry(scope, action, spec.kind, identity, name, project, before, after)


def _of_settings(session: Session, scope: Scope, change: tables.RunChange) -> dict[str, Any]:
    run = session.get(tables.Run, change.run_id)
    name, project = (run.name, run.project_id) if run is not None else ("", None)
    values = ({key: _plain(value) for key, value in each.items()} for each in (change.previous, change.fields))
    return _entry(scope, "change settings", "run", change.run_id, name, project, *values)


def _name_of(session: Session, row: Any) -> str:
    """Return a name for rows without one, such as: ana@example.org, editor."""
    if isinstance(row, tables.ProjectRole | tables.GroupMember):
        with backend_rights():
            person = session.get(Person, row.person_id) if row.person_id else None
            group = session.get(tables.PersonGroup, row.group_id) if row.group_id else None
        names = [each.name for each in (group, person) if each is not None]
        if isinstance(row, tables.ProjectRole):
            names.append(ROLE_NAMES[row.role])
        return ", ".join(names)
    return ""


def _project_of(session: Session, row: Any) -> int | None:
    """Return the project of an object, also over its run. None for objects of the installation."""
    if isinstance(row, tables.Project):
        return row.id
    if (project := _loaded(row, "project_id")) is not None:
        return int(project)
    run_id = _loaded(row, "run_id")
    # Not from the session: a deleted row must not be loaded again.
    if run_id is not None and not isinstance(row, tables.AccessToken):
        run = session.identity_map.get(inspect(tables.Run).identity_key_from_primary_key((run_id,)))
        if run is not None:
            return int(run.project_id)
        with backend_rights():
            query = tables.Run.__table__.select().with_only_columns(tables.Run.project_id)
            return session.connection().execute(query.where(tables.Run.id == run_id)).scalar()
    return None


def _loaded(row: Any, name: str) -> Any:
    """Return a column's value without a query. Columns that were not loaded are None."""
    return inspect(row).dict.get(name)


def _values(row: Any, spec: AuditedObject) -> dict[str, Any]:
    known = {name: _shown(name, _loaded(row, name)) for name in spec.fields}
    return {name: value for name, value in known.items() if value not in (None, "", [])}


def _changes(row: Any, spec: AuditedObject) -> dict[str, tuple[Any, Any]]:
    changed = {}
    attributes = inspect(row).attrs
    for name in spec.fields:
        history = attributes[name].history
        if history.added and (before := history.deleted[0] if history.deleted else None) != history.added[0]:
            changed[name] = (_shown(name, before), _shown(name, history.added[0]))
    return changed


def _verb(row: Any, changed: Mapping[str, Any]) -> str:
    for name in changed:
        if (verb := _VERBS.get((type(row), name))) is not None:
            return verb(_loaded(row, name))
    return "move" if set(changed) == {"project_id"} else "change"


def _shown(name: str, value: Any) -> Any:
    if name in _SECRET_FIELDS:
        return None if value is None else "secret"
    if name in ("role", "open_role") and value is not None:
        return ROLE_NAMES[value]
    return _plain(value)


def _plain(value: Any) -> Any:
    """Return a value that JSON can store. Long texts are shortened."""
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, str) and len(value) > MAX_TEXT:
        return value[: MAX_TEXT - 1] + "…"
    return value


def delete_old(session: Session, now: datetime, days: int) -> None:
    """Delete entries that are older than the retention. It is recorded like any other change."""
    session.execute(delete(AuditEntry).where(AuditEntry.at < now - timedelta(days=days)))
