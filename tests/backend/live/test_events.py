"""The stream of events over HTTP, from a server in a separate process."""

import json
import signal
from collections.abc import Iterator

import httpx
import pytest

from tests.server_process import Server
from tests.workers.waiting import PATIENCE_SECONDS


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Yield a running backend on SQLite. The last test of this file stops it."""
    started = Server(tmp_path_factory.mktemp("server"))
    yield started
    started.close()


def notices(lines: Iterator[str]) -> Iterator[tuple[str, object, str]]:
    """Yield the name, payload and id of each event."""
    event: dict[str, str] = {}
    for line in lines:
        if line:
            field, _, value = line.partition(": ")
            event[field] = value
        else:
            if "event" in event:
                yield event["event"], json.loads(event["data"]), event.get("id", "")
            event = {}


@pytest.mark.nightly
def test_a_page_is_notified_of_a_launch_and_refetches_after_a_reconnect(server: Server) -> None:
    with httpx.stream("GET", f"{server.address}/events", timeout=PATIENCE_SECONDS) as stream:
        assert stream.headers["content-type"].startswith("text/event-stream")
        lines = stream.iter_lines()
        assert next(lines).startswith(":")
        heard = notices(lines)
        assert next(heard)[0] == "hello"
        run_id = server.launch()
        name, payload, number = next(heard)
        assert (name, payload) == ("run.changed", {"run_id": run_id})
        assert number
    with httpx.stream(
        "GET", f"{server.address}/events", headers={"Last-Event-ID": number}, timeout=PATIENCE_SECONDS
    ) as stream:
        assert [name for (name, _payload, _id), _ in zip(notices(stream.iter_lines()), range(2), strict=False)] == [
            "hello",
            "refetch",
        ]


def test_each_notice_is_compressed_and_sent_immediately(server: Server) -> None:
    with httpx.stream("GET", f"{server.address}/events", timeout=PATIENCE_SECONDS) as stream:
        assert stream.headers["content-encoding"] == "gzip"
        lines = stream.iter_lines()
        heard, run_id = notices(lines), server.launch()
        assert [next(heard)[0] for _ in range(2)] == ["hello", "run.changed"]
        for turn in range(15):
            httpx.patch(f"{server.address}/runs/{run_id}", json={"notes": str(turn)}, timeout=PATIENCE_SECONDS)
            # A server that buffers each notice until the next one would block here.
            assert next(heard)[:2] == ("run.changed", {"run_id": run_id})


def test_changes_of_a_document_come_over_the_stream(server: Server) -> None:
    with httpx.stream("GET", f"{server.address}/events", timeout=PATIENCE_SECONDS) as stream:
        heard, run_id = notices(stream.iter_lines()), server.launch()
        _name, hello, _id = next(heard)
        assert isinstance(hello, dict)
        response = httpx.get(f"{server.address}/runs/{run_id}", timeout=PATIENCE_SECONDS)
        etag, path = response.headers["etag"].strip('"'), f"/api/v1/runs/{run_id}"
        watch = {"path": path, "etag": etag, "notice": response.headers["arcadia-notice"], "every": 0}
        topics = [{"event": "run.changed", "where": {"run_id": run_id}}]
        httpx.put(
            f"{server.address}/events/{hello['stream']}/watches",
            json={"watches": [{**watch, "topics": topics}]},
            timeout=PATIENCE_SECONDS,
        ).raise_for_status()
        httpx.patch(f"{server.address}/runs/{run_id}", json={"notes": "é"}, timeout=PATIENCE_SECONDS)
        change = next(payload for name, payload, _id in heard if name == "document.changed")
        assert isinstance(change, dict)
        assert (change["path"], change["from"], change["patch"]) == (path, etag, [["set", ["notes"], "é"]])


def test_the_server_stops_at_once_despite_open_pages(server: Server) -> None:
    with httpx.stream("GET", f"{server.address}/events", timeout=PATIENCE_SECONDS) as stream:
        lines = stream.iter_lines()
        heard = notices(lines)
        next(heard)
        server.process.send_signal(signal.SIGTERM)
        assert [name for name, _payload, _id in heard] == []
    server.process.wait(timeout=PATIENCE_SECONDS)
