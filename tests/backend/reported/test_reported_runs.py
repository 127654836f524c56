"""Reported runs, which scripts create, resume and end. Silence also ends them."""

import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest

from arcadia_backend.config import Settings
from arcadia_backend.database.engine import Database
from arcadia_backend.doorbell import Doorbell
from arcadia_backend.worker_api.sweeper import Sweeper
from tests.backend.reported.conftest import Script
from tests.factories import Api

# The answer to a writer without events.
UNWRITTEN = {"acknowledged": 0, "conflicts": 0, "desired": "run"}


def sweep_for(database: Database, settings: Settings, seconds: float) -> None:
    """Sweep until this time has passed without other events."""
    now = [0.0]
    sweeper = Sweeper(database, settings, Doorbell(""), lambda: now[0])
    for _ in range(int(seconds / settings.sweep_seconds) + 2):
        sweeper.sweep()
        now[0] += settings.sweep_seconds


def test_a_run_is_created_with_the_reported_values(api: Api, script: Script) -> None:
    response = script.begin(
        method="PPO",
        env="LunarLander-v3",
        project="landing",
        config={"lr": 3e-4, "seed": 7},
        tags=["a", "b", "a"],
        notes="first try",
        total_steps=5_000,
        origin_label="Stable-Baselines3",
        host="sun",
        command=["train.py", "--fast"],
        started_at="2026-01-02T03:04:05Z",
    )
    path = f"/runs/{script.run_id}"
    answer = {"run_id": script.run_id, "attempt": 1, "path": path, **UNWRITTEN}
    assert (response.status_code, response.json()) == (201, answer)
    run = api.run(script.run_id)
    assert (run["name"], run["state"], run["method"]) == ("PPO on Lunar Lander", "running", "PPO")
    assert (run["origin"], run["origin_label"], run["project"]) == ("reported", "Stable-Baselines3", "landing")
    assert (run["queue"], run["total_steps"], run["reported_key"]) == (None, 5_000, "key-1")
    assert (run["config"], run["tags"], run["notes"]) == ({"lr": 3e-4, "seed": 7}, ["a", "b"], "first try")
    assert (run["command"], run["started_at"]) == (["train.py", "--fast"], "2026-01-02T03:04:05Z")


def test_a_run_requires_only_a_key_and_a_writer(api: Api, script: Script) -> None:
    assert script.begin().status_code == 201
    run = api.run(script.run_id)
    assert (run["name"], run["algorithm"], run["env"], run["total_steps"]) == ("Run key-1", "", "", None)


def test_a_repeated_request_changes_nothing(api: Api, reported: Script) -> None:
    reported.log("metrics", step=1, values={"loss": 1.0})
    for resume in ("allow", "must", "never"):
        response = reported.begin(resume=resume, method="PPO", env="CartPole-v1", name="mine", origin_label="Python")
        assert (response.status_code, response.json()["attempt"], response.json()["acknowledged"]) == (200, 1, 1)
    assert api.user.get("/api/v1/runs").json()["total"] == 1
    assert api.run(reported.run_id)["warnings"] == []


def test_a_repeated_registration_with_other_values_is_kept_in_the_log(api: Api, reported: Script) -> None:
    for _ in range(2):
        assert reported.begin(name="other", config={"lr": 0.5}).status_code == 200
    run = api.run(reported.run_id)
    assert (run["name"], run["config"]) == ("mine", {})
    (warning,) = run["warnings"]
    assert '"name":"other"' in warning
    assert '"config":{"lr":0.5}' in warning


def test_concurrent_requests_create_one_run_with_one_attempt(script: Script) -> None:
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda _: script.begin(), range(8)))
    assert sorted(answer.status_code for answer in answers) == [200] * 7 + [201]
    assert {(answer.json()["run_id"], answer.json()["attempt"]) for answer in answers} == {(script.run_id, 1)}


def test_another_writer_resumes_the_run(api: Api, reported: Script) -> None:
    reported.log("metrics", step=10, values={"loss": 1.0})
    reported.log("end", outcome="stopped")
    assert api.run(reported.run_id)["state"] == "stopped"
    again = replace(reported, writer="writer-2", events=[])
    assert again.begin(resume="must", config={"lr": 1}).json()["attempt"] == 2
    again.log("metrics", step=4, values={"loss": 0.5})
    run = api.run(reported.run_id)
    assert (run["state"], run["desired"], run["finished_at"], run["config"]) == ("running", "run", None, {"lr": 1})
    points = api.user.get(f"/api/v1/runs/{reported.run_id}/points").json()["series"]["loss"]
    assert (points["attempt"], points["step"], points["value"]) == ([1, 2], [10, 4], [1.0, 0.5])


def test_requirements_on_the_existence_of_a_key_are_checked(script: Script) -> None:
    missing = script.begin(resume="must")
    assert (missing.status_code, "resume='allow'" in missing.json()["detail"]) == (404, True)
    script.begin()
    taken = replace(script, writer="writer-2").begin(resume="never")
    assert (taken.status_code, f"Run {script.run_id} has the key" in taken.json()["detail"]) == (409, True)


def test_a_late_journal_of_an_earlier_writer_does_not_end_a_resumed_run(api: Api, reported: Script) -> None:
    reported.log("metrics", step=1, values={"loss": 1.0})
    again = replace(reported, writer="writer-2", events=[])
    again.begin()
    reported.log("end", outcome="failed", message="killed")
    assert api.run(reported.run_id)["state"] == "running"
    again.log("end", outcome="finished")
    reported.log("metrics", step=2, values={"loss": 2.0})
    run = api.run(reported.run_id)
    assert (run["state"], run["failure"], run["step"]) == ("finished", None, 2)


def test_a_writer_that_joins_neither_leads_nor_ends_the_run(api: Api, reported: Script) -> None:
    child = replace(reported, writer="child", events=[])
    assert child.begin(joins=True).json()["attempt"] == 2
    child.log("metrics", step=5, values={"child": 1.0})
    child.log("end", outcome="finished")
    run = api.run(reported.run_id)
    assert (run["state"], run["attempt"], run["step"]) == ("running", 1, 5)
    reported.log("end", outcome="finished")
    assert api.run(reported.run_id)["state"] == "finished"


def test_the_files_of_an_import_are_one_attempt(api: Api, script: Script) -> None:
    imported: dict[str, Any] = {"origin": "imported", "origin_label": "Monitor"}
    script.begin(**imported)
    for number in range(4):
        file = replace(script, writer=f"file-{number}", events=[])
        file.begin(joins=True, **imported)
        for step in range(2):
            event = {"seq": step + 1, "time": 1_700_000_000.0 + 50 * step, "kind": "metrics", "step": step}
            file.post({**event, "values": {"episode/return": 1.0}})
    script.log("end", outcome="finished")
    again = replace(script, writer="import-2", events=[])
    again.begin(**imported)
    again.log("end", outcome="finished")
    run = api.run(script.run_id)
    assert (run["state"], run["attempt"], run["episodes"]) == ("finished", 1, 8)
    assert run["trained_seconds"] == 50.0
    curve = api.user.get("/api/v1/figures/curves", params={"runs": script.run_id, "metric": "episode/return"}).json()
    assert curve["data"][0]["x"] == [0, 0, 0, 0, 1, 1, 1, 1]
    provenance = api.user.get(f"/api/v1/runs/{script.run_id}/provenance").json()
    assert [each["attempt"] for each in provenance["attempts"]] == [1]
    lines = api.user.get(f"/api/v1/runs/{script.run_id}/log").json()["items"]
    assert [line["message"] for line in lines] == ["Imported from Monitor.", "Finished."]


def test_an_import_without_times_has_no_duration(api: Api, script: Script) -> None:
    """The time of the import is not that of the training."""
    script.begin(origin="imported", origin_label="CSV")
    for step in (1, 2):
        event = script.metrics(step, **{"episode/return": 1.0})
        del event["time"]
        script.post(event)
    script.log("end", outcome="finished")
    query = {"compute": "efficiency = best_return / hours", "include": "trained_seconds"}
    (run,) = api.user.get("/api/v1/runs", params=query).json()["items"]
    assert (run["trained_seconds"], run["computed"]) == (0.0, {"efficiency": None})
    assert api.user.get("/api/v1/runs", params={"filter": "hours >= 0"}).json()["items"] == []
    curve = {"runs": str(script.run_id), "metric": "episode/return", "x": "time"}
    assert api.user.get("/api/v1/figures/curves", params=curve).json()["data"][0]["x"] == [0, 0]


@pytest.mark.parametrize("outcome", ["finished", "failed", "stopped", "paused"])
def test_the_outcome_decides_the_state(api: Api, reported: Script, outcome: str) -> None:
    reported.log("end", outcome=outcome, message="because", traceback="Traceback …")
    run = api.run(reported.run_id)
    failure = {"message": "because", "traceback": "Traceback …"} if outcome == "failed" else None
    assert (run["state"], run["failure"]) == (outcome, failure)
    assert (run["finished_at"] is None) == (outcome == "paused")


def test_stop_and_pause_reach_the_script(api: Api, reported: Script) -> None:
    act = f"/api/v1/runs/{reported.run_id}"
    assert reported.post().json() == UNWRITTEN
    assert api.user.post(f"{act}/pause").json()["desired"] == "pause"
    assert reported.post().json()["desired"] == "pause"
    assert api.user.post(f"{act}/resume").json()["desired"] == "run"
    assert "should_stop()" in api.user.post(f"{act}/stop").json()["state_reason"]
    assert reported.post().json()["desired"] == "stop"
    reported.log("end", outcome="stopped")
    run = api.run(reported.run_id)
    assert (run["state"], run["state_reason"]) == ("stopped", None)


def test_a_silent_script_fails_its_run_until_it_reports_again(
    api: Api, reported: Script, database: Database, settings: Settings
) -> None:
    settings = settings.model_copy(update={"reported_silence_seconds": 180.0})
    sweep_for(database, settings, 100)
    assert api.run(reported.run_id)["state"] == "running"
    sweep_for(database, settings, 200)
    run = api.run(reported.run_id)
    assert run["failure"]["message"] == "Nothing was heard from its script for 3 minutes."
    assert (run["state"], run["finished_at"] is None) == ("failed", False)
    reported.log("metrics", step=3, values={"loss": 1.0})
    run = api.run(reported.run_id)
    assert (run["state"], run["failure"], run["finished_at"]) == ("running", None, None)


def post_killed(script: Script, *events: Any, killed_at: float = 1_700_000_500.0) -> None:
    """Report that the script has ended after these events without finishing its run."""
    body = {"writer": script.writer, "events": list(events), "killed_at": killed_at}
    response = script.user.post(f"/api/v1/reported/runs/{script.run_id}/events", json=body)
    assert response.status_code == 200, response.text


def test_a_killed_script_fails_its_run_until_more_of_its_events_arrive(api: Api, reported: Script) -> None:
    for _ in range(2):
        post_killed(reported, *reported.events or [reported.metrics(1, loss=1.0)])
        run = api.run(reported.run_id)
        assert (run["state"], run["step"], run["finished_at"]) == ("failed", 1, "2023-11-14T22:21:40Z")
        assert "probably killed" in run["failure"]["message"]
    log = api.user.get(f"/api/v1/runs/{reported.run_id}/log").json()["items"]
    assert len([line for line in log if line["message"].startswith("Failed")]) == 1
    reported.log("metrics", step=2, values={"loss": 1.0})
    assert (api.run(reported.run_id)["state"], api.run(reported.run_id)["failure"]) == ("running", None)
    reported.log("end", outcome="finished")
    post_killed(reported, reported.events[0])
    run = api.run(reported.run_id)
    assert (run["state"], run["failure"], run["warnings"]) == ("finished", None, [])


def test_the_end_of_a_complete_journal_replaces_an_invented_one(api: Api, reported: Script) -> None:
    """Earlier uploaders added an event to the journal of a script that they took for killed."""
    invented = {"kind": "end", "outcome": "failed", "message": "It was probably killed."}
    reported.post({"seq": 1, "time": 1.0, **invented})
    assert api.run(reported.run_id)["state"] == "failed"
    reported.post(reported.metrics(1, loss=1.0), reported.event("end", outcome="finished"))
    run = api.run(reported.run_id)
    assert (run["state"], run["failure"], run["step"]) == ("finished", None, 1)


def test_an_ended_run_is_not_changed_by_silence_or_heartbeats(
    api: Api, reported: Script, database: Database, settings: Settings
) -> None:
    reported.log("end", outcome="finished")
    assert reported.post().status_code == 200
    sweep_for(database, settings, 1_000)
    assert api.run(reported.run_id)["state"] == "finished"


def test_workers_never_get_a_reported_run(api: Api, reported: Script, database: Database, settings: Settings) -> None:
    assert api.worker.post("/api/v1/worker/claim", json={"name": "w1", "queue": "cpu"}).status_code == 204
    sweep_for(database, settings, 2 * settings.lease_seconds)
    assert api.run(reported.run_id)["state"] == "running"
    batch = {"attempt": 1, "events": [{"seq": 1, "kind": "log", "time": 1.0, "step": 0, "frames": 0, "message": "x"}]}
    assert api.worker.post(f"/api/v1/worker/runs/{reported.run_id}/events", json=batch).status_code == 409
    release = {"attempt": 1, "outcome": "finished"}
    assert api.worker.post(f"/api/v1/worker/runs/{reported.run_id}/release", json=release).status_code == 409


def test_a_trained_run_rejects_events_of_scripts(api: Api, script: Script) -> None:
    script.run_id = api.launch()["id"]
    response = script.post()
    assert (response.status_code, "is trained by Arcadia" in response.json()["detail"]) == (409, True)


def test_events_need_a_known_writer(reported: Script) -> None:
    response = replace(reported, writer="stranger").post()
    assert (response.status_code, "has no writer stranger" in response.json()["detail"]) == (404, True)


ACTIONS: list[tuple[str, str, dict[str, Any]]] = [
    ("clone", "clone", {}),
    ("fork", "fork", {"checkpoint_id": 1}),
    ("evaluations", "evaluate", {}),
    ("calibrations", "calibrate the critic of", {}),
    ("recordings", "record", {}),
    ("live", "play", {}),
]


@pytest.mark.parametrize(("path", "word", "body"), ACTIONS)
def test_impossible_actions_are_refused(api: Api, reported: Script, path: str, word: str, body: dict[str, Any]) -> None:
    response = api.user.post(f"/api/v1/runs/{reported.run_id}/{path}", json=body)
    assert response.status_code == 409, response.text
    assert f"Arcadia cannot {word} run {reported.run_id}, because a script logged it" in response.json()["detail"]


def test_resume_says_how_to_run_the_script_again(api: Api, reported: Script) -> None:
    reported.log("end", outcome="paused")
    response = api.user.post(f"/api/v1/runs/{reported.run_id}/resume")
    assert (response.status_code, 'arcadia.init(id="key-1")' in response.json()["detail"]) == (409, True)
    assert api.user.post(f"/api/v1/runs/{reported.run_id}/stop").json()["state"] == "stopped"


def test_a_run_is_archived_restored_and_purged_with_its_files(api: Api, reported: Script) -> None:
    file_id = reported.upload().json()["file_id"]
    path = f"/api/v1/runs/{reported.run_id}"
    assert api.user.delete(path).status_code == 409, "it is still running"
    reported.log("end", outcome="finished")
    assert api.user.post(f"{path}/archive").json()["archived_at"] is not None
    assert api.user.post(f"{path}/restore").json()["archived_at"] is None
    assert api.user.delete(path).status_code == 204
    assert api.user.get(f"/api/v1/files/{file_id}").status_code == 404
    assert reported.begin().status_code == 201, "the key is free again"


def test_runs_are_filtered_by_origin_and_project(api: Api, script: Script) -> None:
    trained = api.launch()["id"]
    script.begin(project="landing")
    imported = replace(script, key="key-2")
    imported.begin(origin="imported")

    def found(**query: str) -> list[int]:
        return [run["id"] for run in api.user.get("/api/v1/runs", params={"sort": "id", **query}).json()["items"]]

    assert found(origin="trained") == [trained]
    assert (found(origin="imported"), found(project="landing")) == ([imported.run_id], [script.run_id])
    facets = api.user.get("/api/v1/run-facets").json()
    assert facets["project"] == [{"value": "Main", "runs": 2}, {"value": "landing", "runs": 1}]
    assert {choice["value"] for choice in facets["origin"]} == {"trained", "reported", "imported"}
    assert [choice["value"] for choice in facets["algorithm"]] == ["paac"], "an empty method is not a choice"


def test_runs_are_sorted_by_a_field_of_their_configuration(api: Api, script: Script) -> None:
    made = []
    for number, rate in enumerate((0.5, 10, "high", 2)):
        other = replace(script, key=f"key-{number}")
        other.begin(config={"learning rate": rate})
        made.append(other.run_id)
    rows = api.user.get("/api/v1/runs", params={"sort": "config:learning rate"}).json()["items"]
    assert [run["id"] for run in rows] == [made[0], made[3], made[1], made[2]]


def test_every_page_of_a_run_can_be_read(api: Api, reported: Script) -> None:
    reported.log("metrics", step=1, values={"episode/return": 1.0})
    paths = api.user.get("/api/v1/openapi.json").json()["paths"]
    of_a_run = [
        path
        for path, methods in paths.items()
        if "get" in methods and re.findall("{.*?}", path) == ["{run_id}"] and "/worker/" not in path
    ]
    assert len(of_a_run) > 10
    refused = {}
    for path in of_a_run:
        response = api.user.get(path.format(run_id=reported.run_id))
        if not response.is_success:
            refused[path.rpartition("/")[2]] = response.status_code
    # The form of an evaluation has no choices, and there is no agent to download.
    assert refused == {"evaluation-choices": 409, "agent": 409}
