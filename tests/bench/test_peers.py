"""Comparison with other products: its table, and the data that each product gets."""

from bench.peers.requests import Sample, get
from bench.peers.runs import METRICS, synthetic_runs
from bench.peers.table import report

LIST = [Sample(0.010, 120_000, 9_000, 1), Sample(0.030, 120_000, 9_000, 1), Sample(0.020, 120_000, 9_000, 1)]
SLOW_LIST = [Sample(1.2, 900_000, 900_000, 2)]


def rows(table: str) -> dict[str, list[str]]:
    """Return the cells of each row by its first cell."""
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()[2:]]
    return {first: rest for first, *rest in cells}


def test_the_table_shows_median_p95_and_bytes_and_marks_the_fastest() -> None:
    table = report({"Arcadia": {"list-1000": SLOW_LIST}, "MLflow": {"list-1000": LIST}})
    assert table.splitlines()[0] == "| | Arcadia | MLflow |"
    assert rows(table)["list of all runs"] == [
        "1,200 ms (p95 1,200); 900 kB, 900 kB sent; 2 requests",
        "**20 ms** (p95 29); 120 kB, 9 kB sent; 1 request",
    ]


def test_a_chart_has_times_only() -> None:
    table = report({"Arcadia": {"chart-cold": [Sample(0.5)]}, "Trackio": {"chart-cold": [Sample(0.25)]}})
    row = rows(table)["first chart of that page, empty cache"]
    assert row == ["500 ms (p95 500)", "**250 ms** (p95 250)"]


def test_a_missing_request_of_a_product_is_shown() -> None:
    table = report({"MLflow": {"list-200": LIST}, "Trackio": {}})
    assert rows(table)["list of 200 runs"][1] == "no such request"


def test_every_product_gets_the_same_runs() -> None:
    once, again = list(synthetic_runs(3, 50)), list(synthetic_runs(3, 50))
    assert once == again
    assert [len(run.curves) for run in once] == [50] * 3
    assert {len(row) for run in once for row in run.curves} == {len(METRICS)}
    assert len({run.parameters["learning_rate"] for run in once}) == 3


def test_a_query_may_repeat_a_name() -> None:
    assert get("/history", run_id=["a", "b"]).path == "/history?run_id=a&run_id=b"
