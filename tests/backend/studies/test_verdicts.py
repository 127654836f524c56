"""Alerts about the verdicts of studies."""

from collections.abc import Callable

from tests.backend.studies.conftest import Studies


def alerts_of(studies: Studies, study_id: int) -> list[tuple[str, str]]:
    """Return the titles and texts of a study's alerts."""
    items = studies.api.user.get("/api/v1/alerts", params={"kind": "study_verdict"}).json()["items"]
    return [(alert["title"], alert["text"]) for alert in items if alert["study_id"] == study_id]


def test_a_finished_study_raises_an_alert_with_its_verdict(studies: Studies, schedule: Callable[[], None]) -> None:
    study = studies.start(axes=[{"field": "learning_rate", "values": [1e-4, 1e-3]}], seeds="1-3")
    studies.train_all(lambda config: config["learning_rate"] * 100_000 + config["seed"])
    schedule()
    ((title, text),) = alerts_of(studies, study["id"])
    assert title == "Which rate? has a verdict"
    assert " beats " in text
    assert "95 % interval" in text
    schedule()
    assert len(alerts_of(studies, study["id"])) == 1


def test_an_extended_study_has_another_verdict(studies: Studies, schedule: Callable[[], None]) -> None:
    study = studies.start(seeds="1-3")
    studies.train_all(lambda config: config["learning_rate"])
    schedule()
    studies.act(study["id"], "extend", seeds=1)
    schedule()
    studies.train_all(lambda config: config["learning_rate"])
    schedule()
    assert len(alerts_of(studies, study["id"])) == 2


def test_a_study_with_few_seeds_says_that_there_is_no_verdict(studies: Studies, schedule: Callable[[], None]) -> None:
    study = studies.start(seeds="1")
    studies.train_all(lambda config: config["learning_rate"])
    schedule()
    ((title, text),) = alerts_of(studies, study["id"])
    assert title == "Which rate? finished without a verdict"
    assert "each group needs 3 seeds" in text


def test_a_study_that_a_user_stops_raises_no_alert(studies: Studies, schedule: Callable[[], None]) -> None:
    study = studies.start()
    studies.act(study["id"], "stop")
    schedule()
    assert alerts_of(studies, study["id"]) == []


def test_a_disabled_rule_raises_no_alert(studies: Studies, schedule: Callable[[], None]) -> None:
    studies.api.user.patch("/api/v1/alert-rules/study_verdict", json={"enabled": False})
    study = studies.start(seeds="1")
    studies.train_all(lambda config: config["learning_rate"])
    schedule()
    assert alerts_of(studies, study["id"]) == []


def test_failed_runs_are_named_and_do_not_move_the_step(studies: Studies, schedule: Callable[[], None]) -> None:
    study = studies.start(axes=[{"field": "learning_rate", "values": [1e-4, 1e-3]}], seeds="1-5")
    studies.train_all(
        lambda config: config["learning_rate"] * 100_000 + config["seed"],
        lambda config: "failed" if config["learning_rate"] > 1e-4 and config["seed"] in (1, 3) else "finished",
    )
    schedule()
    ((_, text),) = alerts_of(studies, study["id"])
    assert text.startswith(
        "Among finished runs, PAAC · CartPole · lr 0.001 beats PAAC · CartPole · lr 0.0001 at 1 k steps"
    )
    assert text.endswith("Failed runs are left out: 2 of PAAC · CartPole · lr 0.001.")
