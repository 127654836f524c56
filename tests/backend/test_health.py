"""Health says which part does not answer, without giving its address away."""

from fastapi import FastAPI
from fastapi.testclient import TestClient
from pydantic import SecretStr

from backend.config import Settings
from backend.db import Database
from tests.factories import Api


def test_without_a_broker_the_api_runs_and_says_so(api: Api) -> None:
    api.beat("w1")
    health = api.user.get("/api/v1/health").json()
    assert health["status"] == "degraded"
    assert health["database"] == {"ok": True, "kind": health["database"]["kind"], "detail": "answers"}
    assert not health["broker"]["ok"]
    assert "ARCADIA_BROKER_URL" in health["broker"]["detail"]
    assert health["workers"] == 1
    assert health["version"]


def test_a_broker_out_of_reach_is_named_but_not_its_password(app: FastAPI, settings: Settings) -> None:
    url = SecretStr("redis://:hunter2@127.0.0.1:1/0")
    app.state.settings = settings.model_copy(update={"broker_url": url})
    with TestClient(app, base_url="http://localhost") as client:
        answer = client.get("/api/v1/health")
        assert "Redis does not answer" in answer.json()["broker"]["detail"]
        assert "hunter2" not in answer.text
        launched = client.post("/api/v1/runs", json={"preset": "paac-cartpole"})
        assert launched.status_code == 201, "a run is kept until the broker is back"


def test_a_database_that_does_not_answer_is_said(client: TestClient, app: FastAPI, settings: Settings) -> None:
    away = Database("postgresql://user:hunter2@127.0.0.1:1/none", settings.files_dir)
    working, app.state.database = app.state.database, away
    answer = client.get("/api/v1/health")
    app.state.database = working
    away.close()
    assert answer.json()["database"] == {
        "ok": False,
        "kind": "postgresql",
        "detail": "does not answer (OperationalError)",
    }
    assert "hunter2" not in answer.text
