"""Tests of the export of a run's points."""

import csv
import io
import json

import pytest

from arcadia_backend.metrics import reading
from tests.factories import Api, metrics, started


def resumed_run(api: Api) -> int:
    """Create a run with two points, of which the second is superseded, and then a NaN point."""
    run_id, attempt = api.running()
    api.send(run_id, attempt, metrics(2, 10, {"a": 0.1}), metrics(3, 20, {"a": 2}))
    api.release(run_id, attempt, "drained")
    attempt = api.claim()["attempt"]
    api.send(run_id, attempt, started(1, resumed_from=10), metrics(2, 15, {"a": "NaN", "b": "-Infinity"}))
    return run_id


def test_csv_includes_superseded_points(api: Api) -> None:
    run_id = resumed_run(api)
    answer = api.user.get(f"/api/v1/export/runs/{run_id}.csv")
    assert answer.headers["content-type"].startswith("text/csv")
    assert answer.headers["content-disposition"] == f'attachment; filename="run-{run_id}.csv"'
    rows = list(csv.DictReader(io.StringIO(answer.text)))
    assert [(row["attempt"], row["superseded"], row["step"], row["name"], row["value"]) for row in rows] == [
        ("1", "false", "10", "a", "0.1"),
        ("1", "true", "20", "a", "2.0"),
        ("2", "false", "15", "a", "NaN"),
        ("2", "false", "15", "b", "-Infinity"),
    ]
    assert (rows[0]["frames"], float(rows[0]["time"])) == ("40", 1_700_000_002.0)


def test_json_lines_write_nan_as_a_string(api: Api) -> None:
    run_id = resumed_run(api)
    text = api.user.get(f"/api/v1/export/runs/{run_id}.jsonl").text
    points = [json.loads(line) for line in text.splitlines()]
    assert points[1] == {
        "attempt": 1,
        "superseded": True,
        "step": 20,
        "frames": 80,
        "time": 1_700_000_003.0,
        "name": "a",
        "value": 2.0,
    }
    assert [point["value"] for point in points] == [0.1, 2.0, "NaN", "-Infinity"]
    assert "NaN," not in text.replace('"NaN"', "")


def test_exports_can_leave_out_metrics_and_superseded_points(api: Api) -> None:
    run_id = resumed_run(api)
    chosen: dict[str, str | bool] = {"names": "a", "superseded": False}
    text = api.user.get(f"/api/v1/export/runs/{run_id}.jsonl", params=chosen).text
    assert [(point["name"], point["value"]) for point in map(json.loads, text.splitlines())] == [
        ("a", 0.1),
        ("a", "NaN"),
    ]
    rows = list(csv.DictReader(io.StringIO(api.user.get(f"/api/v1/export/runs/{run_id}.csv", params=chosen).text)))
    assert [(row["attempt"], row["superseded"], row["value"]) for row in rows] == [
        ("1", "false", "0.1"),
        ("2", "false", "NaN"),
    ]
    assert api.user.get(f"/api/v1/export/runs/{run_id}.jsonl?names=b,c").text.count("\n") == 1
    for path in (f"export/runs/{run_id}.csv", f"export/runs/{run_id}.jsonl", f"runs/{run_id}/points"):
        assert api.user.get(f"/api/v1/{path}", params={"names": "a\rb"}).status_code == 422, path


def test_columns_have_the_points_of_the_final_curve(api: Api) -> None:
    run_id = resumed_run(api)
    answer = api.user.get(f"/api/v1/runs/{run_id}/points")
    assert answer.headers["content-type"] == "application/json"
    a = {
        "attempt": [1, 2],
        "step": [10, 15],
        "frames": [40, 60],
        "time": [1_700_000_002.0, 1_700_000_002.0],
        "value": [0.1, "NaN"],
    }
    b = {"attempt": [2], "step": [15], "frames": [60], "time": [1_700_000_002.0], "value": ["-Infinity"]}
    assert answer.json() == {"run_id": run_id, "series": {"a": a, "b": b}}
    assert api.user.get(f"/api/v1/runs/{run_id}/points?names=b,none").json()["series"] == {"b": b}
    assert api.user.get(f"/api/v1/runs/{api.launch()['id']}/points").json()["series"] == {}


def test_columns_of_thousands_of_points_are_exact(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "CHUNKS_PER_READ", 2)
    run_id, attempt = api.running()
    values = [seq / 7 for seq in range(1_500)]
    for start in range(0, 1_500, 500):
        part = list(enumerate(values))[start : start + 500]
        api.send(run_id, attempt, *(metrics(index + 2, index, {"a": value}) for index, value in part))
    columns = api.user.get(f"/api/v1/runs/{run_id}/points?names=a").json()["series"]["a"]
    assert columns["value"] == values
    assert columns["step"] == list(range(1_500))
    assert {len(column) for column in columns.values()} == {1_500}


def test_export_returns_thousands_of_points_exactly(api: Api) -> None:
    run_id, attempt = api.running()
    values = [seq / 7 for seq in range(2, 1_502)]
    for start in range(0, 1_500, 500):
        part = list(enumerate(values))[start : start + 500]
        api.send(run_id, attempt, *(metrics(index + 2, index, {"a": value}) for index, value in part))
    rows = list(csv.DictReader(io.StringIO(api.user.get(f"/api/v1/export/runs/{run_id}.csv").text)))
    assert [float(row["value"]) for row in rows] == values
    assert [int(row["step"]) for row in rows] == list(range(1_500))


def test_a_run_without_points_exports_only_the_header(api: Api) -> None:
    run_id = api.launch()["id"]
    assert api.user.get(f"/api/v1/export/runs/{run_id}.csv").text == (
        "attempt,superseded,step,frames,time,name,value\n"
    )
    assert api.user.get(f"/api/v1/export/runs/{run_id}.jsonl").text == ""
    assert api.user.get("/api/v1/export/runs/999.csv").status_code == 404
