"""Warnings about verdicts after repeated looks."""

from typing import Any

import pytest

from tests.backend.comparisons.test_verdict import verdict
from tests.backend.studies.conftest import Studies
from tests.backend.studies.conftest import schedule as schedule
from tests.backend.studies.conftest import studies as studies

TWO_RATES = [{"field": "learning_rate", "values": [1e-4, 1e-3]}]


def slightly_better(config: dict[str, Any]) -> float:
    """Return a score that differs significantly in 6 seeds by Welch's test, though it overlaps between rates."""
    return float(config["seed"] % 3 + 2 * (config["learning_rate"] > 1e-4))


def clearly_better(config: dict[str, Any]) -> float:
    """Return a score that is better for every seed of the larger rate."""
    return float(config["seed"] + 1_000 * (config["learning_rate"] > 1e-4))


def pair_of(studies: Studies, study: dict[str, Any]) -> dict[str, Any]:
    """Return the verdict on the two points of a study."""
    runs = [run["run_id"] for point in studies.read(study["id"])["table"] for run in point["runs"]]
    (pair,) = verdict(studies.api, runs)["pairs"]
    return dict(pair)


def test_seeds_added_after_a_verdict_cause_a_warning(studies: Studies) -> None:
    study = studies.start(axes=TWO_RATES, seeds=3)
    studies.train_all(slightly_better)
    assert pair_of(studies, study)["warning"] == ""
    studies.act(study["id"], "extend", seeds=3)
    studies.train_all(slightly_better)
    pair = pair_of(studies, study)
    assert pair["significant"]
    assert pair["warning"].startswith("6 of these runs were launched after a first verdict was possible.")
    assert "does not confirm it (e-value" in pair["warning"]


@pytest.mark.nightly
def test_seeds_planned_at_the_start_cause_no_warning(studies: Studies) -> None:
    study = studies.start(axes=TWO_RATES, seeds=6, max_concurrent_runs=1)
    studies.train_all(slightly_better)
    pair = pair_of(studies, study)
    assert (pair["significant"], pair["warning"]) == (True, "")


def test_a_difference_confirmed_by_the_repeated_test_has_no_warning(studies: Studies) -> None:
    study = studies.start(axes=TWO_RATES, seeds=3)
    studies.train_all(clearly_better)
    studies.act(study["id"], "extend", seeds=3)
    studies.train_all(clearly_better)
    pair = pair_of(studies, study)
    assert (pair["significant"], pair["warning"]) == (True, "")


def test_single_runs_launched_after_a_verdict_cause_a_warning(studies: Studies) -> None:
    study = studies.start(axes=TWO_RATES, seeds=5)
    studies.train_all(slightly_better)
    run = studies.read(study["id"])["table"][0]["runs"][0]["run_id"]
    more = studies.api.user.post(f"/api/v1/runs/{run}/clone", json={"overrides": {"seed": 6}})
    assert more.status_code == 201, more.text
    studies.train(slightly_better)
    runs = [run["run_id"] for point in studies.read(study["id"])["table"] for run in point["runs"]]
    (pair,) = verdict(studies.api, [*runs, more.json()["id"]])["pairs"]
    assert pair["warning"].startswith("1 of these runs was launched after a first verdict was possible.")
