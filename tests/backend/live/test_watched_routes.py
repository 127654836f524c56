"""The routes of streams and watches, with the routes and rights of the application."""

import asyncio
import json
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from pydantic import SecretStr

from arcadia_backend.config import API, COOKIE, Settings
from arcadia_backend.live.routes import MAX_WATCHES
from arcadia_backend.live.watches import Credentials, Page
from tests.backend.live.simulation import Version, apply
from tests.factories import Api, metrics
from tests.workers.waiting import PATIENCE_SECONDS

TOKEN = "user-secret"


class Visitor:
    """A browser with a page, whose stream is read in the event loop of the application."""

    def __init__(self, client: TestClient, stack: ExitStack, session: str = "") -> None:
        self.client = client
        self.headers = {"Cookie": f"theme=dark; {COOKIE}={session}"} if session else {}
        self.held: dict[str, Version] = {}
        opened = client.app.state.watches.open(Credentials("http", "localhost", "", session))  # type: ignore[attr-defined]
        self.page: Page = self._in_loop(opened.__enter__)
        stack.callback(self._in_loop, opened.__exit__, None, None, None)

    def _in_loop(self, call: Any, *given: Any) -> Any:
        async def work() -> Any:
            found = call(*given)
            return await found if hasattr(found, "__await__") else found

        assert self.client.portal is not None
        return self.client.portal.call(work)

    def fetch(self, path: str) -> Version:
        """Fetch a document."""
        response = self.client.get(path, headers=self.headers)
        assert response.status_code == 200, response.text
        etag, notice = response.headers["etag"].strip('"'), response.headers["arcadia-notice"]
        self.held[path] = Version(response.json(), etag, notice)
        return self.held[path]

    def watch(self, *events: str, stream: str = "", **more: Any) -> Any:
        """Watch all documents. Return the response."""
        watches = [
            {
                "path": path,
                "etag": version.etag,
                "notice": version.notice,
                "topics": [{"event": event} for event in events],
                "every": 0,
                **more,
            }
            for path, version in self.held.items()
        ]
        address = f"{API}/events/{stream or self.page.id}/watches"
        return self.client.put(address, json={"watches": watches}, headers=self.headers)

    def next(self) -> dict[str, Any]:
        """Return the data of the next change of a document, and apply its patch."""
        while True:
            event = self._in_loop(self.page.stream.next, PATIENCE_SECONDS)
            assert event is not None
            if event.name == "document.changed":
                break
        data: dict[str, Any] = json.loads(event.text)
        if "patch" in data:
            held = self.held[data["path"]]
            assert held.etag == data["from"]
            self.held[data["path"]] = Version(apply(held.document, data["patch"]), data["etag"], data["notice"])
        return data

    def until_the_end(self) -> list[str]:
        """Wait until the stream ends. Return the data of the events before that."""

        async def read() -> list[str]:
            texts = []
            async with asyncio.timeout(PATIENCE_SECONDS):
                while (event := await self.page.stream.next(2 * PATIENCE_SECONDS)) is not None:
                    texts.append(event.text)
            return texts

        texts: list[str] = self._in_loop(read)
        return texts


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    """Yield a stack that closes streams before the application ends."""
    with ExitStack() as opened:
        yield opened


@pytest.fixture
def visitor(client: TestClient, stack: ExitStack) -> Visitor:
    """Return a browser."""
    return Visitor(client, stack)


@pytest.fixture
def guarded(app: FastAPI, settings: Settings, client: TestClient) -> TestClient:
    """Return a client of the same application, which now requires a token."""
    app.state.settings = settings.model_copy(update={"token": SecretStr(TOKEN)})
    app.state.credentials._token = TOKEN
    return client


def signed_in(client: TestClient) -> str:
    """Sign in, and return the cookie."""
    response = client.post(f"{API}/session", json={"token": TOKEN})
    assert response.status_code == 200
    cookie = response.cookies[COOKIE]
    client.cookies.clear()
    return cookie


def test_runs_and_figures_follow_a_training(api: Api, visitor: Visitor) -> None:
    run_id, attempt = api.running()
    api.send(run_id, attempt, *(metrics(seq, seq * 10, {"a": seq / 7}, [1.0]) for seq in range(2, 60)))
    paths = [f"{API}/runs?limit=100", f"{API}/runs/{run_id}", f"{API}/figures/curves?runs={run_id}&metric=a"]
    for path in paths:
        visitor.fetch(path)
    assert visitor.watch("run.changed", "run.metrics").status_code == 204
    api.send(run_id, attempt, *(metrics(seq, seq * 10, {"a": seq / 7}, [2.0]) for seq in range(60, 62)))
    while any(visitor.held[path].document != api.user.get(path).json() for path in paths):
        assert "patch" in visitor.next()


def test_a_deleted_run_is_not_found(api: Api, visitor: Visitor) -> None:
    run_id = api.launch()["id"]
    path = f"{API}/runs/{run_id}"
    visitor.fetch(path)
    visitor.watch("run.removed")
    api.act(run_id, "stop")
    assert api.user.delete(path).is_success
    assert visitor.next() == {"path": path, "status": 404}


def test_a_stream_ends_with_its_session_and_others_go_on(guarded: TestClient, stack: ExitStack) -> None:
    ana, ben = (Visitor(guarded, stack, signed_in(guarded)) for _ in range(2))
    path = f"{API}/projects"
    for each in (ana, ben):
        each.fetch(path)
        assert each.watch("projects.changed").status_code == 204
    assert ana.client.delete(f"{API}/session", headers=ana.headers).status_code == 204
    body = {"name": "New"}
    assert guarded.post(path, json=body, headers={"Authorization": f"Bearer {TOKEN}"}).is_success
    assert not any("New" in text for text in ana.until_the_end())
    assert "patch" in ben.next()
    assert "New" in json.dumps(ben.held[path].document)


def test_the_stream_of_another_session_is_not_found(guarded: TestClient, stack: ExitStack) -> None:
    ana, ben = (Visitor(guarded, stack, signed_in(guarded)) for _ in range(2))
    ben.fetch(f"{API}/projects")
    assert ben.watch(stream=ana.page.id).status_code == 404
    assert ben.watch().status_code == 204
    assert ben.client.put(f"{API}/events/{ben.page.id}/watches", json={"watches": []}).status_code == 401
    bearer = {"Authorization": f"Bearer {TOKEN}"}
    assert (
        ben.client.put(f"{API}/events/{ben.page.id}/watches", json={"watches": []}, headers=bearer).status_code == 404
    )
    assert ben.watch(stream="0" * 32).status_code == 404


@pytest.mark.parametrize(
    "path",
    [
        "/etc/passwd",
        f"{API}",
        f"{API}/events",
        f"{API}/worker/jobs/1/starts?attempt=1",
        f"{API}/files/1",
        f"{API}/export/runs/1.csv",
        f"{API}/archives?runs=1",
        f"{API}/runs/1?wait=finished",
        f"{API}/runs/1?wait",
        f"{API}/%65vents",
        f"{API}/runs /1",
        f"{API}/runs\r\nHost: x",
        f"{API}/{'x' * 8_000}",
        "https://other.example/api/v1/runs",
    ],
)
def test_only_documents_can_be_watched(visitor: Visitor, path: str) -> None:
    visitor.held = {path: Version({}, "0" * 16, visitor.page.id[:16] + "-1")}
    assert visitor.watch().status_code == 422


def test_watches_are_limited(visitor: Visitor) -> None:
    notice = visitor.fetch(f"{API}/projects").notice
    for count, status in ((MAX_WATCHES, 204), (MAX_WATCHES + 1, 422)):
        visitor.held = {f"{API}/runs/{n}": Version({}, "0" * 16, notice) for n in range(1, count + 1)}
        assert visitor.watch().status_code == status
    visitor.held = {f"{API}/projects": Version({}, "0" * 16, notice)}
    for wrong in ({"every": -1}, {"etag": '"'}, {"notice": "x-1"}, {"topics": [{"event": "x" * 51}]}, {"more": 1}):
        assert visitor.watch(**wrong).status_code == 422, wrong
    assert visitor.watch(topics=[{"event": "run.changed", "where": {"run_id": 3}}]).status_code == 204
    one: dict[str, Any] = {"path": f"{API}/projects", "etag": None, "notice": None, "topics": [], "every": 0}
    assert (
        visitor.client.put(f"{API}/events/{visitor.page.id}/watches", json={"watches": [one, one]}).status_code == 422
    )


def test_watches_need_no_write_slot(visitor: Visitor, app: FastAPI) -> None:
    visitor.fetch(f"{API}/projects")
    limiter = app.state.write_slots
    taken = [object() for _ in range(int(limiter.total_tokens))]
    for holder in taken:
        visitor._in_loop(limiter.acquire_on_behalf_of_nowait, holder)
    assert visitor.watch().status_code == 204
    for holder in taken:
        visitor._in_loop(limiter.release_on_behalf_of, holder)
