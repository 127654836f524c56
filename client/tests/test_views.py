"""Saved views as parameters of the list of runs."""

from __future__ import annotations

from typing import Any

import pytest
from arcadia.records.server import SavedView


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("", {}),
        ("sort=-best_return&charts=", {"sort": "-best_return"}),
        ("state=running&state=queued&tag=a", {"state": ["running", "queued"], "tag": ["a"]}),
        ("filter=learning_rate+%3C+1e-3&archived=true", {"filter": "learning_rate < 1e-3", "archived": True}),
    ],
)
def test_the_filters_and_the_order_of_a_view(query: str, expected: dict[str, Any]) -> None:
    assert SavedView({"query": query}).run_query == expected


def test_the_groups_and_columns_of_a_view() -> None:
    view = SavedView({"query": 'by=method,learning_rate&columns=name~300,config.gamma!,"metric.a,b.last"'})
    assert view.group_by == ["method", "learning_rate"]
    assert view.columns == ["name", "config.gamma", "metric.a,b.last"]
    assert SavedView({"query": ""}).columns == []
