"""The gate for writes: every kind of statement on every table that has projects, by actors who may not write there."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import pytest
from sqlalchemy import Table, cast, delete, insert, literal, select, text, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Mapper, Session

from arcadia_backend.accounts import audit
from arcadia_backend.database.engine import CheckedSession
from arcadia_backend.database.limits import Gate
from arcadia_backend.database.ownership import LIMITED
from arcadia_backend.database.rights import MissingRight, UnlimitedQueryError, may_edit, name_of
from arcadia_backend.database.scope import BACKEND, NOBODY, Role, Scope, acting_as
from arcadia_backend.database.tables import Base, LogLine, Project, ProjectRole, Run, RunTag, SavedView
from tests.accounts.lab import Lab, Side

MAPPERS = {name_of(mapper): mapper for mapper in Base.registry.mappers if name_of(mapper) in LIMITED}
# The lab has no rows of these.
WITHOUT_ROWS = {"alert_deliveries", "event_digests", "measurements"}

Write = Callable[[Session, Mapper[Any], Any], None]


def actors(lab: Lab) -> dict[str, Scope]:
    """Return actors who may not write in the lab's own project."""
    viewer, elsewhere = {lab.own.project_id: Role.VIEWER}, {lab.other.project_id: Role.ADMINISTRATOR}
    return {
        "viewer": Scope(everything=False, projects=viewer, person_id=1),
        "administrator elsewhere": Scope(everything=False, projects={**viewer, **elsewhere}, person_id=1),
        "administrator of a hidden project": Scope(everything=False, projects=elsewhere, person_id=1),
        "nobody": NOBODY,
    }


def table_of(mapper: Mapper[Any]) -> Table:
    table: Any = mapper.local_table
    return table  # type: ignore[no-any-return]


def a_column(mapper: Mapper[Any]) -> Any:
    """Return a column that decides nothing, if possible one that may be empty."""
    columns = [column for column in table_of(mapper).c if not column.primary_key and not column.foreign_keys]
    return ([column for column in columns if column.nullable] or columns or [*table_of(mapper).c])[0]


def is_row(mapper: Mapper[Any], row: Any) -> list[Any]:
    """Return the conditions for a row by its key."""
    return [column == row._mapping[column.name] for column in table_of(mapper).primary_key]


def values_of(mapper: Mapper[Any], row: Any) -> dict[str, Any]:
    return {mapper.get_property_by_column(column).key: row._mapping[column.name] for column in table_of(mapper).c}


def change_unit(session: Session, mapper: Mapper[Any], row: Any) -> None:
    with acting_as(BACKEND):
        loaded = session.scalars(select(mapper.class_).where(*is_row(mapper, row))).one()
    column = mapper.get_property_by_column(a_column(mapper)).key
    setattr(loaded, column, getattr(loaded, column))
    from sqlalchemy.orm.attributes import flag_modified

    flag_modified(loaded, column)
    session.flush()


def delete_unit(session: Session, mapper: Mapper[Any], row: Any) -> None:
    with acting_as(BACKEND):
        loaded = session.scalars(select(mapper.class_).where(*is_row(mapper, row))).one()
    session.delete(loaded)
    session.flush()


def add_unit(session: Session, mapper: Mapper[Any], row: Any) -> None:
    session.add(mapper.class_(**values_of(mapper, row)))
    session.flush()


def change(column: Any) -> dict[Any, Any]:
    return {column: literal(None, column.type)}


WRITES: dict[str, Write] = {
    "unit that changes": change_unit,
    "unit that deletes": delete_unit,
    "unit that adds": add_unit,
    "ORM update": lambda s, m, r: void(
        s.execute(update(m.class_).where(*is_row(m, r)).values(change(a_column(m)))),
    ),
    "ORM update of all": lambda s, m, _r: void(
        s.execute(update(m.class_).values(change(a_column(m))), execution_options={"synchronize_session": False}),
    ),
    "ORM update by key": lambda s, m, r: void(s.execute(update(m.class_), [values_of(m, r)])),
    "ORM delete": lambda s, m, r: void(s.execute(delete(m.class_).where(*is_row(m, r)))),
    "ORM insert": lambda s, m, r: void(s.execute(insert(m.class_).values(values_of(m, r)))),
    "ORM insert of several": lambda s, m, r: void(s.execute(insert(m.class_), [values_of(m, r)])),
    "ORM insert of a list": lambda s, m, r: void(s.execute(insert(m.class_).values([values_of(m, r)]))),
    "ORM insert from a select": lambda s, m, r: void(
        s.execute(
            insert(m.class_).from_select(
                [column.name for column in table_of(m).c],
                # PostgreSQL takes a parameter without a cast for text.
                select(*(cast(literal(r._mapping[column.name], column.type), column.type) for column in table_of(m).c)),
            )
        )
    ),
    "bulk mappings": lambda s, m, r: s.bulk_update_mappings(m, [values_of(m, r)]),
    "bulk inserts": lambda s, m, r: s.bulk_insert_mappings(m, [values_of(m, r)]),
    "update": lambda s, m, r: void(s.execute(update(table_of(m)).where(*is_row(m, r)).values(change(a_column(m))))),
    "delete": lambda s, m, r: void(s.execute(delete(table_of(m)).where(*is_row(m, r)))),
    "insert": lambda s, m, r: void(s.execute(insert(table_of(m)), [dict(r._mapping)])),
    "update of the connection": lambda s, m, _r: void(
        s.connection().execute(update(table_of(m)).values(change(a_column(m))))
    ),
    "delete of the connection": lambda s, m, _r: void(s.connection().execute(delete(table_of(m)))),
    "insert of the connection": lambda s, m, r: void(s.connection().execute(insert(table_of(m)), [dict(r._mapping)])),
    "text that updates": lambda s, m, _r: void(
        s.execute(text(f"UPDATE {table_of(m).name} SET {a_column(m).name} = NULL"))  # noqa: S608 - our own names
    ),
    "text that deletes": lambda s, m, _r: void(s.execute(text(f'DELETE FROM "{table_of(m).name}"'))),  # noqa: S608
    "text of the driver": lambda s, m, _r: void(
        s.connection().exec_driver_sql(f"/* x */ DELETE FROM {table_of(m).name}")  # noqa: S608 - our own names
    ),
    "text that hides in a query": lambda s, m, _r: void(
        s.execute(text(f"WITH gone AS (SELECT 1) DELETE FROM {table_of(m).name}"))  # noqa: S608 - our own names
    ),
    "text that drops": lambda s, m, _r: void(s.execute(text(f"DROP TABLE {table_of(m).name}"))),
}


ADDITIONS = [kind for kind in WRITES if "insert" in kind or "adds" in kind]


def void(_result: object) -> None:
    """Return nothing for a statement."""


def rows_of(session: Session, mapper: Mapper[Any]) -> list[Any]:
    table = table_of(mapper)
    with acting_as(BACKEND):
        return [*session.connection().execute(select(table).order_by(*table.primary_key))]


@contextmanager
def undone(lab: Lab) -> Iterator[Session]:
    """Yield a session whose changes are undone."""
    with CheckedSession(lab.database._writer, expire_on_commit=False) as session:
        session.connection()
        yield session
        session.rollback()


def of_own(lab: Lab, mapper: Mapper[Any], rows: list[Any]) -> Any:
    """Return the row of the lab's own project."""
    if name_of(mapper) in ("run_settings", "project_roles"):
        column, value = (
            ("run_id", lab.own.ids["runs"]) if name_of(mapper) == "run_settings" else ("project_id", lab.own.project_id)
        )
        return next(row for row in rows if row._mapping[column] == value)
    if name_of(mapper) == "provenance_documents":
        return next(row for row in rows if row._mapping["content"].startswith(lab.own.secret))
    wanted = lab.own.ids[name_of(mapper)]
    keys = [column.name for column in table_of(mapper).primary_key]
    by_key = {tuple(row._mapping[key] for key in keys): row for row in rows}
    return by_key[wanted if isinstance(wanted, tuple) else (wanted,)]


@pytest.fixture(autouse=True)
def _without_log(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let statements without an entry in the audit log reach the gate."""
    monkeypatch.setattr(audit, "_is_recorded", lambda _scope: False)


@pytest.mark.parametrize("name", sorted(MAPPERS.keys() - WITHOUT_ROWS))
def test_no_statement_writes_rows_of_another_project(lab: Lab, name: str) -> None:
    mapper = MAPPERS[name]
    for actor, scope in actors(lab).items():
        for kind, write in WRITES.items():
            with undone(lab) as session:
                before = rows_of(session, mapper)
                row = of_own(lab, mapper, before)
                # All rows that an actor may write cannot always have an empty column.
                expected = (IntegrityError,) if kind == "ORM update of all" else ()
                with acting_as(scope), suppress(MissingRight, UnlimitedQueryError, *expected), session.begin_nested():
                    write(session, mapper, row)
                after = [repr(each) for each in rows_of(session, mapper)]
                assert repr(row) in after, f"{kind} on {name} by {actor} changed a row"
                if kind in ADDITIONS:
                    assert len(after) == len(before), f"{kind} on {name} by {actor} added a row"


def editor(lab: Lab) -> Scope:
    """Return an editor of the lab's own project, who only views the other one."""
    return Scope(everything=False, projects={lab.own.project_id: Role.EDITOR, lab.other.project_id: Role.VIEWER})


def moved_unit(session: Session, run_id: int, project: int) -> None:
    session.get_one(Run, run_id).project_id = project
    session.flush()


def rekeyed_unit(session: Session, run_id: int, other_run: int) -> None:
    line = session.scalars(select(LogLine).where(LogLine.run_id == run_id)).one()
    line.run_id = other_run
    session.flush()


MOVES: dict[str, Callable[[Session, Side, Side], Any]] = {
    "unit": lambda s, own, other: moved_unit(s, own.ids["runs"], other.project_id),
    "unit of a part": lambda s, own, other: rekeyed_unit(s, own.ids["runs"], other.ids["runs"]),
    "update": lambda s, _own, other: s.execute(update(Run).values(project_id=other.project_id)),
    "update by a name": lambda s, _own, other: s.execute(update(Run).values({"project_id": other.project_id})),
    "update of a part": lambda s, _own, other: s.execute(update(LogLine).values(run_id=other.ids["runs"])),
    "update to nothing": lambda s, _own, _other: s.execute(update(LogLine).values(run_id=None)),
    "computed": lambda s, _own, _other: s.execute(update(Run).values(project_id=Run.project_id + 1)),
    "selected": lambda s, _own, other: s.execute(
        update(Run).values(project_id=select(Project.id).where(Project.id == other.project_id).scalar_subquery())
    ),
    "insert": lambda s, _own, other: s.execute(insert(RunTag).values(run_id=other.ids["runs"], tag="x")),
    "insert by default": lambda s, _own, _other: s.execute(insert(SavedView).values(name="x", name_key="x", query="")),
    "insert of several": lambda s, own, other: s.execute(
        insert(RunTag), [{"run_id": each.ids["runs"], "tag": "x"} for each in (own, other)]
    ),
    "role": lambda s, own, _other: s.execute(
        insert(ProjectRole).values(project_id=own.project_id, person_id=1, role=3)
    ),
}


@pytest.mark.parametrize("move", MOVES)
def test_no_statement_moves_a_row_into_a_project_without_the_right(lab: Lab, move: str) -> None:
    with undone(lab) as session, acting_as(editor(lab)), pytest.raises((MissingRight, UnlimitedQueryError)):
        MOVES[move](session, lab.own, lab.other)


def test_an_insert_from_a_select_adds_only_rows_of_editable_projects(lab: Lab) -> None:
    columns = ["run_id", "tag"]
    with undone(lab) as session:
        with acting_as(editor(lab)):
            session.execute(insert(RunTag).from_select(columns, select(Run.id, literal("x")).where(may_edit(Run))))
            with pytest.raises(UnlimitedQueryError):
                session.execute(insert(RunTag).from_select(columns, select(Run.id, literal("y"))))
        assert [*session.scalars(select(RunTag.run_id).where(RunTag.tag == "x"))] == [lab.own.ids["runs"]]


def test_a_role_changes_what_it_may(lab: Lab) -> None:
    renamed, described = update(Run).values(name="new"), update(Project).values(text="new")
    for role, runs, projects in ((Role.VIEWER, 0, 0), (Role.EDITOR, 1, 0), (Role.ADMINISTRATOR, 1, 1)):
        scope = Scope(everything=False, projects={lab.own.project_id: role})
        with undone(lab) as session, acting_as(scope):
            counts = [session.execute(each).rowcount for each in (renamed, described)]  # type: ignore[attr-defined]
        assert counts == [runs, projects], role


@pytest.mark.parametrize(
    ("statement", "unlimited", "changed"),
    [
        ("UPDATE runs SET name=? WHERE runs.project_id IN (__[POSTCOMPILE_rights_runs])", set(), {"runs"}),
        ("UPDATE runs SET name=?", {"runs"}, {"runs"}),
        ("DELETE FROM log_lines WHERE 1", {"log_lines"}, {"log_lines"}),
        ("DELETE FROM people USING runs", {"runs"}, set()),
        ("INSERT INTO runs (name) VALUES (?)", set(), {"runs"}),
        ("INSERT INTO runs (name) VALUES (?) ON CONFLICT (id) DO UPDATE SET name = ?", {"runs"}, {"runs"}),
        ("INSERT OR REPLACE INTO runs (name) VALUES (?)", {"runs"}, {"runs"}),
        ("WITH x AS (DELETE FROM runs RETURNING id) SELECT 1", {"runs"}, {"runs"}),
        ("SELECT 1 FROM people FOR UPDATE", set(), set()),
        ("UPDATE people SET name=?", set(), set()),
    ],
)
def test_the_tables_that_a_statement_changes_are_found(statement: str, unlimited: set[str], changed: set[str]) -> None:
    gate = Gate.of(statement)
    assert ({*gate.unlimited}, {*gate.changed}) == (unlimited, changed)
