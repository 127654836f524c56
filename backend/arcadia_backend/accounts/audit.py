"""The audit log: who did what, when, from where and to what, written in the transaction of the change.

A listener records changes of the tables in `OBJECTS` that a person or a token makes, also the owner of an open
installation. Changes of workers and of the backend itself are not recorded. `record` adds entries of other actions,
such as a sign-in, and of statements that change many rows. Such a statement on one of these tables needs the option
AUDITED, or it is refused.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from typing import Any
from urllib.parse import urlsplit

from sqlalchemy import Connection, Engine, delete, event, func, insert, inspect, select
from sqlalchemy.orm import Session, UOWTransaction
from sqlalchemy.orm.util import identity_key

from arcadia_backend.accounts.roles import ROLE_NAMES, access_to_accounts
from arcadia_backend.database import tables
from arcadia_backend.database.columns import utc_now
from arcadia_backend.database.limits import changed_tables
from arcadia_backend.database.ownership import PROJECT_OF, AnyOf, Own, Through
from arcadia_backend.database.rights import projects_of
from arcadia_backend.database.scope import Scope, current, is_flushing
from arcadia_backend.database.tables import AuditEntry, Person

# Longer values are shortened.
MAX_TEXT = 1_000
# Refused sign-ins that are recorded in an hour: of one account, or of all unknown ones, and of those from one address.
MAX_REFUSED, MAX_REFUSED_FROM_ADDRESS = 100, 20
# Option of statements that change many rows of an audited table, whose entries the caller has added.
AUDITED = {"audited": True}
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
    tables.Run: AuditedObject(
        "run",
        ("name", "notes", "priority", "needs", "interruptible", "project_id", "desired", "archived_at", "tags"),
    ),
    tables.Study: AuditedObject("study", ("name", "question", "project_id", "state")),
    tables.Report: AuditedObject("report", ("title", "project_id", "version", "share_token"), name="title"),
    tables.Project: AuditedObject("project", ("name", "text", "pinned_report_id", "open_role", "executor")),
    tables.Board: AuditedObject("board", ("version",), name=None, identity="project_id"),
    tables.SavedView: AuditedObject("view", ("name", "query")),
    tables.Job: AuditedObject("job", ("desired",), name="kind"),
    tables.Artifact: AuditedObject("artifact", ("name", "project_id")),
    tables.ArtifactVersion: AuditedObject("artifact version", ("version", "details"), name=None),
    tables.ArtifactAlias: AuditedObject("artifact alias", ("version_id",), name="alias", identity="artifact_id"),
    tables.AliasChange: AuditedObject("alias", ("checkpoint_id", "run_id", "why")),
    tables.Replay: AuditedObject("replay", ("pinned",), name="file", records_new=False),
    tables.Checkpoint: AuditedObject("checkpoint", ("pinned",), name="file", records_new=False),
    tables.StartSet: AuditedObject("start points", ("name",)),
    tables.KeptGame: AuditedObject("kept game", (), name="env"),
    tables.AlertRule: AuditedObject("alert rule", ("enabled", "threshold", "rings"), name="kind", identity="kind"),
    tables.ScoreRule: AuditedObject("score rule", ("env", "score"), name="env"),
    tables.AlertChannel: AuditedObject("alert channel", ("name", "kind", "url", "secret", "kinds", "enabled")),
    tables.ExecutorSettings: AuditedObject("scheduler", ("settings",), name="executor", identity="executor"),
    tables.Worker: AuditedObject("worker", ("desired", "labels", "host_name"), identity="name", records_new=False),
    tables.Installation: AuditedObject("installation", ("executor",), name=None, records_new=False),
    tables.Person: AuditedObject("person", ("name", "email", "is_administrator", "disabled_at")),
    tables.Cap: AuditedObject("cap", ("max_runs", "core_hours", "gpu_hours"), name=None),
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
_AUDITED_TABLES: set[str] = {inspect(model).local_table.name for model in OBJECTS}
# Columns with the name of who launched it. They also have a column with the person.
_AUTHORS = {tables.Run: "launched_by", tables.Study: "started_by", tables.BulkAction: "requested_by"}
# Their values grant access. An entry says only that they are set.
_SECRET_FIELDS = ("share_token", "secret")


class UnrecordedChangeError(RuntimeError):
    """A statement that changes many rows of an audited table without an entry. It is an error of this program."""


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


def record_moves(session: Session, kind: str, before: Mapping[int, int], project_id: int) -> None:
    """Record that one statement moves items, in their projects before and after."""
    if _is_recorded(scope := current()):
        entries = [
            _entry(scope, "move", kind, each, "", project, {"project_id": old}, {"project_id": project_id})
            for each, old in before.items()
            if old != project_id
            for project in (old, project_id)
        ]
        _insert(session, entries)


def record_in(
    session: Session,
    projects: Iterable[int | None],
    action: str,
    kind: str,
    object_id: object,
    object_name: str,
    after: Mapping[str, Any] | None = None,
) -> None:
    """Record an action of a person or a token in each project that it touches. None is the installation."""
    if _is_recorded(scope := current()):
        named = (scope, action, kind, object_id, object_name)
        _insert(session, [_entry(*named, project, None, after) for project in projects])


def record_bulk(session: Session, bulk: tables.BulkAction, action: str) -> None:
    """Record that a bulk action starts or is cancelled, in the projects of its runs. Each changed run has its own."""
    run, listed = tables.Run, tables.BulkActionRun
    query = select(run.project_id, func.count()).join(listed, listed.run_id == run.id)
    for project, runs in session.execute(query.where(listed.bulk_action_id == bulk.id).group_by(run.project_id)).all():
        values = {"runs": runs, **({"tags": bulk.tags} if bulk.tags else {})}
        record_in(session, [project], action, "bulk action", bulk.id, bulk.action, values)


def record_refused(session: Session, person: Person | None, email: str, address: str) -> None:
    """Record a refused sign-in. Skip it beyond the limits of an hour, so that nobody can fill the disk."""
    kind, object_id, name = ("person", str(person.id), person.name) if person else ("unknown account", "", email)
    entry = AuditEntry
    same = (entry.kind == kind, entry.object_id == object_id, entry.action == "refuse sign-in")
    recent = select(func.count()).where(*same, entry.at > utc_now() - timedelta(hours=1))
    of_address = session.scalar(recent.where(entry.address == address[:100])) or 0
    if of_address < MAX_REFUSED_FROM_ADDRESS and (session.scalar(recent) or 0) < MAX_REFUSED:
        # Somebody may have typed a password into the wrong field.
        shown = name if person or "@" in name else ""
        # Nobody is named as who tried, even if the browser has a session.
        tried = Scope(everything=False, address=address)
        _insert(session, [_entry(tried, "refuse sign-in", kind, object_id, shown, None, None, None)])


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
    if entries:
        with access_to_accounts():
            session.connection().execute(insert(AuditEntry), entries)


def _is_recorded(scope: Scope) -> bool:
    """Return True for actions of a person, a token or a command, except of programs that report what happened."""
    is_known = bool(scope.name) or scope.person_id is not None
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
            setattr(row, column, scope.name[:100] or None)


@event.listens_for(Session, "after_flush")
def _record_changes(session: Session, _context: UOWTransaction) -> None:
    scope = current()
    if not _is_recorded(scope):
        return
    entries: list[dict[str, Any]] = []
    for row in session.new:
        spec = OBJECTS.get(type(row))
        if spec is not None and spec.records_new:
            entries += _of_row(session, scope, row, spec, "create", None, _values(row, spec))
        elif isinstance(row, tables.RunChange):
            entries.append(_of_settings(session, scope, row))
    for row in session.dirty:
        spec = OBJECTS.get(type(row))
        if spec is not None and (changed := _changes(row, spec)):
            before = {name: value[0] for name, value in changed.items()}
            after = {name: value[1] for name, value in changed.items()}
            entries += _of_row(session, scope, row, spec, _verb(row, changed), before, after)
    for row in session.deleted:
        spec = OBJECTS.get(type(row))
        if spec is not None:
            entries += _of_row(session, scope, row, spec, "delete", _values(row, spec), None)
    _insert(session, entries)


@event.listens_for(Engine, "before_cursor_execute")
def _refuse_unrecorded(
    _connection: Connection, _cursor: Any, statement: str, _parameters: Any, context: Any, _executemany: bool
) -> None:
    compiled = context.compiled
    is_read = compiled is not None and compiled.statement.is_select and not compiled.ctes
    # The other listeners record what a flush changes.
    if is_read or is_flushing() or context.execution_options.get("audited") or not _is_recorded(current()):
        return
    if wrong := changed_tables(statement) & _AUDITED_TABLES:
        raise UnrecordedChangeError(
            f"A statement changes {', '.join(sorted(wrong))} without an entry in the audit log. Add the entry, and run "
            f"the statement with the option AUDITED: {statement[:500]}"
        )


def _of_row(
    session: Session,
    scope: Scope,
    row: Any,
    spec: AuditedObject,
    action: str,
    before: Mapping[str, Any] | None,
    after: Mapping[str, Any] | None,
) -> Iterator[dict[str, Any]]:
    """Yield the entry of a changed row, and for a moved one also that of its project before."""
    name = str(_loaded(row, spec.name) or "") if spec.name else _name_of(session, row)
    named = spec.kind, _loaded(row, spec.identity), name
    if before and after and before.get("project_id") is not None:
        moved = {"project_id": before["project_id"]}, {"project_id": after["project_id"]}
        yield _entry(scope, "move", *named, before["project_id"], *moved)
    yield _entry(scope, action, *named, _project_of(session, row), before, after)


def _of_settings(session: Session, scope: Scope, change: tables.RunChange) -> dict[str, Any]:
    run = session.get(tables.Run, change.run_id)
    name, project = (run.name, run.project_id) if run is not None else ("", None)
    values = ({key: _plain(value) for key, value in each.items()} for each in (change.previous, change.fields))
    return _entry(scope, "change settings", "run", change.run_id, name, project, *values)


def _name_of(session: Session, row: Any) -> str:
    """Return a name for rows without one, such as: ana@example.org, editor."""
    if isinstance(row, tables.ProjectRole | tables.GroupMember):
        with access_to_accounts():
            person = session.get(Person, row.person_id) if row.person_id else None
            group = session.get(tables.PersonGroup, row.group_id) if row.group_id else None
        names = [each.name for each in (group, person) if each is not None]
        if isinstance(row, tables.ProjectRole):
            names.append(ROLE_NAMES[row.role])
        return ", ".join(names)
    return ""


def _project_of(session: Session, row: Any) -> int | None:
    """Return the project of an object, also over another one such as its run. None for objects of the installation."""
    way = PROJECT_OF[row.__tablename__]
    if (project := _loaded(row, way.column if isinstance(way, Own) else "project_id")) is not None:
        return int(project)
    for each in (way,) if isinstance(way, Through) else way.ways if isinstance(way, AnyOf) else ():
        if isinstance(each, Through) and (key := _loaded(row, each.column)) is not None:
            # A parent that was deleted too is only in the session.
            parent = session.identity_map.get(identity_key(_model_of(each.table), key))
            found = [_project_of(session, parent)] if parent is not None else projects_of(session, each.table, [key])
            return next(iter(found), None)
    return None


@cache
def _model_of(table: str) -> type[tables.Base]:
    return next(mapper.class_ for mapper in tables.Base.registry.mappers if mapper.class_.__tablename__ == table)


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
        if name == "tags":
            if history.added or history.deleted:
                kept = history.unchanged or ()
                changed[name] = tuple(_shown(name, [*kept, *(each or ())]) for each in (history.deleted, history.added))
        elif history.added and (before := history.deleted[0] if history.deleted else None) != history.added[0]:
            changed[name] = (_shown(name, before), _shown(name, history.added[0]))
    return changed


def _verb(row: Any, changed: Mapping[str, Any]) -> str:
    for name in changed:
        if (verb := _VERBS.get((type(row), name))) is not None:
            return verb(_loaded(row, name))
    return "move" if set(changed) == {"project_id"} else "change"


def _shown(name: str, value: Any) -> Any:
    if value is None:
        return None
    if name in _SECRET_FIELDS:
        return "secret"
    if name == "url":
        # The rest may contain a secret, as the addresses of Slack do.
        parts = urlsplit(value)
        return f"{parts.scheme}://{(parts.hostname or '') if parts.scheme in ('http', 'https') else ''}…"
    if name == "tags":
        return sorted(each.tag for each in value)
    if name in ("role", "open_role"):
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
