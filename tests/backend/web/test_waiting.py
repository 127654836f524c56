"""Requests that wait for the end of an object, or for a line of a log."""

import asyncio
import signal
import threading
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import pytest
from fastapi import Request
from sqlalchemy.orm import Session

from arcadia_backend.database.engine import Database
from arcadia_backend.database.tables import Run
from arcadia_backend.live import notices
from arcadia_backend.live.notices import Topic, current_hub, publish, running
from arcadia_backend.web import lookup
from tests.factories import Api, event
from tests.server_process import Server
from tests.workers.waiting import PATIENCE_SECONDS, wait_until

HOURS = 10_000.0
WAIT: dict[str, Any] = {"wait": "finished", "timeout": 60}


@pytest.fixture
def _notices_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make waiting requests check only after a notice."""
    monkeypatch.setattr(lookup, "CHECK_SECONDS", HOURS)


@contextmanager
def waits(api: Api, path: str, **params: Any) -> Iterator[Future[dict[str, Any]]]:
    """Send a request in another thread. Enter the block once it waits for a notice."""

    def read() -> dict[str, Any]:
        response = api.user.get(f"/api/v1{path}", params=params)
        assert response.status_code == 200, response.text
        found: dict[str, Any] = response.json()
        return found

    with ThreadPoolExecutor(1) as pool:
        answer = pool.submit(read)
        wait_until(lambda: answer.done() or watches())
        assert not answer.done()
        yield answer


def watches() -> list[Topic]:
    """Return the topics that requests wait for."""
    return [waiter.topic for hub in notices._hubs for waiter in tuple(hub.waiters) if waiter.topic]


@pytest.mark.usefixtures("_notices_only")
def test_the_response_arrives_when_the_run_ends_or_is_paused(api: Api) -> None:
    for action, state in (("stop", "stopped"), ("pause", "paused")):
        run_id = api.launch()["id"]
        with waits(api, f"/runs/{run_id}", **WAIT) as answer:
            api.act(api.launch()["id"], "stop")
            api.act(run_id, action)
            assert answer.result(PATIENCE_SECONDS)["state"] == state
    assert watches() == []


@pytest.mark.usefixtures("_notices_only")
def test_the_response_arrives_when_the_trainer_finishes(api: Api) -> None:
    run_id, attempt = api.running()
    with waits(api, f"/runs/{run_id}", **WAIT) as answer:
        api.send(run_id, attempt, event(2, "finished", step=1_000))
        api.release(run_id, attempt, "finished")
        assert answer.result(PATIENCE_SECONDS)["state"] == "finished"


def test_a_change_without_a_notice_is_found(api: Api, app: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lookup, "CHECK_SECONDS", 0.05)
    run_id, database = api.launch()["id"], app.state.database
    assert isinstance(database, Database)
    with waits(api, f"/runs/{run_id}", **WAIT) as answer:
        with database.write() as session:
            session.get_one(Run, run_id).state = "failed"
        assert answer.result(PATIENCE_SECONDS)["state"] == "failed"


def test_a_timeout_returns_the_current_state(api: Api) -> None:
    run_id = api.launch()["id"]
    for timeout in (0, 0.2):
        response = api.user.get(f"/api/v1/runs/{run_id}", params={"wait": "finished", "timeout": timeout})
        assert (response.status_code, response.json()["state"]) == (200, "queued")


def test_invalid_waits_are_refused(api: Api) -> None:
    run_id = api.launch()["id"]
    for params, field in (({"wait": "started"}, "wait"), ({**WAIT, "timeout": 61}, "timeout")):
        response = api.user.get(f"/api/v1/runs/{run_id}", params=params)
        assert (response.status_code, response.json()["errors"][0]["field"]) == (422, field)
    assert "'finished'" in api.user.get(f"/api/v1/runs/{run_id}?wait=started").json()["detail"]
    assert api.user.get("/api/v1/runs/99", params=WAIT).status_code == 404
    assert api.user.get(f"/api/v1/runs/{run_id}/log", params={"before": 3, "wait": 1}).status_code == 422


@pytest.mark.usefixtures("_notices_only")
def test_the_response_arrives_when_an_evaluation_ends(api: Api) -> None:
    run_id, attempt = api.running()
    api.save(run_id, attempt, 2, 100)
    number = api.evaluate(run_id)["id"]
    with waits(api, f"/evaluations/{number}", **WAIT) as answer:
        api.play([1.0, 3.0])
        assert answer.result(PATIENCE_SECONDS)["mean"] == 2.0


@pytest.mark.usefixtures("_notices_only")
def test_the_response_arrives_when_a_recording_ends(api: Api) -> None:
    run_id, attempt = api.running()
    api.save(run_id, attempt, 2, 100)
    number = api.user.post(f"/api/v1/runs/{run_id}/recordings", json={}).json()["id"]
    with waits(api, f"/recordings/{number}", **WAIT) as answer:
        assert api.user.post(f"/api/v1/recordings/{number}/cancel").status_code == 200
        assert answer.result(PATIENCE_SECONDS)["state"] == "cancelled"


@pytest.mark.usefixtures("_notices_only")
def test_a_log_is_followed_to_the_end_of_the_run(api: Api) -> None:
    run_id, attempt = api.running()
    path, after = f"/runs/{run_id}/log", api.user.get(f"/api/v1/runs/{run_id}/log").json()["next_after"] or 0
    with waits(api, path, after=after, wait=60, search="loss") as answer:
        api.send(run_id, attempt, event(2, "log", message="something else", level="info"))
        api.send(run_id, attempt, event(3, "log", message="the loss is NaN", level="info"))
        page = answer.result(PATIENCE_SECONDS)
    assert [line["message"] for line in page["items"]] == ["the loss is NaN"]
    with waits(api, path, after=page["next_after"], wait=60, search="loss") as answer:
        api.release(run_id, attempt, "failed", message="lost its environment")
        assert answer.result(PATIENCE_SECONDS)["items"] == []


def test_a_wait_ends_when_the_client_disconnects(tmp_path: Path) -> None:
    topic = Topic(frozenset({"run.changed"}), {"run_id": 1})
    checks = threading.Event()

    def pending(_session: Session) -> Topic:
        checks.set()
        return topic

    async def work() -> None:
        disconnect = asyncio.Event()

        async def receive() -> dict[str, Any]:
            await disconnect.wait()
            return {"type": "http.disconnect"}

        state = SimpleNamespace(
            database=Database(f"sqlite:///{tmp_path / 'empty.db'}", tmp_path), check_limiter=lookup.new_check_limiter()
        )
        request = Request({"type": "http", "app": SimpleNamespace(state=state)}, receive)
        async with running(""):
            wait = asyncio.create_task(lookup.wait_while(pending, request, HOURS))
            while not checks.is_set():
                await asyncio.sleep(0)
            disconnect.set()
            await asyncio.wait_for(wait, PATIENCE_SECONDS)
            assert not current_hub().waiters

    asyncio.run(work())


def test_only_notices_of_its_topic_wake_a_waiter() -> None:
    async def work() -> None:
        async with running(""):
            with current_hub().wait() as waiter, current_hub().join() as stream:
                waiter.topic = Topic(frozenset({"run.changed"}), {"run_id": 1})
                for name, run_id, wakes in (("run.changed", 2, False), ("run.log", 1, False), ("run.changed", 1, True)):
                    publish(name, {"run_id": run_id})
                    await stream.next(PATIENCE_SECONDS)
                    assert waiter._changed.is_set() == wakes

    asyncio.run(work())


# Both numbers exceed the number of threads that handle requests.
@pytest.mark.nightly
@pytest.mark.parametrize("clients", [60, 200])
def test_many_waiting_clients_leave_room_and_end_with_the_server(tmp_path: Path, clients: int) -> None:
    server = Server(tmp_path)
    run_id = server.launch()

    async def work() -> None:
        limits = httpx.Limits(max_connections=clients + 1)
        async with httpx.AsyncClient(timeout=PATIENCE_SECONDS, limits=limits) as client:

            async def wait() -> str:
                response = await client.get(f"{server.address}/runs/{run_id}", params=WAIT)
                state: str = response.json()["state"]
                return state

            waiting = [asyncio.create_task(wait()) for _ in range(clients)]
            for turn in range(20):
                edited = await client.patch(f"{server.address}/runs/{run_id}", json={"notes": str(turn)})
                assert edited.json()["notes"] == str(turn)
            assert not any(task.done() for task in waiting)
            server.process.send_signal(signal.SIGTERM)
            assert set(await asyncio.gather(*waiting)) == {"queued"}

    try:
        asyncio.run(work())
        server.process.wait(timeout=PATIENCE_SECONDS)
    finally:
        server.close()
