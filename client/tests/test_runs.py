"""Runs: waiting, following the log, metrics and checkpoints."""

from __future__ import annotations

import asyncio
import sys
from typing import Any

import httpx
import pytest
from arcadia import (
    ArcadiaError,
    AsyncClient,
    AsyncRun,
    Client,
    DownloadError,
    MissingPackageError,
    NotFoundError,
    NotLoadedError,
    Run,
    RunForecast,
    ServerUnreachableError,
    WaitTimeoutError,
)
from arcadia._sync import transport
from fake_server import ACTIONS, URL, FakeServer, page, run

SERIES: dict[str, Any] = {"x": [1, 2], "mean": [1.0, "Infinity"], "min": [1, 2], "max": [1, 2], "count": [1, 1]}
CHECKPOINT: dict[str, Any] = {
    "id": 1,
    "step": 100,
    "frames": 100,
    "attempt": 1,
    "file_id": 7,
    "bytes": 10,
    "return_mean": None,
    "best": False,
    "available": True,
    "pinned": False,
    "created_at": "2026-11-26T10:00:00Z",
}


def connect(answers: dict[str, Any], **changes: Any) -> tuple[Run, FakeServer]:
    server = FakeServer(answers)
    return Run(Client(URL, transport=server.transport).transport, run(**changes)), server


def line(number: int) -> dict[str, Any]:
    return {"id": number, "time": "2026-11-26T10:00:00Z", "attempt": 1, "level": "info", "message": f"line {number}"}


def test_fields_have_their_types() -> None:
    found, _ = connect({})
    assert (found.progress, found.seed, found.last_return) == (0.25, 3, 20.5)
    assert found.best_return != found.best_return  # NaN
    assert found.started_at is not None
    assert (found.started_at - found.created_at).total_seconds() == 1.5
    assert repr(found) == "<Run 12 'a run': running, 25%, return 20.5>"


@pytest.mark.parametrize(("seconds", "text"), [(5400.2, "5,400 s"), (None, "an unknown time")])
def test_a_forecast_shows_its_time(seconds: float | None, text: str) -> None:
    forecast = RunForecast({"seconds": seconds, "queue": "gpu", "capacity": {"workers": 3, "idle": 1}})
    assert repr(forecast) == f"<RunForecast: {text} on a gpu worker>"
    assert (forecast.workers, forecast.idle_workers) == (3, 1)


def test_a_listed_run_has_its_empty_fields_and_its_actions() -> None:
    server = FakeServer({"/runs": page(run(), run(id=13, tags=[]))})
    first, second = Client(URL, transport=server.transport).runs()
    assert (first.tags, second.tags, second.finished_at, second.failure) == (["one"], [], None, None)
    assert second.data["actions"] == ACTIONS
    assert (first.parent_id, first.progress) == (None, 0.25)
    assert len(server.requests) == 1


def test_a_listed_run_reads_its_details_once() -> None:
    failure = {"message": "it broke", "traceback": "line 1"}
    server = FakeServer({"/runs": page(run(failure={"message": "it broke"})), "/runs/12": run(failure=failure)})
    (found,) = Client(URL, transport=server.transport).runs()
    assert (found.failure, found.seed, found.config["learning_rate"]) == ("it broke", 3, 0.001)
    assert (found.notes, found.warnings, found.study_id, found.trained_seconds) == ("", [], None, 25.0)
    assert found.traceback == "line 1"
    assert [request.url.path for request in server.requests] == ["/api/v1/runs", "/api/v1/runs/12"]


def test_the_traceback_of_a_listed_run_is_read_at_first_use() -> None:
    failure = {"message": "it broke", "traceback": "line 1"}
    server = FakeServer({"/runs": page(run(failure={"message": "it broke"})), "/runs/12": run(failure=failure)})
    (found,) = Client(URL, transport=server.transport).runs()
    assert found.traceback == "line 1"


def test_a_list_can_include_the_configuration() -> None:
    listed = page(run())
    listed["items"][0]["config"] = {"seed": 3}
    server = FakeServer({"/runs": listed})
    client = Client(URL, transport=server.transport)
    assert [found.seed for found in [*client.runs(include=["config.seed"]), *client.runs("12-13", include=["config"])]]
    assert [request.url.params["include"] for request in server.requests[:2]] == ["config.seed", "config"]
    assert len(server.requests) == 3, "the archived runs of the range are another request"


def test_an_asynchronous_listed_run_says_how_to_read_its_details() -> None:
    server = FakeServer({"/runs": page(run()), "/runs/12": run()})

    async def read() -> int | None:
        async with AsyncClient(URL, transport=server.transport) as client:
            (found,) = await client.runs()
            with pytest.raises(NotLoadedError, match=r"Await its refresh\(\) first"):
                found.config  # noqa: B018 - the property raises
            await found.refresh()
            return found.seed

    assert asyncio.run(read()) == 3


def test_wait_polls_until_the_run_has_ended() -> None:
    found, server = connect({"/runs/12": [run(), run(step=900), run(state="finished", step=1000)]})
    assert found.wait().state == "finished"
    assert [request.url.params["wait"] for request in server.requests] == ["finished"] * 3


def test_wait_ends_when_the_run_is_paused() -> None:
    found, _ = connect({"/runs/12": run(state="paused")})
    assert found.wait().state == "paused"


def test_wait_reports_at_the_timeout_that_the_run_continues() -> None:
    found, server = connect({"/runs/12": run()})
    with pytest.raises(WaitTimeoutError, match=r"still running after 0\.02 seconds"):
        found.wait(timeout=0.02)
    assert all(float(request.url.params["timeout"]) <= 0.02 for request in server.requests)


@pytest.fixture
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Retry immediately."""
    monkeypatch.setattr(transport, "FIRST_PAUSE_SECONDS", 0.0)
    monkeypatch.setattr(transport, "OUTAGE_PAUSE_SECONDS", 0.0)


@pytest.mark.usefixtures("no_pauses")
def test_wait_survives_a_restart_of_the_server(caplog: pytest.LogCaptureFixture) -> None:
    outage = [httpx.ConnectError("refused")] * (3 * transport.MAX_TRIES) + [httpx.Response(503)] * transport.MAX_TRIES
    found, _ = connect({"/runs/12": [*outage, run(state="finished", step=1000)]})
    assert found.wait().state == "finished"
    away, back = (record.getMessage() for record in caplog.records)
    assert away.startswith("No Arcadia server answers at http://arcadia.test")
    assert away.endswith("Trying again.")
    assert back == "The server answers again."


@pytest.mark.usefixtures("no_pauses")
def test_wait_for_an_unreachable_server_ends_at_the_timeout() -> None:
    found, _ = connect({"/runs/12": httpx.ConnectError("refused")})
    with pytest.raises(ServerUnreachableError):
        found.wait(timeout=0.01)


@pytest.mark.usefixtures("no_pauses")
def test_wait_does_not_repeat_a_request_that_the_server_rejects() -> None:
    found, server = connect({"/runs/12": httpx.Response(404, json={"detail": "There is no run 12."})})
    with pytest.raises(NotFoundError):
        found.wait()
    assert len(server.requests) == 1


def test_the_log_begins_with_the_last_lines_or_after_a_line() -> None:
    found, server = connect({"/runs/12/log": {"items": [line(8), line(9)], "next_after": 9}})
    assert [each.id for each in found.log(last=2)] == [8, 9]
    assert [each.id for each in found.log(last=2, after=8)] == [9]
    assert [each.id for each in found.log(after=7)] == [8, 9]
    last, _, after = (dict(request.url.params) for request in server.requests)
    assert last == {"limit": "2"}
    assert after["after"] == "7"


def test_following_continues_after_the_last_lines() -> None:
    pages = [{"items": [line(9)], "next_after": 9}, {"items": [line(10)], "next_after": 10}]
    found, server = connect({"/runs/12/log": pages, "/runs/12": run(state="finished")})
    assert [each.id for each in found.log(follow=True, last=1)] == [9, 10]
    assert server.requests[-1].url.params["after"] == "9"


def test_the_log_is_read_in_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("arcadia._sync.runs.LOG_PAGE_SIZE", 2)
    pages = [{"items": [line(1), line(2)], "next_after": 2}, {"items": [line(3)], "next_after": 3}]
    found, server = connect({"/runs/12/log": pages})
    assert [each.message for each in found.log()] == ["line 1", "line 2", "line 3"]
    assert [request.url.params["after"] for request in server.requests] == ["0", "2"]
    assert "wait" not in server.requests[0].url.params


def test_a_followed_log_ends_with_the_last_line_of_the_run() -> None:
    pages = [
        {"items": [line(1)], "next_after": 1},
        {"items": [], "next_after": 1},
        {"items": [line(2)], "next_after": 2},
    ]
    states = [run(), run(), run(state="finished")]
    found, _ = connect({"/runs/12/log": pages, "/runs/12": states})
    assert [each.message for each in found.log(follow=True)] == ["line 1", "line 2"]


def test_the_asynchronous_log_is_followed_too() -> None:
    server = FakeServer({"/runs/12/log": {"items": [line(1)], "next_after": 1}, "/runs/12": run(state="finished")})

    async def read() -> list[str]:
        async with AsyncClient(URL, transport=server.transport) as client:
            return [each.message async for each in AsyncRun(client.transport, run()).log(follow=True)]

    assert asyncio.run(read()) == ["line 1"]


def test_metrics_report_whether_they_are_thinned() -> None:
    raw = {**SERIES, "resolution": "raw", "total": 2}
    thinned = {**SERIES, "resolution": "buckets", "total": 900}
    found, server = connect({"/runs/12/metrics": [{"series": {"a/b": raw}}, {"series": {"a/b": thinned}}]})
    everything = found.metrics(["a/b"])
    assert not everything.thinned
    assert everything.to_lists() == {"a/b": ([1.0, 2.0], [1.0, float("inf")])}
    assert next(everything.to_rows()) == ("a/b", 1.0, 1.0, 1.0, 1.0, 1)
    some = found.metrics("a/b", buckets=2)
    assert some.thinned
    assert repr(some["a/b"]) == "<Series 'a/b': 2 of 900 points>"
    assert server.requests[1].url.params["buckets"] == "2"


def series(xs: list[float]) -> dict[str, Any]:
    """Return points as the API does: at most two, or buckets."""
    if len(xs) <= 2:
        return {**dict.fromkeys(("mean", "min", "max"), xs), "x": xs, "count": [1] * len(xs), "resolution": "raw"}
    ends = [xs[0], xs[-1]]
    return {**dict.fromkeys(("mean", "min", "max"), ends), "x": ends, "count": [2, 3], "resolution": "buckets"}


def test_all_points_of_a_long_series_are_read_in_parts() -> None:
    xs = [0.0, 1.0, 2.0, 3.0, 4.0, 7.0, 7.5, 8.0]

    def answer(request: httpx.Request) -> dict[str, Any]:
        low, high = (float(request.url.params.get(name, end)) for name, end in (("from", "-inf"), ("to", "inf")))
        inside = [x for x in xs if low <= x <= high]
        return {"series": {"a": {**series(inside), "total": len(inside)}} if inside else {}}

    found, _ = connect({"/runs/12/metrics": answer})
    everything = found.metrics("a")
    assert everything["a"].x == xs
    assert everything["a"].total == len(xs)
    assert not everything.thinned


def test_many_metrics_take_several_requests(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("arcadia._sync.references.NAMES_PER_REQUEST", 2)
    raw = {**SERIES, "resolution": "raw", "total": 2}
    answers = [{"series": {"a": raw, "b": raw}}, {"series": {"c": raw}}]
    found, server = connect({"/runs/12/metric-names": [["a", "b", "c"]], "/runs/12/metrics": answers})
    assert found.metrics().names == ["a", "b", "c"]
    assert [request.url.params["names"] for request in server.requests[1:]] == ["a,b", "c"]


def test_checkpoints_are_chosen_by_word_or_step() -> None:
    rows = [
        CHECKPOINT,
        {**CHECKPOINT, "id": 2, "step": 200, "best": True},
        {**CHECKPOINT, "id": 3, "step": 300},
        {**CHECKPOINT, "id": 4, "step": 400, "file_id": None, "available": False},
    ]
    found, _ = connect({"/runs/12/checkpoints": [rows]})
    assert [found.checkpoint(choice).id for choice in ("newest", "best", 100)] == [3, 2, 1]
    with pytest.raises(ArcadiaError, match=r"no checkpoint at step 400\. It has 100, 200, 300"):
        found.checkpoint(400)
    with pytest.raises(DownloadError, match="was pruned"):
        found.checkpoints()[-1].download()


def test_loading_tensors_without_torch_names_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    found, _ = connect({"/runs/12/checkpoints": [[CHECKPOINT]]})
    with pytest.raises(MissingPackageError, match="needs the package torch"):
        found.checkpoint("newest").load("torch")


def test_tags_are_added_to_the_current_ones() -> None:
    found, server = connect({"/runs/12": [run(tags=["two"]), run(tags=["two", "new"])]})
    assert found.tag("new", "two").tags == ["two", "new"]
    assert server.requests[-1].content == b'{"tags":["two","new"]}'
