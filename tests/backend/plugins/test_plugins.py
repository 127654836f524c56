"""Runs of plug-ins: launched only by name, claimed only by workers that have them, and readable after removal."""

from pathlib import Path
from typing import Any

import pytest

from arcadia_backend.config import Settings
from arcadia_backend.database.engine import Database
from arcadia_backend.database.tables import Run
from arcadia_backend.doorbell import Doorbell
from arcadia_backend.studies.scheduler import StudyScheduler
from arcadia_workers.contract.plugins.loading import unload
from tests.factories import CARTPOLE, Api
from tests.plugin_packages import ENVIRONMENT, METHOD, Site

CORRIDOR = "Maze/Corridor-v0"
TOY: dict[str, Any] = {"algorithm": "toy", "env": CORRIDOR, "total_steps": 1_000, "num_envs": 4}


@pytest.fixture
def settings(database_url: str, tmp_path: Path) -> Settings:
    """Return settings that allow the packages of these tests."""
    return Settings.model_validate(
        {
            "data_dir": tmp_path,
            "database_url": database_url,
            "worker_token": "worker-secret",
            "sweep_seconds": 60,
            "plugins": f"{METHOD}, {ENVIRONMENT}, no-such-package",
        }
    )


@pytest.fixture(autouse=True)
def _installed(site: Site) -> None:
    site.install_template("environment", ENVIRONMENT)
    site.install_template("method", METHOD)


@pytest.fixture
def api(_installed: None, api: Api) -> Api:
    """Return shortcuts for the API of a server that has loaded the packages."""
    return api


def plugin(name: str, version: str | None = "0.1.0", problem: str | None = None) -> dict[str, Any]:
    """Return a plug-in as a worker reports it."""
    return {"name": name, "version": version, "problem": problem}


BOTH = [plugin(METHOD), plugin(ENVIRONMENT)]


def claimed(api: Api, worker: str) -> int | None:
    """Claim a run. Return its id, or None if no queued run fits this worker."""
    response = api.worker.post("/api/v1/worker/claim", json={"name": worker, "queue": "cpu"})
    found: int | None = response.json()["run_id"] if response.status_code == 200 else None
    return found


def test_the_server_lists_its_plug_ins(api: Api) -> None:
    listed = {each["name"]: each for each in api.user.get("/api/v1/plugins").json()}
    assert {"kind": "method", "name": "toy"} in listed[METHOD]["parts"]
    assert {"kind": "environment", "name": CORRIDOR} in listed[ENVIRONMENT]["parts"]
    missing = listed["no-such-package"]
    assert (missing["version"], missing["problem"], missing["parts"]) == (None, "It is not installed.", [])


def test_the_launch_form_offers_plug_ins(api: Api) -> None:
    environments = {each["id"]: each for each in api.user.get("/api/v1/environments").json()}
    assert environments[CORRIDOR]["group"] == "Maze"
    assert {"toy", "paac", "a3c"} <= set(environments[CORRIDOR]["algorithms"])
    assert "toy" in environments["CartPole-v1"]["algorithms"]
    presets = {each["name"]: each for each in api.user.get("/api/v1/presets").json()}
    assert presets["toy-catch"]["method"] == "Toy"
    assert "ToyConfig" in api.user.get("/api/v1/config-schema").json()["$defs"]


def test_a_run_waits_for_a_worker_with_its_plug_ins(api: Api) -> None:
    api.beat("bare")
    api.beat("half", plugins=[plugin(METHOD), plugin(ENVIRONMENT, None, "It is not installed.")])
    run = api.launch(config=TOY)["id"]
    assert (claimed(api, "bare"), claimed(api, "half")) == (None, None)
    reason = api.run(run)["state_reason"]
    assert reason.startswith(f"No CPU worker has the plug-ins {ENVIRONMENT} and {METHOD}.")
    behind = api.launch()["id"]
    assert claimed(api, "bare") == behind
    api.beat("whole", plugins=BOTH)
    assert "worker is about to take it" in api.run(run)["state_reason"]
    assert claimed(api, "whole") == run


def test_jobs_of_a_run_wait_for_a_worker_with_its_plug_ins(api: Api) -> None:
    api.beat("whole", plugins=BOTH, job_slots=1)
    run, attempt = api.launch(config=TOY)["id"], 1
    assert claimed(api, "whole") == run
    api.save(run, attempt, 1, 100)
    api.evaluate(run)
    api.beat("bare", job_slots=1)
    assert api.worker.post("/api/v1/worker/jobs/claim", json={"name": "bare"}).status_code == 204
    assert api.claim_job("whole")["kind"] == "evaluation"


def test_a_job_says_which_plug_in_its_workers_lack(api: Api) -> None:
    api.beat("whole", plugins=BOTH)
    run = api.launch(config=TOY)["id"]
    assert claimed(api, "whole") == run
    api.save(run, 1, 1, 100)
    api.beat("bare", job_slots=1)
    reason = api.evaluate(run)["reason"]
    assert reason.startswith(f"No worker that takes jobs has the plug-ins {ENVIRONMENT} and {METHOD}.")


def test_a_run_of_ppo_as_a_plug_in_opens_resumes_and_compares(api: Api, database: Database) -> None:
    config = {"algorithm": "ppo", "env": "CartPole-v1", "total_steps": 1_000, "num_envs": 4}
    earlier, other = (api.launch(config=config | {"seed": seed})["id"] for seed in (1, 2))
    with database.write() as session:
        session.get_one(Run, earlier).needed_plugins = "arcadia-ppo"
    api.beat("bare")
    assert api.run(earlier)["unsupported_because"] is None
    assert "worker is about to take it" in api.run(earlier)["state_reason"]
    assert claimed(api, "bare") == earlier
    api.act(earlier, "pause")
    api.save(earlier, 1, 1, 100)
    api.release(earlier, 1, "stopped")
    assert api.user.post(f"/api/v1/runs/{earlier}/resume").is_success
    assert api.run(earlier)["state"] == "queued"
    assert api.user.post(f"/api/v1/runs/{earlier}/clone", json={}).status_code == 201
    compared = api.user.get("/api/v1/compare", params={"runs": f"{earlier},{other}"}).json()
    assert compared["groups"] == [[earlier, other]]


def test_workers_show_their_plug_ins_and_other_versions(api: Api) -> None:
    api.beat("w1", plugins=[plugin(METHOD, "0.2.0"), plugin(ENVIRONMENT), plugin("other", "1.0", "It is broken.")])
    (worker,) = api.user.get("/api/v1/workers").json()
    assert [(each["name"], each["version"], each["differs"]) for each in worker["plugins"]] == [
        (METHOD, "0.2.0", True),
        (ENVIRONMENT, "0.1.0", False),
        ("other", "1.0", True),
    ]
    assert worker["plugins"][2]["problem"] == "It is broken."


@pytest.mark.required_cases(2)
@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("env", "os:CartPole-v1"),
        ("env", "arcadia_maze.world:Maze/Corridor-v0"),
        ("env", "arcadia_maze.world"),
        ("env", "Maze/Other-v0"),
        ("env", "../CartPole-v1"),
        ("algorithm", "arcadia_toy.trainer:TRAINER"),
        ("algorithm", "arcadia_toy"),
        ("network", "arcadia_workers.trainer.networks.bodies:build_mlp"),
        ("evaluation_protocol", "arcadia_maze:ENVIRONMENTS"),
    ],
)
def test_requests_cannot_name_modules(api: Api, field: str, value: str) -> None:
    response = api.user.post("/api/v1/runs", json={"config": {**CARTPOLE, field: value}})
    assert response.status_code == 422
    assert [error["field"] for error in response.json()["errors"]] == [f"config.{field}"]


def test_a_package_that_is_not_allowed_cannot_be_named(api: Api) -> None:
    unload(METHOD)
    response = api.user.post("/api/v1/runs", json={"config": {**TOY, "env": "CartPole-v1"}})
    assert response.status_code == 422
    assert 'no method is called "toy"' in response.json()["errors"][0]["message"]


@pytest.fixture
def trained(api: Api) -> int:
    """Return a run of a plug-in with a checkpoint and an evaluation. Its plug-ins are removed."""
    api.beat("w1", plugins=BOTH, job_slots=1)
    run: int = api.launch(config={**TOY, "evaluate_every_steps": 100}, name="Kept")["id"]
    assert claimed(api, "w1") == run
    api.save(run, 1, 1, 100)
    api.play([1.0] * 100, env=CORRIDOR)
    unload(METHOD)
    unload(ENVIRONMENT)
    return run


def test_runs_of_a_removed_plug_in_stay_readable(api: Api, trained: int) -> None:
    documented = api.user.get("/api/v1/openapi.json").json()["paths"]
    for path, methods in documented.items():
        # The stream of events never ends.
        if "get" in methods and path != "/api/v1/events" and "{" not in path.replace("{run_id}", ""):
            response = api.user.get(path.replace("{run_id}", str(trained)))
            assert response.status_code < 500, (path, response.text)
    read = api.run(trained)
    assert (read["algorithm"], read["method"], read["env"], read["name"]) == ("toy", "toy", CORRIDOR, "Kept")
    assert f"the plug-ins {ENVIRONMENT} and {METHOD} are not installed" in read["unsupported_because"]


def test_a_list_says_which_runs_need_a_removed_plug_in(api: Api, trained: int) -> None:
    others = api.launch()["id"]
    listed = {run["id"]: run for run in api.user.get("/api/v1/runs").json()["items"]}
    assert "are not installed" in listed[trained]["unsupported_because"]
    assert "unsupported_because" not in listed[others]


@pytest.mark.required_cases(2)
@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("clone", {}),
        ("fork", {"checkpoint_id": 1}),
        ("evaluations", {}),
        ("recordings", {}),
        ("live", {"checkpoint": "newest"}),
        ("changes", {"fields": {"total_steps": 5_000}}),
    ],
)
def test_actions_that_need_a_removed_plug_in_say_so(api: Api, trained: int, path: str, body: dict[str, Any]) -> None:
    response = api.user.post(f"/api/v1/runs/{trained}/{path}", json=body)
    assert response.status_code == 409, response.text
    assert f"the plug-ins {ENVIRONMENT} and {METHOD} are not installed" in response.json()["detail"]


def test_a_study_of_a_removed_plug_in_pauses_and_says_why(api: Api, database: Database, settings: Settings) -> None:
    study = {"name": "Seeds", "config": TOY, "axes": [], "seeds": 2, "total_steps": 1_000, "confirm_steps": 2_000}
    started = api.user.post("/api/v1/studies", json=study | {"max_concurrent_runs": 1}).json()["id"]
    for run in api.user.get("/api/v1/runs").json()["items"]:
        assert api.user.post(f"/api/v1/runs/{run['id']}/stop").is_success
    unload(METHOD)
    StudyScheduler(database, settings, Doorbell("")).run_once()
    read = api.user.get(f"/api/v1/studies/{started}").json()
    assert (read["state"], read["state_reason"].split(": ")[0]) == ("paused", "Point 1 is invalid")
    assert 'no method is called "toy"' in read["state_reason"]


def test_a_worker_with_the_plug_in_continues_although_the_server_lacks_it(api: Api, trained: int) -> None:
    api.save(trained, 1, 2, 1_000)
    assert api.release(trained, 1, "finished").json() == {"state": "finished"}


def test_an_archive_of_a_removed_plug_in_can_be_imported(api: Api, trained: int) -> None:
    assert api.save(trained, 1, 2, 1_000)
    api.release(trained, 1, "finished")
    written = api.user.get("/api/v1/archives", params={"runs": trained})
    assert written.status_code == 200, written.text
    assert api.user.delete(f"/api/v1/runs/{trained}").status_code == 204
    read = api.user.post("/api/v1/archives", content=written.content)
    assert read.status_code == 201, read.text
    (run,) = read.json()["runs"]
    again = api.run(run)
    assert (again["algorithm"], again["env"]) == ("toy", CORRIDOR)
    assert again["unsupported_because"]
