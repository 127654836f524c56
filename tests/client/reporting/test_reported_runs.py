"""Reported runs of the Python client in a real backend: live, offline, stopped, resumed."""

import json
import platform
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest
from arcadia import Client

from tests.client.reporting.conftest import Backend, Start, complete
from tests.workers.waiting import PATIENCE_SECONDS, wait_until

# Everything that a script can log.
EVERYTHING = """
with arcadia.init("maze", "everything", {"rate": 0.1, "nan": math.nan}, method="PPO", env="Maze-v0",
                  tags=["one"], notes="first", total_steps=300, id=os.environ["KEY"]) as run:
    for step in range(200):
        run.log({"loss": 1 / (step + 1), "episode/return": step, "odd name %/é": math.inf if step == 7 else 0.5})
    run.log({"screen": arcadia.Image([[0, 128, 255]] * 3, caption="c"), "h": arcadia.Histogram([1, 2, 3], bins=2)})
    run.log({"t": arcadia.Table(["a"], [[1], ["x"], [None]])})
    run.write("hello", level="warning")
    run.tag("two")
    run.untag("one")
    run.note("second")
    run.config.update(layers=3)
    run.set_total_steps(203)
"""


def without_identity(run: dict[str, Any]) -> dict[str, Any]:
    """Return the fields that two runs of the same script have in common."""
    own = {"id", "reported_key", "created_at", "started_at", "finished_at", "trained_seconds", "poster_file_id"}
    # The reasons of actions contain the run's name.
    own |= {"steps_per_second", "actions", "color"}
    return {name: value for name, value in run.items() if name not in own}


def content(client: Client, key: str) -> dict[str, Any]:
    """Return everything that the backend stores about a run, except times."""
    (run,) = (run for run in client.runs(include=["reported_key"]) if run.data["reported_key"] == key)
    media = client.transport.get(f"/runs/{run.id}/media")["items"]
    return {
        "run": without_identity(run.data),
        "config": run.config,
        "points": run.metrics().to_lists(),
        "media": [(each["name"], each["kind"], each["step"], each["data"], each["caption"]) for each in media],
        "log": [(line.level, line.message) for line in run.log()],
        "python": run.provenance()["provenance"]["python"],
    }


def test_a_synced_offline_run_equals_a_live_one_whose_image_is_served(
    backend: Backend, client: Client, start: Start, journals: Path
) -> None:
    complete(start(EVERYTHING, KEY="live"))
    complete(start(EVERYTHING, KEY="later", ARCADIA_MODE="offline"))
    (run,) = client.runs()
    (shown,) = (each for each in client.transport.get(f"/runs/{run.id}/media")["items"] if each["kind"] == "image")
    image = httpx.get(f"{backend.url}/api/v1/files/{shown['file_id']}", timeout=PATIENCE_SECONDS)
    command = [sys.executable, "-m", "arcadia", "sync", str(journals), "--url", backend.url]
    done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=PATIENCE_SECONDS)
    assert done.stdout.startswith("later is at ")
    live, later = content(client, "live"), content(client, "later")
    assert live == later
    assert live["run"]["state"] == "finished"
    assert (live["run"]["project"], live["run"]["origin"], live["run"]["tags"]) == ("maze", "reported", ["two"])
    assert live["run"]["total_steps"] == 203
    assert live["config"] == {"rate": 0.1, "nan": "NaN", "layers": 3}
    assert live["points"]["loss"] == ([float(step) for step in range(200)], [1 / (step + 1) for step in range(200)])
    assert live["points"]["odd name %/é"][1][7] == float("inf")
    assert [(name, kind, step) for name, kind, step, _, _ in live["media"]] == [
        ("screen", "image", 200),
        ("h", "histogram", 200),
        ("t", "table", 201),
    ]
    assert ("warning", "hello") in live["log"]
    assert live["python"] == platform.python_version()
    assert image.headers["Content-Type"] == "image/png"
    assert image.content.startswith(b"\x89PNG")


@pytest.mark.nightly
def test_a_script_stops_when_someone_stops_its_run(client: Client, start: Start) -> None:
    script = start("""
with arcadia.init() as run:
    while not run.should_stop():
        run.log({"loss": 1.0})
        time.sleep(0.01)
""")
    wait_until(lambda: any(run.step > 10 for run in client.runs()))
    (run,) = client.runs()
    run.stop()
    complete(script)
    assert run.refresh().state == "stopped"


@pytest.mark.nightly
def test_a_script_that_resumes_a_run_is_not_stopped(client: Client, start: Start) -> None:
    program = """
with arcadia.init(id="mine", resume=os.environ.get("RESUME", "allow")) as run:
    run.log({"loss": 1.0})
    print(run.step, run.should_stop())
"""
    assert complete(start(program)) == "0 False\n"
    assert complete(start(program, RESUME="must")) == "1 False\n"
    (run,) = client.runs()
    assert (run.state, run.attempt, run.metrics("loss").to_lists()["loss"][0]) == ("finished", 2, [0.0, 1.0])


@pytest.mark.nightly
def test_resuming_a_missing_run_is_an_error(client: Client, start: Start, journals: Path) -> None:
    script = start("arcadia.init(id='nobody', resume='must')")
    _, errors = script.communicate(timeout=PATIENCE_SECONDS)
    assert script.returncode == 1
    assert "nobody" in errors.splitlines()[-1]
    assert client.runs() == []
    assert not list(journals.iterdir())


def test_a_script_without_a_role_stops_uploading_and_says_why(backend: Backend, start: Start, journals: Path) -> None:
    secret = "correct horse battery"
    with httpx.Client(base_url=f"{backend.url}/api/v1") as ana, httpx.Client(base_url=f"{backend.url}/api/v1") as bo:
        first = {"name": "Ana", "email": "ana@example.org", "password": secret}
        ana.post("/people/first", json=first).raise_for_status()
        body = {"people": [{"name": "Bo", "email": "bo@example.org"}]}
        [invited] = ana.post("/people", json=body).raise_for_status().json()
        link = {"secret": invited["path"].partition("#")[2], "password": secret}
        bo.post("/session/password", json=link).raise_for_status()
        token = bo.post("/tokens", json={"name": "script", "scopes": ["log"]}).raise_for_status().json()["secret"]
    script = start("run = arcadia.init(id='x')\nrun.log({'score': 1.0})\nrun.finish()", ARCADIA_TOKEN=token)
    errors = script.communicate(timeout=PATIENCE_SECONDS)[1]
    assert script.returncode == 0
    assert "You need the role editor in a project for this. Who can give it to you: Ana." in errors
    status = json.loads((journals / "x" / "status.json").read_text())
    assert status["rejected"] is True
