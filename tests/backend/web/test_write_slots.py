"""Write slots: reads never wait for writers, and a writer without a slot must retry."""

import sqlite3
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from arcadia_backend.config import Settings
from arcadia_backend.files.storage import stored_files
from arcadia_backend.web import middleware
from tests.backend.worker_api.test_transfers import put
from tests.conftest import WORKER_TOKEN
from tests.factories import Api, Response
from tests.workers.waiting import wait_until

WORKERS = 60
pytestmark = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)


@contextmanager
def locked_by_another_program(settings: Settings) -> Iterator[None]:
    """Hold SQLite's write lock."""
    other = sqlite3.connect(settings.data_dir / "arcadia.db", isolation_level=None)
    try:
        other.execute("BEGIN IMMEDIATE")
        yield
    finally:
        other.close()


@pytest.fixture
def api(client: TestClient) -> Api:
    """Return shortcuts for a worker and a user on one event loop, as in a server."""
    client.headers["Authorization"] = f"Bearer {WORKER_TOKEN}"
    return Api(client, client)


def occupied(app: FastAPI) -> int:
    """Return the number of write slots in use."""
    taken: int = app.state.write_slots.borrowed_tokens
    return taken


@pytest.fixture
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Extend the timeouts so that no writer gives up during a test."""
    monkeypatch.setattr(middleware, "WRITE_TIMEOUT_SECONDS", 100.0)
    monkeypatch.setattr("arcadia_backend.database.engine.LOCK_TIMEOUT_SECONDS", 100)


@pytest.mark.usefixtures("_patient")
def test_reads_are_answered_while_sixty_workers_wait_to_write(api: Api, app: FastAPI, settings: Settings) -> None:
    api.launch()
    with ThreadPoolExecutor(WORKERS) as pool:
        with locked_by_another_program(settings):
            beats: list[Future[Response]] = [pool.submit(api.beat, f"w{number}") for number in range(WORKERS)]
            wait_until(lambda: occupied(app) == middleware.MAX_CONCURRENT_WRITES)
            assert api.user.get("/api/v1/runs").json()["total"] == 1
            assert api.user.get("/api/v1/health").json()["database"]["ok"]
            assert not any(beat.done() for beat in beats), "both reads finish before any write"
        assert {beat.result().status_code for beat in beats} == {200}
    assert occupied(app) == 0


def assert_must_retry(answer: Response) -> None:
    """Check that a write failed because no slot or lock was free."""
    assert (answer.status_code, answer.json()["type"]) == (503, "/problems/busy")
    assert int(answer.headers["Retry-After"]) > 0


def test_a_request_without_a_write_slot_must_retry(
    api: Api, app: FastAPI, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_id, _attempt = api.running()
    monkeypatch.setattr(middleware, "WRITE_TIMEOUT_SECONDS", 0.05)
    monkeypatch.setattr("arcadia_backend.files.service.UPLOAD_WRITE_TIMEOUT_SECONDS", 0.05)
    with ThreadPoolExecutor(middleware.MAX_CONCURRENT_WRITES) as pool:
        with locked_by_another_program(settings):
            beats = [pool.submit(api.beat, f"w{number}") for number in range(middleware.MAX_CONCURRENT_WRITES)]
            wait_until(lambda: occupied(app) == middleware.MAX_CONCURRENT_WRITES)
            assert_must_retry(api.beat("late"))
            assert_must_retry(put(api, run_id))
            assert stored_files(settings.files_dir) == []
            assert api.user.get("/api/v1/session").status_code == 200
        for beat in beats:
            beat.result()
    assert api.beat("late").status_code == 200


def test_a_lock_that_is_not_released_is_reported_as_busy(
    app: FastAPI, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("arcadia_backend.database.engine.LOCK_TIMEOUT_SECONDS", 0)
    app.state.settings = settings
    with TestClient(app, base_url="http://localhost") as client, locked_by_another_program(settings):
        assert_must_retry(client.post("/api/v1/runs", json={"preset": "paac-cartpole"}))
        assert client.get("/api/v1/runs").json()["total"] == 0
