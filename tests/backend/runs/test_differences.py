"""What configurations differ in."""

from typing import Any

from backend.runs.differences import alike, differences, field_titles


def test_a_field_that_a_method_lacks_is_no_difference() -> None:
    rows = {row.field: row for row in differences({1: {"a": None, "b": 1}, 2: {"b": 1.0}}, {"b": "Bee"})}
    assert (rows["a"].values, rows["a"].same, rows["a"].title) == ({1: None}, True, "a")
    assert (rows["b"].same, rows["b"].title, list(rows)) == (True, "Bee", ["b", "a"])
    assert not differences({1: {"a": 1}, 2: {"a": True}}, {})[0].same


def test_the_runs_that_are_not_as_most_are_marked() -> None:
    configs: dict[int, dict[str, Any]] = {1: {"lr": 0.1}, 2: {"lr": 0.2}, 3: {"lr": 0.1}, 4: {"lr": [1, 2]}, 5: {}}
    (row,) = differences(configs, {})
    assert (row.same, row.marked) == (False, [2, 4])


def test_runs_of_one_configuration_are_a_group_whatever_their_seeds() -> None:
    configs: dict[int, dict[str, Any]] = {
        4: {"lr": 1, "seed": 1},
        2: {"lr": 2, "seed": 1},
        3: {"lr": 1.0, "seed": 2},
        5: {"seed": 1},
    }
    assert alike(configs) == [[4, 3], [2], [5]]


def test_titles_are_those_of_the_launch_form() -> None:
    assert field_titles()["num_envs"] == "Environments"
