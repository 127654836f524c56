"""Studies that add seeds to undecided points until an anytime-valid test decides."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from arcadia_backend.database.scope import BACKEND, switch_to
from arcadia_backend.studies import service
from tests.backend.studies.conftest import Studies
from tests.backend.studies.test_verdicts import alerts_of

TWO_RATES = [{"field": "learning_rate", "values": [1e-4, 1e-3]}]
UNTIL: dict[str, Any] = {"axes": TWO_RATES, "seeds": 1, "until": "certain", "max_seeds": 8}


def by_rate(config: dict[str, Any]) -> float:
    """Return a score by which the larger learning rate is always better."""
    return float(config["learning_rate"] * 100_000 + config["seed"] / 10)


def equal(config: dict[str, Any]) -> float:
    """Return a score on which the learning rate has no effect."""
    return float(config["seed"])


def decisions_of(study: dict[str, Any]) -> list[tuple[str, int | None, int]]:
    """Return the decision, the better point and the number of seeds of each point."""
    return [
        (point["decision"]["state"], point["decision"]["beaten_by"], len(point["runs"])) for point in study["table"]
    ]


def test_seeds_are_added_until_the_difference_is_certain(studies: Studies, schedule: Callable[[], None]) -> None:
    study = studies.start(**UNTIL)
    assert (study["verdict"], decisions_of(study)) == (
        "Undecided: Learning rate 0.0001 and Learning rate 0.001.",
        [("undecided", None, 1)] * 2,
    )
    trained = studies.train_all(by_rate)
    assert sorted(run["config"]["seed"] for run in trained) == [1, 1, 2, 2, 3, 3, 4, 4, 5, 5]
    study = studies.read(study["id"])
    assert decisions_of(study) == [("decided", 1, 5), ("decided", None, 5)]
    assert study["state"] == "finished"
    assert study["verdict"] == "Learning rate 0.001 ranks highest: the runs of every other point tend to score lower."
    worse = study["table"][0]["decision"]
    assert worse["e_value"] >= worse["threshold"]
    schedule()
    assert alerts_of(studies, study["id"]) == [("Which rate? has a verdict", study["verdict"])]


def test_a_higher_mean_of_a_point_that_ranks_lower_is_named(studies: Studies) -> None:
    def skewed(config: dict[str, Any]) -> float:
        lucky = 10_000.0 if config["seed"] == 1 else 0.0
        return float(config["seed"]) + (100 if config["learning_rate"] > 1e-4 else lucky)

    study = studies.start(**UNTIL)
    studies.train_all(skewed)
    verdict = studies.read(study["id"])["verdict"]
    assert verdict.startswith("Learning rate 0.001 ranks highest")
    assert "The means disagree: Learning rate 0.0001 has a mean of" in verdict


def fails_often(config: dict[str, Any]) -> str:
    """Return the outcome of a run: of the larger learning rate, two of five seeds fail."""
    return "failed" if config["learning_rate"] > 1e-4 and config["seed"] % 5 < 2 else "finished"


def test_a_point_whose_runs_often_fail_does_not_rank_highest(studies: Studies) -> None:
    study = studies.start(**{**UNTIL, "max_seeds": 8})
    studies.train_all(by_rate, fails_often)
    study = studies.read(study["id"])
    # All finished runs of the larger rate score higher. With its failures, the order is open.
    assert decisions_of(study) == [("limit_reached", None, 8)] * 2
    assert [(point["n"], point["failed"]) for point in study["table"]] == [(8, 0), (5, 3)]
    assert study["verdict"].endswith("Failed runs rank lowest, and means leave them out: 3 of Learning rate 0.001.")


def test_the_best_points_are_not_among_those_that_rank_lower(studies: Studies) -> None:
    def lucky(config: dict[str, Any]) -> float:
        return float(config["seed"]) + (100 if config["learning_rate"] > 1e-4 else 10_000.0 * (config["seed"] == 1))

    study = studies.start(**UNTIL)
    studies.train_all(lucky)
    before = studies.read(study["id"])
    assert before["table"][0]["mean"] > before["table"][1]["mean"]
    assert before["table"][0]["decision"]["beaten_by"] == 1
    extended = studies.act(study["id"], "extend", seeds=1, best=1)
    assert [
        len(point["runs"]) - len(old["runs"]) for point, old in zip(extended["table"], before["table"], strict=True)
    ] == [0, 1]


def test_disagreeing_means_are_named_while_points_are_undecided(studies: Studies) -> None:
    def skewed(config: dict[str, Any]) -> float:
        is_low = config["learning_rate"] == 1e-4
        return float(config["seed"]) + (10_000.0 * (config["seed"] == 1) if is_low else 100)

    axes = [{"field": "learning_rate", "values": [1e-4, 1e-3, 2e-3]}]
    study = studies.start(**{**UNTIL, "axes": axes, "max_seeds": 9})
    studies.train_all(skewed)
    verdict = studies.read(study["id"])["verdict"]
    assert verdict.startswith("Undecided at the limit of 9 seeds: Learning rate 0.001 and Learning rate 0.002.")
    assert "The means disagree: Learning rate 0.0001 has a mean of" in verdict


@pytest.mark.nightly
def test_equal_points_reach_the_limit_of_seeds(studies: Studies, schedule: Callable[[], None]) -> None:
    study = studies.start(**UNTIL)
    studies.train_all(equal)
    study = studies.read(study["id"])
    assert decisions_of(study) == [("limit_reached", None, 8)] * 2
    assert study["state"] == "finished"
    assert study["verdict"] == ("Undecided at the limit of 8 seeds: Learning rate 0.0001 and Learning rate 0.001.")
    schedule()
    assert alerts_of(studies, study["id"])[0][0] == "Which rate? finished without a verdict"


def test_a_worse_point_gets_no_more_seeds(studies: Studies) -> None:
    axes = [{"field": "learning_rate", "values": [1e-4, 1e-3, 2e-3]}]
    study = studies.start(**{**UNTIL, "axes": axes, "max_seeds": 9})
    studies.train_all(lambda config: config["seed"] + 100 * (config["learning_rate"] > 1e-4))
    found = decisions_of(studies.read(study["id"]))
    assert found[1:] == [("limit_reached", None, 9)] * 2
    state, beaten_by, seeds = found[0]
    assert (state, beaten_by in (1, 2)) == ("decided", True)
    assert seeds < 9


@pytest.mark.nightly
def test_points_of_different_environments_do_not_compete(studies: Studies) -> None:
    axes = [{"field": "env", "values": ["CartPole-v1", "Acrobot-v1"]}, *TWO_RATES]
    study = studies.start(**{**UNTIL, "axes": axes})
    studies.train_all(lambda config: by_rate(config) - 1_000 * (config["env"] == "Acrobot-v1"))
    study = studies.read(study["id"])
    assert decisions_of(study)[:2] == [("decided", 1, 6), ("decided", None, 6)]
    assert decisions_of(study)[2:] == [("decided", 3, 6), ("decided", None, 6)]
    assert study["verdict"].startswith("CartPole: ")


def test_seeds_without_a_score_count_towards_the_limit(studies: Studies) -> None:
    study = studies.start(**{**UNTIL, "max_seeds": 5})
    no_score: Any = "NaN"
    studies.train_all(lambda config: by_rate(config) if config["seed"] % 2 else no_score)
    assert decisions_of(studies.read(study["id"])) == [("limit_reached", None, 5)] * 2


@pytest.mark.nightly
def test_seeds_are_added_once_by_concurrent_schedulers(studies: Studies) -> None:
    study = studies.start(**{**UNTIL, "max_concurrent_runs": 1})
    while studies.train(by_rate):
        with ThreadPoolExecutor(4, initializer=switch_to, initargs=(BACKEND,)) as pool:
            list(pool.map(lambda _: studies.schedule(), range(4)))
    assert decisions_of(studies.read(study["id"])) == [("decided", 1, 5), ("decided", None, 5)]
    assert studies.api.user.get("/api/v1/runs", params={"study": study["id"]}).json()["total"] == 10


def test_a_failure_between_seeds_and_runs_stores_neither(
    studies: Studies, schedule: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    study = studies.start(**UNTIL)
    studies.train(by_rate)
    studies.train(by_rate)
    with monkeypatch.context() as killed:
        killed.setattr(service, "_create_runs", lambda *_: 1 / 0)
        schedule()
    assert [seeds for _, _, seeds in decisions_of(studies.read(study["id"]))] == [1, 1]
    schedule()
    schedule()
    assert [seeds for _, _, seeds in decisions_of(studies.read(study["id"]))] == [2, 2]


@pytest.mark.nightly
def test_seeds_that_a_user_adds_can_decide(studies: Studies) -> None:
    study = studies.start(**{**UNTIL, "max_seeds": 5})
    studies.train_all(equal)
    studies.act(study["id"], "extend", seeds=12)
    studies.train_all(by_rate)
    assert decisions_of(studies.read(study["id"])) == [("decided", 1, 17), ("decided", None, 17)]


def test_points_cannot_be_added(studies: Studies) -> None:
    axes = [{"field": "learning_rate", "uniform": [1e-4, 1e-3]}]
    study = studies.start(**{**UNTIL, "axes": axes, "sampler": "random", "points": 2})
    assert "compares a fixed set of points" in studies.refused(study["id"], "extend", 422, points=1)


def test_preview_counts_the_runs_up_to_the_limit(studies: Studies) -> None:
    preview = studies.api.user.post("/api/v1/studies/preview", json={"preset": "paac-cartpole", "name": "a", **UNTIL})
    assert (preview.json()["min_runs"], preview.json()["runs"]) == (2, 16)


def test_other_studies_have_no_decisions(studies: Studies) -> None:
    study = studies.start()
    assert study["verdict"] is None
    assert {point["decision"] for point in study["table"]} == {None}


@pytest.mark.parametrize(
    ("given", "field", "message"),
    [
        ({"axes": []}, "until", "at least two points"),
        ({"sampler": "tpe", "points": 3}, "until", "requires the sampler grid or random"),
        ({"pruner": "median"}, "until", "requires the pruner none"),
        ({"seeds": 9}, "max_seeds", "the study starts with 9 seeds"),
        ({"seeds": [2**31 - 2]}, "seeds", "the largest seed is 2,147,483,647"),
        ({"max_seeds": 4}, "max_seeds", "greater than or equal to 5"),
        ({"until": "bored"}, "until", "certain"),
        ({"max_seeds": 1_000, "axes": [{"field": "gamma", "values": [0.9, 0.95, 0.99]}]}, "max_seeds", "2,000 runs"),
    ],
)
def test_impossible_combinations_are_rejected(
    studies: Studies, given: dict[str, Any], field: str, message: str
) -> None:
    assert message in studies.wrong(**{**UNTIL, **given})[field]
