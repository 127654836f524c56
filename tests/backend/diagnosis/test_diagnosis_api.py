"""Tests of the diagnosis of a run, and of studies that test its fixes."""

from typing import Any

import pytest

from arcadia_backend.marks.rules import RULES
from tests.backend.archives.conftest import Archives
from tests.backend.archives.conftest import archives as archives
from tests.backend.reported.conftest import Script
from tests.backend.reported.conftest import script as script
from tests.backend.studies.conftest import Studies
from tests.backend.studies.conftest import schedule as schedule
from tests.backend.studies.conftest import studies as studies
from tests.factories import CARTPOLE, Api, metrics

ABSURD = {**CARTPOLE, "learning_rate": 5.0}


def diagnosis(api: Api, run_id: int) -> list[dict[str, Any]]:
    """Return the findings of a run."""
    response = api.user.get(f"/api/v1/runs/{run_id}/diagnosis")
    found: list[dict[str, Any]] = response.raise_for_status().json()
    return found


def stalled(api: Api, config: dict[str, Any] = ABSURD) -> int:
    """Return a run whose return does not improve."""
    run_id, attempt = api.running(config=config, name="Stuck")
    sent = [metrics(seq, 20 * (seq - 2), returns=[9.0 + seq % 2]) for seq in range(2, 52)]
    api.send(run_id, attempt, *sent).raise_for_status()
    return run_id


def without_preset(specification: dict[str, Any]) -> dict[str, Any]:
    """Return a specification without the preset that studies of these tests have by default."""
    return {**specification, "preset": None}


def test_a_run_without_findings_has_an_empty_diagnosis(api: Api) -> None:
    assert diagnosis(api, api.launch()["id"]) == []
    assert api.user.get("/api/v1/runs/999/diagnosis").status_code == 404


def test_a_finding_has_cause_evidence_and_settings(api: Api) -> None:
    run_id = stalled(api)
    (finding,) = diagnosis(api, run_id)
    assert (finding["rule"], finding["title"], finding["tests"]) == ("return_stalled", "Return stalled", [])
    assert "learning rate" in finding["cause"]
    assert finding["evidence"] == {
        "metric": "episode/return",
        "title": "Return per episode",
        "first_step": 0,
        "last_step": 980,
    }
    setting = {"field": "learning_rate", "title": "Learning rate", "current": 5.0, "suggested": 0.003}
    assert finding["settings"] == [setting]


def test_a_test_of_a_fix_is_a_small_paired_study_of_low_priority(api: Api) -> None:
    run_id = stalled(api)
    spec = diagnosis(api, run_id)[0]["test"]
    assert (spec["name"], spec["diagnosis"]) == (
        f"Fix of run {run_id}: Return stalled",
        {"run_id": run_id, "rule": "return_stalled"},
    )
    assert spec["axes"][0]["values"] == [5.0, 0.003]
    assert (spec["seeds"], spec["total_steps"], spec["priority"]) == ([1, 2, 3], 1_000, -100)
    cost = api.user.post("/api/v1/studies/preview", json=spec).raise_for_status().json()
    assert (cost["points"], cost["runs"], cost["steps"]) == (2, 6, 6_000)


def test_a_test_trains_only_as_long_as_the_evidence(api: Api) -> None:
    run_id = stalled(api, {**ABSURD, "total_steps": 1_500})
    assert diagnosis(api, run_id)[0]["test"]["total_steps"] == 980


def test_several_settings_vary_together(api: Api) -> None:
    run_id, attempt = api.running(config={**CARTPOLE, "activation": "relu"})
    sent = [metrics(seq, 10 * seq, {"network/dead_hidden_1": 1.0}) for seq in range(2, 30)]
    api.send(run_id, attempt, *sent).raise_for_status()
    (finding,) = diagnosis(api, run_id)
    (axis,) = finding["test"]["axes"]
    assert axis["field"] == ["learning_rate", "centered_inputs"]
    assert [value[1] for value in axis["values"]] == [False, True]


def test_the_verdict_of_a_test_is_part_of_the_diagnosis(api: Api, studies: Studies) -> None:
    run_id = stalled(api)
    api.release(run_id, 1, "finished").raise_for_status()
    study = studies.start(**without_preset(diagnosis(api, run_id)[0]["test"]))
    (test,) = diagnosis(api, run_id)[0]["tests"]
    assert (test["study_id"], test["state"], test["verdict"]) == (study["id"], "running", None)

    trained = studies.train_all(lambda config: (400 if config["learning_rate"] < 1 else 9) + config["seed"])
    assert len(trained) == 6
    (test,) = diagnosis(api, run_id)[0]["tests"]
    assert test["state"] == "finished"
    assert "beats" in test["verdict"]


def test_a_reported_run_has_findings_without_settings(api: Api, script: Script) -> None:
    config = {"total_steps": 1_000, "learning_rate": 5.0}
    script.begin(method="my-method", env="CartPole-v1", config=config).raise_for_status()
    for step in range(0, 1_000, 20):
        script.metrics(step, **{"episode/return": 9.0 + step % 40 / 20})
    script.post(*script.events).raise_for_status()
    (finding,) = diagnosis(api, script.run_id)
    assert (finding["rule"], finding["settings"], finding["test"]) == ("return_stalled", [], None)


def test_the_shipped_examples_have_no_findings(api: Api) -> None:
    runs = api.user.post("/api/v1/examples").raise_for_status().json()["runs"]
    assert len(runs) >= 10
    findings = {run_id: diagnosis(api, run_id) for run_id in runs}
    assert not any(findings.values()), findings


@pytest.mark.nightly
def test_an_imported_test_refers_to_the_imported_run(api: Api, archives: Archives, studies: Studies) -> None:
    run_id = stalled(api)
    api.release(run_id, 1, "finished").raise_for_status()
    study = studies.start(**without_preset(diagnosis(api, run_id)[0]["test"]))["id"]
    studies.train_all(lambda config: float(config["seed"]))
    both, alone = (
        api.user.get("/api/v1/archives", params=items).content
        for items in ({"studies": study, "runs": run_id}, {"studies": study})
    )
    api.user.delete(f"/api/v1/studies/{study}").raise_for_status()
    (without,) = archives.load(alone)["studies"]
    assert studies.read(without)["specification"]["diagnosis"] is None
    api.user.delete(f"/api/v1/studies/{without}").raise_for_status()
    api.act(run_id, "archive")
    api.user.delete(f"/api/v1/runs/{run_id}").raise_for_status()

    imported = archives.load(both)
    (moved,) = (each for each in imported["runs"] if api.run(each)["name"] == "Stuck")
    (test,) = diagnosis(api, moved)[0]["tests"]
    assert [test["study_id"]] == imported["studies"]


def test_only_lasting_faults_have_a_cause() -> None:
    assert {rule.info.name for rule in RULES if not rule.info.cause} == {"no_episode", "speed_halved"}
