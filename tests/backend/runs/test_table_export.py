"""Export of all runs that match a filter."""

import csv
import io
import json

import pytest

from arcadia_backend.runs import table_export
from tests.factories import Api, metrics


def test_all_matching_runs_are_exported(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table_export, "BATCH_SIZE", 2)
    run_id, attempt = api.running(name="=1+1", tags=["a", "b"])
    assert api.send(run_id, attempt, metrics(2, 500, returns=["NaN"])).is_success
    ids = [api.launch(name=f"run {number}", tags=["a"])["id"] for number in range(5)]
    api.launch(name="other")
    query = {"tag": "a", "exclude": ids[3]}
    expected = [run_id, *ids[:3], ids[4]]

    answer = api.user.get("/api/v1/export/runs.jsonl", params=query)
    lines = [json.loads(line) for line in answer.text.splitlines()]
    assert [line["id"] for line in lines] == expected
    listed = api.run(run_id)
    assert {name: lines[0][name] for name in ("name", "tags", "config", "step")} == {
        name: listed[name] for name in ("name", "tags", "config", "step")
    }
    assert lines[0]["last_return"] == "NaN"

    answer = api.user.get("/api/v1/export/runs.csv", params=query)
    assert answer.headers["content-disposition"] == 'attachment; filename="runs.csv"'
    rows = [*csv.DictReader(io.StringIO(answer.text))]
    assert [int(row["id"]) for row in rows] == expected
    # A spreadsheet would calculate it.
    assert rows[0]["name"] == "'=1+1"
    assert json.loads(rows[0]["config"]) == listed["config"]
    assert rows[1]["best_return"] == ""


def test_a_wrong_filter_is_refused_before_the_file_begins(api: Api) -> None:
    answer = api.user.get("/api/v1/export/runs.csv", params={"filter": "retrn > 1"})
    assert (answer.status_code, "retrn" in answer.text) == (422, True)
