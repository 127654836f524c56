"""Own objects that refer to hidden ones, such as a fork of a hidden run: no answer names or counts out the hidden."""

import re
from collections.abc import Iterator
from typing import Any

import pytest

from arcadia_backend.config import API
from arcadia_backend.database import tables
from tests.accounts.crawl import PAGES, STREAMS, doors, fill, query
from tests.accounts.lab import Lab
from tests.accounts.signing_in import read
from tests.factories import CARTPOLE

# The id of each hidden row, the step of the hidden run, and the name of all.
HIDDEN, STEP, NAME = 771_001, 772_002, "hidden-name"


def hidden_rows(project: int) -> Iterator[list[tables.Base]]:
    """Yield rows of a project, each of which has the id HIDDEN."""
    run = {"algorithm": "paac", "env": "CartPole-v1", "config": CARTPOLE, "project_id": project, "name": NAME}
    training = {"state": "running", "step": STEP, "total_steps": 10**6, "seconds_left": 600.0, "queue": "cpu"}
    yield [
        tables.Run(id=HIDDEN, worker="w1", **run, **training),
        tables.Study(id=HIDDEN, name=NAME, question="", specification={}, state="running", project_id=project),
        tables.Report(id=HIDDEN, title=NAME, blocks=[], project_id=project),
        tables.Artifact(id=HIDDEN, name=NAME, kind="model", project_id=project),
    ]
    version = {"version": 1, "bytes": 1, "file_count": 1, "digest": "x", "details": {}}
    place = {"host": "h", "queue": "cpu", "pid": 1, "version": "1", "device": "cpu", "cores": 1, "memory_bytes": 1}
    yield [
        tables.Checkpoint(id=HIDDEN, run_id=HIDDEN, attempt=1, file="x", step=STEP, frames=1, sha256="x", bytes=1),
        tables.ArtifactVersion(id=HIDDEN, artifact_id=HIDDEN, **version),
        tables.Worker(name="w1", run_id=HIDDEN, **place),
    ]


@pytest.fixture
def crossed(lab: Lab) -> Iterator[Lab]:
    """Yield the lab with rows of its own project that refer to hidden ones."""
    own = lab.own.ids
    with lab.database.write() as session:
        for rows in hidden_rows(lab.other.project_id):
            session.add_all(rows)
            session.flush()
        run = session.get_one(tables.Run, own["runs"])
        run.parent_run_id, run.parent_checkpoint_id, run.parent_step = HIDDEN, HIDDEN, 5
        made = session.get_one(tables.ArtifactVersion, own["artifact_versions"])
        made.run_id, made.run_name = HIDDEN, NAME
        session.get_one(tables.Project, lab.own.project_id).pinned_report_id = HIDDEN
        report = session.get_one(tables.Report, own["reports"])
        report.blocks = [{"kind": "table", "of": "runs", "numbers": [own["runs"], HIDDEN], "columns": ["name"]}]
        alert = {"kind": "script", "level": "info", "title": NAME, "text": ""}
        session.add_all(
            [
                tables.StudyRun(study_id=own["studies"], point=0, seed=771, run_id=HIDDEN),
                tables.StudyRun(study_id=HIDDEN, point=0, seed=1, run_id=own["runs"]),
                tables.ArtifactLink(run_id=HIDDEN, version_id=own["artifact_versions"], role="used"),
                tables.ArtifactLink(run_id=own["runs"], version_id=HIDDEN, role="used"),
                tables.Alert(run_id=HIDDEN, study_id=own["studies"], **alert),
            ]
        )
    yield lab
    lab.copy.restore()


def test_no_answer_names_a_hidden_object(crossed: Lab) -> None:
    leaks = {}
    for caller in ("viewer", "editor"):
        for door in doors(crossed, "GET"):
            if door.path in (*STREAMS, PAGES):
                continue
            params, path = query(door.path, crossed.own), fill(door.path, crossed.own)
            answer = crossed.client(caller).get(path, params=params, follow_redirects=False)
            # The author of a report has written the number.
            names = f"{STEP}|{NAME}" if "/reports/" in door.path else f"{HIDDEN}|{STEP}|{NAME}"
            if found := re.findall(f".{{0,60}}(?:{names})", answer.text):
                leaks[str(door), caller] = found
    assert leaks == {}


def test_a_fork_of_a_hidden_run_keeps_its_step(crossed: Lab) -> None:
    path = f"{API}/runs/{crossed.own.ids['runs']}"
    parent = {"run_id": None, "checkpoint_id": None, "step": 5}
    assert read(crossed.client("viewer").get(path))["parent"] == parent
    [listed] = read(crossed.client("viewer").get(f"{API}/runs"))["items"]
    assert listed["parent"]["run_id"] is None
    seen = read(crossed.client("installation administrator").get(path))["parent"]
    assert seen == {"run_id": HIDDEN, "checkpoint_id": HIDDEN, "step": 5}


def test_a_deleted_parent_keeps_its_number(crossed: Lab) -> None:
    with crossed.database.write() as session:
        session.delete(session.get_one(tables.Run, HIDDEN))
    run = read(crossed.client("viewer").get(f"{API}/runs/{crossed.own.ids['runs']}"))
    assert run["parent"]["run_id"] == HIDDEN


@pytest.mark.parametrize("path", ["workers", "executors", "alert-rules"])
def test_the_installation_is_hidden_from_people_without_a_role(crossed: Lab, path: str) -> None:
    refused = read(crossed.client("stranger").get(f"{API}/{path}"), 403)["detail"]
    assert refused == "You need the role viewer in a project for this. Who can give it to you: Root."
    read(crossed.client("viewer").get(f"{API}/{path}"))


def test_a_worker_with_a_hidden_run_is_busy_without_a_number(crossed: Lab) -> None:
    [worker] = read(crossed.client("viewer").get(f"{API}/workers"))
    assert (worker["state"], worker["run_id"]) == ("busy", None)
    [seen] = read(crossed.client("installation administrator").get(f"{API}/workers"))
    assert seen["run_id"] == HIDDEN


def preview(lab: Lab, caller: str) -> dict[str, Any]:
    body = {"preset": "paac-cartpole", "project": f"{lab.own.secret} project", "queue": "cpu"}
    forecast: dict[str, Any] = read(lab.client(caller).post(f"{API}/runs/preview", json=body))
    return forecast


def queue_runs(lab: Lab, count: int) -> None:
    """Add queued runs to the hidden project."""
    run = {"algorithm": "paac", "env": "CartPole-v1", "config": CARTPOLE, "queue": "cpu", "state": "queued"}
    with lab.database.write() as session:
        session.add_all(tables.Run(name=NAME, project_id=lab.other.project_id, **run) for _number in range(count))


def test_a_forecast_counts_hidden_work(crossed: Lab) -> None:
    before = preview(crossed, "editor")
    assert (before["runs_ahead"], before["starts_in_seconds"]) == (0, 600.0)
    queue_runs(crossed, 5)
    for caller in ("editor", "installation administrator"):
        after = preview(crossed, caller)
        # The caller and the owner of the hidden runs take turns.
        assert (after["runs_ahead"], after["starts_in_seconds"]) == (1, None)
        is_named = re.match(r"Run \d+ is ahead", after["start_unknown"]) is not None
        assert is_named == (caller != "editor"), after
    assert preview(crossed, "editor")["start_unknown"].startswith("A run is ahead")


def test_a_waiting_run_and_a_waiting_job_count_hidden_work(crossed: Lab) -> None:
    queue_runs(crossed, 2)
    other = crossed.other.ids["runs"]
    with crossed.database.write() as session:
        run = session.get_one(tables.Run, crossed.own.ids["runs"])
        run.state, run.queue, run.origin, run.priority = "queued", "cpu", "trained", -1
        worker = session.get_one(tables.Worker, "w1")
        worker.run_id, worker.job_slots = None, 1
        busy = {"kind": "recording", "parameters": {}, "total": 1, "run_id": other, "checkpoint_id": None}
        session.add(tables.Job(state="running", worker="w1", **busy))
    client, own = crossed.client("viewer"), crossed.own.ids
    waiting = read(client.get(f"{API}/runs/{own['runs']}"))["state_reason"]
    assert "Waiting for a free CPU worker." in waiting
    job = read(client.get(f"{API}/recordings/{own['recordings']}"))
    assert "Waits for a recording on worker w1." in job["reason"]
