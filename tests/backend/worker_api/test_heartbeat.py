"""Heartbeats: leases, desired states, stale attempts, and the list of workers."""

from datetime import timedelta
from typing import Any

import pytest
from fastapi.testclient import TestClient

from arcadia_backend.database.columns import utc_now
from arcadia_backend.database.engine import Database
from arcadia_backend.database.tables import Run, Worker
from arcadia_backend.worker_api import registry
from arcadia_backend.workers import GONE_AFTER
from tests.factories import Api


def test_a_heartbeat_renews_the_lease_and_returns_the_desired_state(api: Api, database: Database) -> None:
    run_id, attempt = api.running()
    with database.write() as session:
        session.get_one(Run, run_id).lease_expires_at = utc_now() + timedelta(seconds=1)
    held = {"id": run_id, "attempt": attempt}
    assert api.beat(run=held).json() == {
        "desired": "run",
        "lease_seconds": 60.0,
        "jobs": [],
        "changes": [],
        "drain": False,
    }
    with database.read() as session:
        lease = session.get_one(Run, run_id).lease_expires_at
        assert lease is not None
        assert lease > utc_now() + timedelta(seconds=50)
    api.act(run_id, "pause")
    assert api.beat(run=held).json()["desired"] == "pause"
    api.act(run_id, "stop")
    assert api.beat(run=held).json()["desired"] == "stop"
    assert api.beat().json()["desired"] is None


def test_a_stale_attempt_is_rejected_and_the_worker_still_counts_as_alive(api: Api) -> None:
    run_id, attempt = api.running()
    api.release(run_id, attempt, "lost")
    assert api.claim("w2")["attempt"] == 2
    response = api.beat("w1", run={"id": run_id, "attempt": 1})
    assert response.status_code == 409
    assert response.json()["type"].endswith("stale-attempt")
    assert [(worker["name"], worker["state"]) for worker in api.user.get("/api/v1/workers").json()] == [("w1", "idle")]
    # An attempt of a purged run is stale too.
    assert api.beat("w1", run={"id": 999, "attempt": 1}).json()["type"].endswith("stale-attempt")


def test_workers_are_idle_busy_or_gone(api: Api, database: Database) -> None:
    for name in ("w1", "w2", "w3"):
        api.beat(name)
    run_id, attempt = api.running()
    api.beat("w1", run={"id": run_id, "attempt": attempt})
    assert api.worker.post("/api/v1/worker/goodbye", json={"name": "w2"}).status_code == 204
    with database.write() as session:
        session.get_one(Worker, "w3").last_seen_at = utc_now() - GONE_AFTER
    listed = {worker["name"]: worker for worker in api.user.get("/api/v1/workers").json()}
    assert {name: worker["state"] for name, worker in listed.items()} == {"w1": "busy", "w2": "gone", "w3": "gone"}
    assert (listed["w1"]["run_id"], listed["w1"]["cores"], listed["w1"]["host"]) == (run_id, 2, "h")
    api.beat("w2")
    assert {worker["state"] for worker in api.user.get("/api/v1/workers").json() if worker["name"] == "w2"} == {"idle"}


def test_a_finished_run_frees_its_worker(api: Api) -> None:
    api.beat("w1")
    run_id, attempt = api.running()
    assert api.user.get("/api/v1/workers").json()[0]["state"] == "busy"
    api.release(run_id, attempt, "finished")
    assert api.user.get("/api/v1/workers").json()[0]["state"] == "idle"


def test_a_worker_without_the_token_is_refused(client: TestClient) -> None:
    response = client.post("/api/v1/worker/claim", json={"name": "w1", "queue": "cpu"})
    assert response.status_code == 401


def test_a_second_live_worker_with_the_same_name_is_refused(api: Api, database: Database) -> None:
    api.beat("w1", host="sun", pid=7)
    others: list[dict[str, Any]] = [{"host": "moon"}, {"host": "sun", "pid": 8}, {"host": "moon", "replaces": 7}]
    for other in others:
        refused = api.beat("w1", **other)
        assert (refused.status_code, refused.json()["type"]) == (409, "/problems/name-taken")
        assert refused.json()["detail"] == "Worker w1 is connected already: process 7 on host sun."
    (shown,) = api.user.get("/api/v1/workers").json()
    assert (shown["host"], shown["pid"]) == ("sun", 7)
    # The successor of an ended process on the same host is accepted. Others are accepted once the first is gone.
    assert api.beat("w1", host="sun", pid=8, replaces=7).status_code == 200
    with database.write() as session:
        session.get_one(Worker, "w1").last_seen_at = utc_now() - GONE_AFTER
    assert api.beat("w1", host="moon", pid=9).status_code == 200


def test_a_worker_of_another_build_is_marked_and_logged_once(
    api: Api, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(registry, "build", lambda: "0.1.0+aaaaaaaaaaaa")
    api.beat("old", version="0.1.0+bbbbbbbbbbbb")
    api.beat("old", version="0.1.0+bbbbbbbbbbbb")
    api.beat("same", version="0.1.0+aaaaaaaaaaaa")
    api.beat("unknown", version="0.1.0")
    marked = {worker["name"]: worker["is_other_build"] for worker in api.user.get("/api/v1/workers").json()}
    assert marked == {"old": True, "same": False, "unknown": False}
    assert [record.message for record in caplog.records if "build" in record.message] == [
        "Worker old runs build 0.1.0+bbbbbbbbbbbb, this server build 0.1.0+aaaaaaaaaaaa. Update one."
    ]


def test_a_run_says_that_the_disk_of_its_worker_is_full(api: Api) -> None:
    run = api.launch()["id"]
    api.beat("w1")
    attempt = api.claim("w1")["attempt"]
    held = {"id": run, "attempt": attempt}

    def reason(free: int | None) -> str:
        api.beat("w1", run=held, **({} if free is None else {"low_disk_bytes": free}))
        return api.run(run)["state_reason"] or ""

    full = "The disk of worker w1 is full. Training waits, and continues when there is space."
    assert full in reason(0)
    assert api.user.get("/api/v1/workers").json()[0]["low_disk_megabytes"] == 0
    low = "The disk of worker w1 is almost full: 50 MB are free. Training waits while it is full."
    assert low in reason(50_700_000)
    assert "disk" not in reason(None)
    assert full in reason(0)
