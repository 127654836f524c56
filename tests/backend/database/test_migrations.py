"""Migrations, which create the tables of the models on both databases. Concurrent backends wait for each other."""

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from sqlalchemy import inspect, text

from alembic import command
from backend.config import Settings
from backend.database.engine import migration_engine
from backend.database.migrations import alembic_config, migrate

OLD_RUN = """
    INSERT INTO runs (id, name, algorithm, env, queue, priority, notes, config, state, desired, attempt, requeues,
        created_at, step, frames, total_steps, episodes)
    VALUES (1, 'old', 'paac', 'CartPole-v1', 'cpu', 0, '', '{}', 'stopped', 'stop', 1, 0,
        '2026-01-01 10:00:00', 5, 5, 10, 0)
"""
OLD_ATTEMPT = """
    INSERT INTO attempts (run_id, attempt, worker, claimed_at, last_seq) VALUES (1, 1, 'w1', '2026-01-01 10:00:00', 7)
"""


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
    monkeypatch.setattr("backend.database.engine.time.sleep", lambda _seconds: other.rollback())
    migrate(Settings(data_dir=tmp_path))
    other.close()
    engine = migration_engine(f"sqlite:///{tmp_path / 'arcadia.db'}")
    with engine.begin() as connection:
        assert connection.execute(text("PRAGMA journal_mode")).scalar() == "wal"
        assert "runs" in inspect(connection).get_table_names()


def test_data_of_an_older_version_is_kept(empty: Settings) -> None:
    engine = migration_engine(empty.resolved_database_url)
    config = alembic_config()
    with engine.begin() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, "0001")
        connection.execute(text(OLD_RUN))
        connection.execute(text(OLD_ATTEMPT))
    migrate(empty)
    with engine.begin() as connection:
        found = connection.execute(text("SELECT run_id, attempt, worker, last_seq, roles FROM attempts")).one()
    assert tuple(found) == (1, 1, "w1", 7, None)


def test_ids_of_removed_files_are_not_reused(empty: Settings) -> None:
    engine = migration_engine(empty.resolved_database_url)
    config = alembic_config()
    columns = "run_id, attempt, kind, path, stored_path, sha256, bytes, created_at"
    file = text(f"INSERT INTO files ({columns}) VALUES (1, 1, 'video', :path, '', '', 1, '2026-01-01 10:00:00')")  # noqa: S608
    with engine.begin() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, "0005")
        connection.execute(text(OLD_RUN))
        for path in ("a", "b"):
            connection.execute(file, {"path": path})
        connection.execute(text("DELETE FROM files WHERE id = 2"))
    migrate(empty)
    with engine.begin() as connection:
        connection.execute(file, {"path": "c"})
        assert connection.execute(text("SELECT id FROM files ORDER BY id")).scalars().all() == [1, 3]


def test_ids_of_removed_jobs_are_not_reused_and_their_files_are_kept(empty: Settings) -> None:
    engine = migration_engine(empty.resolved_database_url)
    config = alembic_config()
    job = (
        "INSERT INTO {table} (kind, run_id, checkpoint_id, parameters, state, desired, done, total, attempt, last_seq, "
        "tries, created_at) VALUES ('live', 1, 1, '{}', 'done', 'run', 0, 1, 1, 0, 0, '2026-01-01 10:00:00')"
    )
    columns = "run_id, errand_id, attempt, kind, path, stored_path, sha256, bytes, created_at"
    file = text(f"INSERT INTO files ({columns}) VALUES (1, 1, 1, 'video', 'a', '', '', 1, '2026-01-01 10:00:00')")  # noqa: S608
    with engine.begin() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, "0009")
        connection.execute(text(OLD_RUN))
        for _ in range(2):
            connection.execute(text(job.replace("{table}", "errands")))
        connection.execute(file)
        connection.execute(text("DELETE FROM errands WHERE id = 2"))
    migrate(empty)
    with engine.begin() as connection:
        connection.execute(text(job.replace("{table}", "jobs")))
        assert connection.execute(text("SELECT id FROM jobs ORDER BY id")).scalars().all() == [1, 3]
        assert connection.execute(text("SELECT job_id FROM files")).scalars().all() == [1]


@pytest.mark.nightly
def test_checkpoints_evaluated_by_a_schedule_are_remembered(empty: Settings) -> None:
    engine = migration_engine(empty.resolved_database_url)
    config = alembic_config()
    checkpoint = text(
        "INSERT INTO checkpoints (run_id, attempt, step, frames, file, sha256, bytes, best, created_at) "
        "VALUES (1, 1, 1, 1, :file, '', 1, false, '2026-01-01 10:00:00')"
    )
    job = text(
        "INSERT INTO errands (kind, run_id, checkpoint_id, parameters, state, desired, done, total, attempt, last_seq, "
        "tries, created_at) VALUES ('evaluation', 1, 1, '{}', 'done', 'run', 0, 1, 1, 0, 0, '2026-01-01 10:00:00')"
    )
    evaluation = text(
        "INSERT INTO evaluations (run_id, errand_id, checkpoint_id, step, frames, sha256, protocol, acting, seed, "
        "origin) VALUES (1, :number, :number, 1, 1, '', 'episodes', '{}', 1, :origin)"
    )
    with engine.begin() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, "0014")
        connection.execute(text(OLD_RUN))
        for number, origin in enumerate(("schedule", "asked"), 1):
            connection.execute(checkpoint, {"file": f"file {number}"})
            connection.execute(job)
            connection.execute(evaluation, {"number": number, "origin": origin})
    migrate(empty)
    with engine.begin() as connection:
        found = connection.execute(text("SELECT scheduled FROM checkpoints ORDER BY id")).scalars().all()
    assert list(map(bool, found)) == [True, False]


def test_runs_of_an_older_version_keep_their_projects(empty: Settings) -> None:
    engine = migration_engine(empty.resolved_database_url)
    config = alembic_config()
    names = {1: None, 2: "Maze", 3: "maze", 4: "Carts", 5: "main", 6: ""}
    with engine.begin() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, "0025")
        for number, name in names.items():
            connection.execute(text(OLD_RUN.replace("VALUES (1,", f"VALUES ({number},")))
            connection.execute(text("UPDATE runs SET project = :name WHERE id = :id"), {"name": name, "id": number})
        connection.execute(
            text(
                "INSERT INTO reports (id, title, blocks, version, created_at, updated_at) "
                "VALUES (1, 'old', '[]', 1, '2026-01-01 10:00:00', '2026-01-01 10:00:00')"
            )
        )
    migrate(empty)
    joined = "SELECT runs.id, projects.id, lower(projects.name) FROM runs JOIN projects ON projects.id = project_id"
    with engine.begin() as connection:
        found = {run: (project, name) for run, project, name in connection.execute(text(joined))}
        assert {run: name for run, (_project, name) in found.items()} == {
            **dict.fromkeys((1, 5, 6), "main"),
            **dict.fromkeys((2, 3), "maze"),
            4: "carts",
        }
        assert len(set(found.values())) == 3
        assert found[1] == (1, "main")
        assert connection.execute(text("SELECT project_id FROM reports")).scalars().all() == [1]
        config.attributes["connection"] = connection
        command.downgrade(config, "0025")
        undone = {row.id: row.project for row in connection.execute(text("SELECT id, project FROM runs"))}
    assert {run: name and name.lower() for run, name in undone.items()} == {
        **dict.fromkeys((1, 5, 6)),
        **dict.fromkeys((2, 3), "maze"),
        4: "carts",
    }


def test_migrations_can_be_undone(empty: Settings) -> None:
    migrate(empty)
    engine = migration_engine(empty.resolved_database_url)
    with engine.begin() as connection:
        config = alembic_config()
        config.attributes["connection"] = connection
        command.downgrade(config, "base")
        assert inspect(connection).get_table_names() == ["alembic_version"]
    migrate(empty)
