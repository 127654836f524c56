"""Migrations, which create the tables of the models on both databases. Concurrent backends wait for each other."""

import re
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import insert, inspect, text

from alembic import command
from arcadia_backend.config import Settings
from arcadia_backend.database.engine import migration_engine, open_database
from arcadia_backend.database.migrations import alembic_config, migrate
from arcadia_backend.database.tables import Run
from tests.earlier_installation import OLDEST, unpack
from tests.settings_table import expected_settings, stored_settings


def test_the_models_and_the_migrations_agree(empty: Settings) -> None:
    migrate(empty)
    engine = migration_engine(empty.resolved_database_url)
    with engine.begin() as connection:
        config = alembic_config()
        config.attributes["connection"] = connection
        command.check(config)


def test_backends_that_start_together_migrate_once(empty: Settings) -> None:
    with ThreadPoolExecutor(3) as pool:
        list(pool.map(migrate, [empty] * 3))
    engine = migration_engine(empty.resolved_database_url)
    with engine.begin() as connection:
        assert connection.execute(text("SELECT count(*) FROM alembic_version")).scalar() == 1
        assert "runs" in inspect(connection).get_table_names()


def test_a_backend_waits_while_another_creates_the_database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = sqlite3.connect(tmp_path / "arcadia.db", isolation_level=None)
    other.execute("CREATE TABLE made_meanwhile (number)")
    other.execute("BEGIN IMMEDIATE")
    monkeypatch.setattr("arcadia_backend.database.engine.time.sleep", lambda _seconds: other.rollback())
    migrate(Settings(data_dir=tmp_path))
    other.close()
    engine = migration_engine(f"sqlite:///{tmp_path / 'arcadia.db'}")
    with engine.begin() as connection:
        assert connection.execute(text("PRAGMA journal_mode")).scalar() == "wal"
        assert "runs" in inspect(connection).get_table_names()


def test_the_first_migration_creates_the_schema_of_earlier_folders(tmp_path: Path) -> None:
    unpack(tmp_path / "earlier")
    engine = migration_engine(f"sqlite:///{tmp_path / 'arcadia.db'}")
    with engine.begin() as connection:
        config = alembic_config()
        config.attributes["connection"] = connection
        command.upgrade(config, OLDEST)
    engine.dispose()
    assert schema_of(tmp_path / "arcadia.db") == schema_of(tmp_path / "earlier" / "data" / "arcadia.db")


def schema_of(file: Path) -> dict[str, object]:
    """Return the columns, foreign keys, constraints and indexes of each table of a SQLite database."""
    with closing(sqlite3.connect(file)) as database:

        def read(query: str, *values: str) -> list[tuple[object, ...]]:
            return sorted(database.execute(query, values).fetchall(), key=repr)

        tables = {str(name): str(sql) for name, sql in read("SELECT name, sql FROM sqlite_master WHERE type = 'table'")}
        return {
            name: (
                read("SELECT * FROM pragma_table_xinfo(?)", name),
                read('SELECT "table", "from", "to", on_update, on_delete FROM pragma_foreign_key_list(?)', name),
                read(
                    'SELECT "unique", origin, partial, group_concat(i.name) FROM pragma_index_list(?) AS l, '
                    "pragma_index_info(l.name) AS i GROUP BY l.name",
                    name,
                ),
                read("SELECT name, sql FROM sqlite_master WHERE type != 'table' AND tbl_name = ?", name),
                "AUTOINCREMENT" in sql,
                sorted(re.findall(r"CONSTRAINT (?!pk_)\w+", sql)),
            )
            for name, sql in tables.items()
        }


def test_the_settings_of_earlier_runs_are_copied(empty: Settings) -> None:
    values = [None, True, False, 0, 1, 2.5, 1e-70, -1e70, 10**400, "", "ä", "true", [1, "ü, ö"], {"a": [1, 2]}]
    configs = [{"seed": value, "n" * 501: 1, "": number, "lr": 7e-4} for number, value in enumerate(values)]
    engine = migration_engine(empty.resolved_database_url)
    with engine.begin() as connection:
        config = alembic_config()
        config.attributes["connection"] = connection
        command.upgrade(config, "0038")
        runs = [{"name": "a", "algorithm": "paac", "env": "CartPole-v1", "config": each} for each in configs]
        connection.execute(insert(Run), runs)
    engine.dispose()
    migrate(empty)
    database = open_database(empty)
    rows = stored_settings(database)
    assert rows == expected_settings(database)
    assert len(rows) == 3 * len(configs) - 1, "null is no value, and a long name is left out"
    database.close()


def test_earlier_rows_get_an_owner(empty: Settings) -> None:
    engine = migration_engine(empty.resolved_database_url)
    time = "2026-01-02 00:00:00+00:00"
    rows = (
        f"INSERT INTO projects (id, name, name_key, text, created_at) VALUES (7, 'Maze', 'maze', '', '{time}')",  # noqa: S608
        f"INSERT INTO score_rules (id, env, score, created_at) VALUES (4, 'ALE/Pong-v5', 18, '{time}')",  # noqa: S608
    )
    sets = {1: "paac of run 3 at step 1,000, decision 2 of replay 5 by episodes", 2: "Ana, three games"}
    with engine.begin() as connection:
        config = alembic_config()
        config.attributes["connection"] = connection
        command.upgrade(config, "0048")
        for statement in rows:
            connection.execute(text(statement))
        run = {"id": 3, "name": "a", "algorithm": "paac", "env": "ALE/Pong-v5", "config": {}, "project_id": 7}
        connection.execute(insert(Run), [run])
        for number, source in sets.items():
            columns = "id, env, name, player, source, emulator, points, sha256, bytes, content, created_at"
            values = f":id, 'ALE/Pong-v5', :name, 'agent', :source, 'x', 1, :name, 1, '', '{time}'"
            stored = {"id": number, "name": str(number), "source": source}
            connection.execute(text(f"INSERT INTO start_sets ({columns}) VALUES ({values})"), stored)  # noqa: S608
    engine.dispose()
    migrate(empty)
    with engine.begin() as connection:
        owners = connection.execute(text("SELECT id, project_id FROM start_sets ORDER BY id")).all()
        assert [tuple(row) for row in owners] == [(1, 7), (2, 1)]
        rules = connection.execute(text("SELECT project_id, score FROM score_rules ORDER BY project_id")).all()
        assert [tuple(row) for row in rules] == [(1, 18.0), (7, 18.0)]
    engine.dispose()


def test_migrations_can_be_undone(empty: Settings) -> None:
    migrate(empty)
    engine = migration_engine(empty.resolved_database_url)
    with engine.begin() as connection:
        config = alembic_config()
        config.attributes["connection"] = connection
        command.downgrade(config, "base")
        assert inspect(connection).get_table_names() == ["alembic_version"]
    migrate(empty)
