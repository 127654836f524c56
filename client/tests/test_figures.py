"""Figures and comparisons."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import httpx
import pytest
from arcadia import ArcadiaError, Client, Comparison, Figure, MissingPackageError, NotFoundError
from arcadia.tables import import_optional
from fake_server import URL, FakeServer

DATA: dict[str, Any] = {
    "data": [{"type": "scatter", "name": "a", "x": [1, 2], "y": [3, 4]}],
    "layout": {"xaxis": {"title": {"text": "Step"}}},
    "cursor": "",
    "complete": True,
    "missing": [],
}
STANDINGS = [
    {"name": "a <b>", "run_ids": [1, 2, 3], "n": 3, "failed": 1, "mean": {"value": 5.0, "low": 4.0, "high": 6.0}},
    {"name": "b", "run_ids": [4], "n": 0, "failed": 0, "mean": None},
]
VERDICT: dict[str, Any] = {
    "standings": STANDINGS,
    "pairs": [{"text": "a <b> is better.", "significant": True}],
    "quantity": "Mean return",
    "message": "",
}
COMPARED: dict[str, Any] = {
    "differences": [
        {"field": "seed", "values": {"1": 1, "4": 2}, "same": False},
        {"field": "env", "values": {"1": "x"}, "same": True},
    ]
}


def test_an_unknown_figure_is_answered_with_similar_names() -> None:
    missing = httpx.Response(404, json={"detail": "There is no path."})
    names = httpx.Response(200, json=[{"name": "curves"}, {"name": "profile"}])
    server = FakeServer({"/figures/curvs": missing, "/figures/x": missing, "/figures": names})
    client = Client(URL, transport=server.transport)
    with pytest.raises(NotFoundError, match=r"no figure named 'curvs'\. Did you mean curves\?"):
        client.figure("curvs", [1])
    with pytest.raises(NotFoundError, match=r"Known: curves, profile\."):
        client.figure("x", [1])


def test_a_figure_is_saved_by_its_ending(tmp_path: Path) -> None:
    figure = Figure("curves", DATA)
    assert json.loads(figure.save(tmp_path / "a.json").read_text()) == figure.to_dict()
    assert figure.save(tmp_path / "a.csv").read_text() == "trace,x,y\na,1,3\na,2,4\n"
    assert figure.save(tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    assert "Plotly.newPlot" in figure.save(tmp_path / "a.html").read_text()
    assert figure.to_plotly().data[0].name == "a"


def test_an_unknown_ending_is_rejected(tmp_path: Path) -> None:
    with pytest.raises(ArcadiaError, match=r"\.json, \.csv, \.html, \.png, \.svg, \.pdf"):
        Figure("curves", DATA).save(tmp_path / "a.gif")
    assert list(tmp_path.iterdir()) == []


def test_a_notebook_gets_the_figure_and_an_image() -> None:
    bundle = Figure("curves", DATA)._repr_mimebundle_()
    assert bundle["application/vnd.plotly.v1+json"]["data"] == DATA["data"]
    assert "<svg" in bundle["image/svg+xml"]


def test_a_missing_package_is_named() -> None:
    with pytest.raises(MissingPackageError, match="pip install no_such_package"):
        import_optional("no_such_package.part", "Metrics.to_nothing")


def test_a_comparison_has_a_verdict_and_a_table() -> None:
    compared = Comparison(COMPARED, VERDICT)
    assert compared.verdict == "a <b> is better."
    assert compared.is_significant
    numbers = {"n": 3, "failed": 1, "mean": 5.0, "low": 4.0, "high": 6.0}
    assert compared.table[0] == {"group": "a <b>", "runs": [1, 2, 3], **numbers, "no_interval": ""}
    assert compared.table[1]["mean"] is None
    assert compared.differences == {"seed": {1: 1, 4: 2}}


def test_names_of_groups_are_escaped() -> None:
    shown = Comparison(COMPARED, VERDICT)._repr_html_()
    assert "<b>" not in shown
    assert shown.count("a &lt;b&gt;") == 2


def test_a_comparison_without_a_verdict_explains_why() -> None:
    compared = Comparison(COMPARED, {**VERDICT, "pairs": [], "message": "One group only."})
    assert compared.verdict == "One group only."
    assert not compared.is_significant
