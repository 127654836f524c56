"""Tests of updates of a live figure, which contain only new points."""

import copy
import math
from typing import Any

import pytest

from arcadia_backend.comparisons.routes import MAX_RUNS
from tests.factories import Api, metrics, started

CURVES = "/api/v1/figures/curves"
LOOK: dict[str, Any] = {"metric": "a", "smoothing": 0.6}


def merged(held: dict[str, Any], answer: dict[str, Any]) -> dict[str, Any]:
    """Return the client's figure after a response."""
    if answer["complete"]:
        return answer
    traces = copy.deepcopy(held["data"])
    for trace, new in zip(traces, answer["data"], strict=True):
        assert trace["uid"] == new["uid"]
        for name in new.keys() & {"x", "y", "customdata", "text"}:
            trace[name] = trace[name][: new["keep"]] + new[name]
    return {"data": traces, "layout": answer["layout"]}


def values(start: int, number: int, phase: float = 0.0) -> list[dict[str, Any]]:
    """Return metrics events for `number` steps from `start` on."""
    steps = range(start, start + number)
    return [metrics(step + 2, 10 * step, {"a": math.sin(step / 90 + phase) + math.sin(step * step)}) for step in steps]


@pytest.mark.nightly
def test_updates_add_up_to_the_whole_figure(api: Api) -> None:
    run_id, attempt = api.running()
    other = api.launch()["id"]
    query = LOOK | {"runs": f"{run_id},{other}", "buckets": 100}
    api.send(run_id, attempt, *values(0, 50))
    held = api.user.get(CURVES, params=query).json()
    partial = 0
    for start in range(50, 1_050, 40):
        api.send(run_id, attempt, *values(start, 40)).raise_for_status()
        answer = api.user.get(CURVES, params=query | {"after": held["cursor"]}).json()
        partial += not answer["complete"]
        whole = api.user.get(CURVES, params=query).json()
        cursor = answer["cursor"]
        held = merged(held, answer)
        assert (held["data"], held["layout"], cursor) == (whole["data"], whole["layout"], whole["cursor"])
        held["cursor"] = cursor
    assert partial > 12


def test_updates_of_ten_live_runs_are_small(api: Api) -> None:
    made = []
    for _ in range(10):
        run_id, attempt = api.running()
        for start in range(0, 2_000, 500):
            api.send(run_id, attempt, *values(start, 500, run_id)).raise_for_status()
        made.append((run_id, attempt))
    query = LOOK | {"runs": ",".join(str(run_id) for run_id, _attempt in made)}
    first = api.user.get(CURVES, params=query)
    for run_id, attempt in made:
        api.send(run_id, attempt, *values(2_000, 5, run_id)).raise_for_status()
    second = api.user.get(CURVES, params=query | {"after": first.json()["cursor"]})
    assert not second.json()["complete"]
    assert len(second.json()["data"]) == 4 * len(made)
    # One such response per second for an hour stays below 15 MB.
    assert int(second.headers["content-length"]) < 4_000


def test_changed_points_or_style_return_the_whole_figure(api: Api) -> None:
    run_id, attempt = api.running()
    query = LOOK | {"runs": run_id}
    api.send(run_id, attempt, *values(0, 20))
    cursor = api.user.get(CURVES, params=query).json()["cursor"]
    assert not api.user.get(CURVES, params=query | {"after": cursor}).json()["complete"]
    assert api.user.get(CURVES, params=query | {"after": cursor, "smoothing": 0.7}).json()["complete"]
    api.release(run_id, attempt, "drained")
    attempt = api.claim()["attempt"]
    api.send(run_id, attempt, started(1, resumed_from=50), metrics(2, 60, {"a": 9}))
    answer = api.user.get(CURVES, params=query | {"after": cursor}).json()
    assert answer["complete"]
    assert answer["data"][-1]["x"] == [0, 10, 20, 30, 40, 50, 60]


def test_several_metrics_of_a_run_are_updated_too(api: Api) -> None:
    run_id, attempt = api.running()
    query: dict[str, Any] = {"runs": run_id, "metrics": "ga3c/agents,ga3c/trainers"}
    counts = [metrics(step, step, {"ga3c/agents": 16, "ga3c/trainers": 2}) for step in range(2, 12)]
    api.send(run_id, attempt, *counts[:8])
    first = api.user.get("/api/v1/figures/together", params=query).json()
    api.send(run_id, attempt, *counts[8:])
    answer = api.user.get("/api/v1/figures/together", params=query | {"after": first["cursor"]}).json()
    assert not answer["complete"]
    assert [trace["x"] for trace in answer["data"]] == [[8, 9, 10, 11]] * 2
    whole = api.user.get("/api/v1/figures/together", params=query).json()
    assert merged(first, answer)["data"] == whole["data"]


def test_invalid_cursors_are_rejected(api: Api) -> None:
    run_id = api.launch()["id"]
    for after in ("nonsense", "-1", "0123456789abcdef-x", "0123456789abcdef-999999"):
        answer = api.user.get(CURVES, params={"runs": run_id, "after": after})
        assert answer.status_code == 422, after
        assert answer.json()["errors"][0]["field"] == "after"
    assert api.user.get(CURVES, params={"runs": run_id, "after": "0123456789abcdef-7"}).json()["complete"]


@pytest.mark.nightly
@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_a_figure_of_the_maximum_number_of_runs_is_updated(api: Api) -> None:
    ids = []
    for _ in range(MAX_RUNS):
        run_id, attempt = api.running()
        sent = [metrics(1 + n, 10 * n, {"a": "NaN" if n == 4 else n}) for n in range(1, 7)]
        api.send(run_id, attempt, *sent).raise_for_status()
        ids.append(str(run_id))
    query = LOOK | {"runs": ",".join(ids), "buckets": 3}
    held = api.user.get(CURVES, params=query).json()
    # A figure shows the curves of this many runs as a distribution.
    assert [len(trace["meta"]["group"]) for trace in held["data"]] == 5 * [MAX_RUNS]
    answer = api.user.get(CURVES, params=query | {"after": held["cursor"]})
    assert (answer.status_code, answer.json().get("complete")) == (200, False)
