"""The health endpoint, which names unresponsive services without revealing their addresses."""

import errno
import logging
import os
from types import SimpleNamespace

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from pydantic import SecretStr
from sqlalchemy.exc import OperationalError

from arcadia_backend.config import Settings
from arcadia_backend.database.engine import Database
from arcadia_backend.failure_log import FailureLog
from tests.factories import Api


def test_without_a_broker_the_api_runs_and_reports_it(api: Api) -> None:
    api.beat("w1")
    health = api.user.get("/api/v1/health").json()
    assert health["status"] == "ok"
    assert health["database"] == {"ok": True, "kind": health["database"]["kind"], "detail": "responds"}
    assert health["broker"] == {"ok": True, "detail": "not used: workers wait at this server"}
    assert health["workers"] == 1
    assert health["version"]
    assert health["build"].startswith(health["version"])
    assert health["database_schema"].isdigit()


def test_an_unreachable_broker_is_reported_without_its_password(app: FastAPI, settings: Settings) -> None:
    url = SecretStr("redis://:hunter2@127.0.0.1:1/0")
    app.state.settings = settings.model_copy(update={"broker_url": url})
    with TestClient(app, base_url="http://localhost") as client:
        answer = client.get("/api/v1/health")
        assert "Redis does not respond" in answer.json()["broker"]["detail"]
        assert "hunter2" not in answer.text
        launched = client.post("/api/v1/runs", json={"preset": "paac-cartpole"})
        assert launched.status_code == 201, "runs are stored until the broker is back"


def test_an_unresponsive_database_is_reported(client: TestClient, app: FastAPI, settings: Settings) -> None:
    away = Database("postgresql://user:hunter2@127.0.0.1:1/none", settings.files_dir)
    working, app.state.database = app.state.database, away
    answer = client.get("/api/v1/health")
    app.state.database = working
    away.close()
    assert answer.json()["database"] == {
        "ok": False,
        "kind": "postgresql",
        "detail": "does not respond (OperationalError)",
    }
    assert "hunter2" not in answer.text


def test_a_full_disk_is_reported_until_there_is_space(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    assert client.get("/api/v1/health").json()["disk"] == {"ok": True, "detail": "has space"}
    with monkeypatch.context() as full:
        full.setattr(os, "statvfs", lambda _: SimpleNamespace(f_bfree=1, f_bavail=1, f_frsize=4096))
        health = client.get("/api/v1/health").json()
    assert health["status"] == "degraded"
    assert not health["disk"]["ok"]
    assert "disk is full" in health["disk"]["detail"]
    assert client.get("/api/v1/health").json()["disk"]["ok"]


@pytest.mark.parametrize(
    "error",
    [
        OperationalError("INSERT", None, Exception("database or disk is full")),
        OperationalError("INSERT", None, Exception('could not extend file "1": No space left on device')),
        OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)),
    ],
    ids=["sqlite", "postgresql", "file"],
)
def test_a_change_on_a_full_disk_is_refused_with_the_reason(
    api: Api, app: FastAPI, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, error: Exception
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise error

    app.state.failures = FailureLog(logging.getLogger("test"))
    with monkeypatch.context() as full:
        full.setattr("arcadia_backend.runs.service.create", fail)
        answers = [api.user.post("/api/v1/runs", json={"preset": "paac-cartpole"}) for _ in range(3)]
        assert {answer.status_code for answer in answers} == {503}
        assert "disk is full" in answers[0].json()["detail"]
        assert caplog.text.count("Traceback") == 1
        if isinstance(error, OperationalError):
            assert not api.user.get("/api/v1/health").json()["disk"]["ok"]
    api.launch()
    assert api.user.get("/api/v1/health").json()["disk"]["ok"]
