"""Differences between configurations."""

from typing import Any

from arcadia_backend.comparisons.schemas import field_differences, group_identical


def test_missing_field_is_not_a_difference() -> None:
    rows = {row.field: row for row in field_differences({1: {"a": None, "b": 1}, 2: {"b": 1.0}}, {"b": "Bee"})}
    assert (rows["a"].values, rows["a"].same, rows["a"].title) == ({1: None}, True, "a")
    assert (rows["b"].same, rows["b"].title, list(rows)) == (True, "Bee", ["b", "a"])
    assert not field_differences({1: {"a": 1}, 2: {"a": True}}, {})[0].same


def test_uncommon_values_are_marked() -> None:
    configs: dict[int, dict[str, Any]] = {1: {"lr": 0.1}, 2: {"lr": 0.2}, 3: {"lr": 0.1}, 4: {"lr": [1, 2]}, 5: {}}
    (row,) = field_differences(configs, {})
    assert (row.same, row.marked) == (False, [2, 4])


def test_identical_runs_are_grouped_regardless_of_seed() -> None:
    configs: dict[int, dict[str, Any]] = {
        4: {"lr": 1, "seed": 1},
        2: {"lr": 2, "seed": 1},
        3: {"lr": 1.0, "seed": 2},
        5: {"seed": 1},
    }
    assert group_identical(configs) == [[4, 3], [2], [5]]
