"""Requests with an Idempotency-Key, which create only one object."""

import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi import FastAPI
from fastapi.routing import APIRoute
from sqlalchemy.orm import Session

from arcadia_backend.app import ROUTERS
from arcadia_backend.database.columns import utc_now
from arcadia_backend.database.engine import Database
from arcadia_backend.web.idempotency import Once, delete_expired_keys, read_once
from tests.factories import CARTPOLE, Api, Response
from tests.server_process import Server
from tests.workers.waiting import PATIENCE_SECONDS

RUN: dict[str, Any] = {"config": CARTPOLE}
# Worker routes use sequences and attempts instead of keys. Scripts send their own keys. Archives, including the one
# of the examples, have hashes.
# The server does not store the secrets that it shows once, so a repetition could not return them.
SHOWN_ONCE = {"/people", "/people/first", "/projects/{project_id}/invitations", "/tokens"}
SHOWN_ONCE |= {"/session/device", "/session/device/token", "/session/host", "/host-codes"}
WITHOUT_KEYS = {
    "/session",
    "/session/host",
    "/host-codes",
    "/reported/runs",
    "/archives",
    "/agents",
    "/examples",
    *SHOWN_ONCE,
}
RACERS = 8


def post(api: Api, path: str, key: str, body: Any, **params: Any) -> Response:
    return api.user.post(f"/api/v1{path}", json=body, params=params, headers={"Idempotency-Key": key})


def count(api: Api) -> int:
    total: int = api.user.get("/api/v1/runs").json()["total"]
    return total


def test_a_repeated_request_gets_the_first_response(api: Api) -> None:
    first = post(api, "/runs", "one", RUN)
    run_id = first.json()["id"]
    api.act(run_id, "stop")
    again = post(api, "/runs", "one", RUN)
    assert (first.status_code, again.status_code, again.content) == (201, 201, first.content)
    assert again.headers["Idempotency-Replayed"] == "true"
    assert "Idempotency-Replayed" not in first.headers
    assert post(api, "/runs", "two", RUN).json()["id"] != run_id
    assert count(api) == 2


def test_a_key_belongs_to_one_request(api: Api) -> None:
    run_id = post(api, "/runs", "one", RUN).json()["id"]
    for path, body in (("/runs", {**RUN, "priority": 3}), (f"/runs/{run_id}/clone", RUN), ("/reports", {"title": "A"})):
        reused = post(api, path, "one", body)
        assert (reused.status_code, reused.json()["title"]) == (409, "Key of another request"), path
    assert count(api) == 1


def test_a_rejected_request_does_not_use_its_key(api: Api) -> None:
    assert post(api, "/runs", "one", {"preset": "none"}).status_code == 422
    assert post(api, "/runs", "one", RUN).status_code == 201
    assert count(api) == 1


@pytest.mark.parametrize("key", ["", "x" * 201, "caf\u00e9", "tab\there"])
def test_invalid_keys_are_refused(api: Api, key: str) -> None:
    response = api.user.post("/api/v1/runs", json=RUN, headers={"Idempotency-Key": key.encode("latin-1")})  # type: ignore[arg-type]
    assert (response.status_code, response.json()["errors"][0]["field"]) == (422, "Idempotency-Key")


def test_copies_and_reports_are_created_once(api: Api) -> None:
    run_id, attempt = api.running()
    checkpoint = api.save(run_id, attempt, 2, 100)
    for path, body in (
        (f"/runs/{run_id}/clone", {}),
        (f"/runs/{run_id}/fork", {"checkpoint_id": checkpoint}),
        (f"/runs/{run_id}/evaluations", {}),
        (f"/runs/{run_id}/recordings", {}),
        ("/reports", {"title": "Rates"}),
    ):
        responses = [post(api, path, f"key of {path}", body) for _ in range(2)]
        assert [each.status_code for each in responses] == [201, 201], responses[0].text
        assert responses[0].content == responses[1].content
        assert responses[1].headers["Idempotency-Replayed"] == "true"


def test_a_repeated_response_ignores_later_changes(api: Api) -> None:
    run_id = api.launch()["id"]
    copy = post(api, f"/runs/{run_id}/clone", "one", {}).json()["id"]
    for number in (copy, run_id):
        api.act(number, "stop")
    assert api.user.delete(f"/api/v1/runs/{copy}").status_code == 204
    assert post(api, f"/runs/{run_id}/clone", "one", {}).json()["id"] == copy


def test_concurrent_requests_create_once(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    together, write = threading.Barrier(RACERS), Once.write

    def write_together(self: Once, database: Database) -> AbstractContextManager[Session]:
        # Every request looks for its key before any stores it.
        together.wait(PATIENCE_SECONDS)
        return write(self, database)

    monkeypatch.setattr(Once, "write", write_together)

    def send(_number: int) -> tuple[int, int, bool]:
        response = post(api, "/runs", "one", RUN)
        return response.status_code, response.json()["id"], "Idempotency-Replayed" in response.headers

    with ThreadPoolExecutor(RACERS) as pool:
        answers = list(pool.map(send, range(RACERS)))
    assert {(status, run_id) for status, run_id, _replayed in answers} == {(201, answers[0][1])}
    assert sorted(replayed for _status, _run_id, replayed in answers) == [False] + [True] * (RACERS - 1)
    assert count(api) == 1


def test_keys_expire_after_a_day(api: Api, app: FastAPI) -> None:
    database: Database = app.state.database
    first = post(api, "/runs", "one", RUN).json()["id"]
    delete_expired_keys(database, utc_now() + timedelta(hours=23))
    assert post(api, "/runs", "one", RUN).json()["id"] == first
    delete_expired_keys(database, utc_now() + timedelta(hours=25))
    assert post(api, "/runs", "one", RUN).json()["id"] != first


def test_every_route_that_creates_accepts_a_key() -> None:
    creating = [
        route
        for router in ROUTERS
        for route in router.routes
        if isinstance(route, APIRoute) and route.status_code == 201 and route.path not in WITHOUT_KEYS
    ]
    assert len(creating) > 10
    for route in creating:
        assert any(each.call is read_once for each in route.dependant.dependencies), route.path


@pytest.mark.nightly
def test_a_crash_between_the_commit_and_the_response_creates_no_second_run(tmp_path: Path) -> None:
    dying = "import os\nfrom arcadia_backend.doorbell import Doorbell\nDoorbell.ring = lambda *_: os._exit(9)"
    server = Server(tmp_path, dying)
    headers = {"Idempotency-Key": "one"}
    try:
        with pytest.raises(httpx.TransportError):
            httpx.post(f"{server.address}/runs", json=RUN, headers=headers, timeout=PATIENCE_SECONDS)
        server.process.wait(PATIENCE_SECONDS)
    finally:
        server.close()
    server = Server(tmp_path)
    try:
        again = httpx.post(f"{server.address}/runs", json=RUN, headers=headers, timeout=PATIENCE_SECONDS)
        assert (again.status_code, again.headers["Idempotency-Replayed"]) == (201, "true")
        listed = httpx.get(f"{server.address}/runs", timeout=PATIENCE_SECONDS).json()
        assert [run["id"] for run in listed["items"]] == [again.json()["id"]]
    finally:
        server.close()
