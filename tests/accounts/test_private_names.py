"""Private names of SQLAlchemy and FastAPI on which rights depend.

A failure here after an upgrade means that statements or routes may pass unchecked. Find the new name, and then raise
the upper bound of the package in pyproject.toml.
"""

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from fastapi import APIRouter, FastAPI
from sqlalchemy import event, insert, select, update
from sqlalchemy.dialects import sqlite
from sqlalchemy.orm import LoaderCriteriaOption, Session
from sqlalchemy.orm.interfaces import CriteriaOption
from sqlalchemy.sql import util
from sqlalchemy.sql.visitors import InternalTraversal

from arcadia_backend.database import rights
from arcadia_backend.database.engine import Database
from arcadia_backend.database.rights import RightsOption, TableCriterion
from arcadia_backend.database.scope import Role, Scope, acting_as
from arcadia_backend.database.tables import Run, RunTag
from arcadia_backend.web.doors import list_doors, routes_of

ROOT = Path(__file__).parents[2]
rights.prepare()


def test_options_and_criteria_override_names_that_sqlalchemy_calls() -> None:
    for name in ("process_compile_state", "process_compile_state_replaced_entities"):
        assert callable(getattr(CriteriaOption, name)), name
        assert name in vars(RightsOption), name
    for name in ("get_global_criteria", "_resolve_where_criteria"):
        assert callable(getattr(LoaderCriteriaOption, name)), name
    assert "_resolve_where_criteria" in vars(TableCriterion)
    assert hasattr(InternalTraversal, "dp_string")
    assert hasattr(CriteriaOption, "_cache_key_traversal")
    assert callable(util._deep_annotate)


def test_the_values_of_statements_are_where_the_gate_reads_them() -> None:
    single, several = insert(RunTag).values(run_id=7, tag="x"), insert(RunTag).values([{"run_id": 7, "tag": "x"}])
    changed: Any = update(RunTag).values(run_id=7)
    for statement in (single, changed):
        named = {column.key: value.value for column, value in statement._values.items()}  # type: ignore[union-attr]
        assert named["run_id"] == 7
    [row] = [row for rows in several._multi_values for row in rows]
    assert isinstance(row, dict)
    assert {getattr(name, "key", name): value for name, value in row.items()}["run_id"] == 7
    copied = insert(RunTag).from_select(["run_id", "tag"], select(Run.id, Run.name))
    assert (copied._select_names, copied.select is not None) == (["run_id", "tag"], True)


def test_a_refresh_is_recognized(database: Database) -> None:
    seen: list[object] = []

    def look(state: Any) -> None:
        seen.append(state.load_options._refresh_state)

    with database.write() as session:
        run = Run(name="x", algorithm="paac", env="CartPole-v1", config={})
        session.add(run)
        session.flush()
        event.listen(session, "do_orm_execute", look)
        session.scalars(select(Run)).all()
        session.refresh(run)
        assert seen[0] is None
        assert any(seen)
        session.rollback()


def test_lists_of_parameters_keep_their_names_in_compiled_text(database: Database) -> None:
    scope = Scope(everything=False, projects={1: Role.VIEWER})
    texts: list[str] = []

    def look(_connection: Any, _cursor: Any, _text: str, _parameters: Any, context: Any, _many: bool) -> None:
        texts.append(str(context.compiled.string))

    with acting_as(scope), database.read() as session:
        event.listen(session.connection(), "before_cursor_execute", look)
        session.execute(select(Run.id))
    assert "POSTCOMPILE_rights_runs" in texts[-1]
    assert "POSTCOMPILE" in str(select(Run.id).where(Run.id.in_([1])).compile(dialect=sqlite.dialect()).string)


def test_a_flush_of_any_origin_calls_the_public_method(database: Database) -> None:
    calls: list[str] = []

    class Watched(Session):
        def flush(self, objects: Any = None) -> None:
            calls.append("flush")
            super().flush(objects)

    with Watched(database._writer) as session:
        session.add(Run(name="x", algorithm="paac", env="CartPole-v1", config={}))
        session.scalars(select(Run)).all()
        assert calls, "an autoflush"
        calls.clear()
        with session.begin_nested():
            session.add(Run(name="y", algorithm="paac", env="CartPole-v1", config={}))
        assert calls, "the end of a savepoint"
        session.rollback()


def test_routes_of_included_routers_and_of_late_pages_are_listed() -> None:
    app, router, inner = FastAPI(openapi_url=None, docs_url=None, redoc_url=None), APIRouter(), APIRouter()

    @inner.get("/inner")
    def read() -> None: ...

    @inner.websocket("/socket")
    async def talk() -> None: ...

    router.include_router(inner, prefix="/outer")
    app.include_router(router, prefix="/api")
    assert isinstance(app.router._low_priority_routes, list)
    assert {("GET", "/api/outer/inner"), ("SOCKET", "/api/outer/socket")} <= {*list_doors(routes_of(app))}


@pytest.mark.parametrize("package", ["fastapi", "sqlalchemy"])
def test_the_requirement_has_an_upper_bound(package: str) -> None:
    server = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]["backend"]
    [requirement] = [each for each in server if re.match(rf"{package}\b", each)]
    assert re.fullmatch(rf"{package}>=[\d.]+,<[\d.]+", requirement), requirement
