"""kill -9 of backend and worker while a study trains its runs. Each run is created once and finishes."""

import signal
from typing import Any

import pytest

from tests.installation import Installation

pytestmark = pytest.mark.nightly

RATES, SEEDS = [1e-3, 3e-3], [1, 2]
STUDY: dict[str, Any] = {
    "name": "Which rate?",
    "preset": "paac-cartpole",
    "changes": {"num_envs": 4, "hidden_units": 16},
    "axes": [{"field": "learning_rate", "values": RATES}],
    "seeds": "1-2",
    "total_steps": 3_000,
    "max_concurrent_runs": 2,
}


def states_of(installation: Installation, study: int) -> list[str]:
    """Return the state of each planned run."""
    return [run["state"] for point in installation.read(f"studies/{study}")["table"] for run in point["runs"]]


def wait_for_finished(installation: Installation, study: int, count: int) -> None:
    """Wait until `count` of the study's runs have finished."""
    installation.wait_until(lambda: states_of(installation, study).count("finished") >= count)


def list_runs(installation: Installation) -> dict[int, dict[str, Any]]:
    """Return all runs, those of other tests too, by their number."""
    return {run["id"]: run for run in installation.read("runs?limit=200")["items"]}


def test_every_run_of_a_study_is_created_once_and_finishes(installation: Installation) -> None:
    earlier = list_runs(installation)
    worker = installation.worker("one")
    study = int(installation.post("studies", {**STUDY, "confirm_steps": 12_000})["id"])

    wait_for_finished(installation, study, 1)
    installation.backend.end(signal.SIGKILL)
    installation.backend.start()
    wait_for_finished(installation, study, 2)
    worker.end(signal.SIGKILL)
    worker.start()
    wait_for_finished(installation, study, 3)
    worker.end(signal.SIGKILL)
    installation.backend.end(signal.SIGKILL)
    installation.backend.start()
    worker.start()
    installation.wait_until(lambda: installation.read(f"studies/{study}")["state"] == "finished")

    assert states_of(installation, study) == ["finished"] * len(RATES) * len(SEEDS)
    points = installation.read(f"studies/{study}")["table"]
    planned = sorted(run["run_id"] for point in points for run in point["runs"])
    made = {number: run for number, run in list_runs(installation).items() if number not in earlier}
    assert planned == sorted(made), "exactly the planned runs are created"
    settings = [(run["config"]["learning_rate"], run["config"]["seed"]) for run in map(installation.run, planned)]
    assert sorted(settings) == [(rate, seed) for rate in RATES for seed in SEEDS]
    assert all(run["step"] >= STUDY["total_steps"] for run in made.values())


def test_seeds_until_certain_are_added_once(installation: Installation) -> None:
    earlier = list_runs(installation)
    installation.worker("one")
    until = {"seeds": 1, "until": "certain", "max_seeds": 5, "confirm_steps": 30_000}
    study = int(installation.post("studies", {**STUDY, **until})["id"])

    for finished in range(2, 9, 2):
        wait_for_finished(installation, study, finished)
        installation.backend.end(signal.SIGKILL)
        installation.backend.start()
    installation.wait_until(lambda: installation.read(f"studies/{study}")["state"] == "finished")

    found = installation.read(f"studies/{study}")
    assert [[run["seed"] for run in point["runs"]] for point in found["table"]] == [[1, 2, 3, 4, 5]] * 2
    planned = sorted(run["run_id"] for point in found["table"] for run in point["runs"])
    assert planned == sorted(list_runs(installation).keys() - earlier.keys())
    assert states_of(installation, study) == ["finished"] * 10
    assert {point["decision"]["state"] for point in found["table"]} <= {"decided", "limit_reached"}
