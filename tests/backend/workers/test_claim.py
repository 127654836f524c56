"""Claiming: the best waiting run, to one worker only."""

from concurrent.futures import ThreadPoolExecutor

from backend.config import Settings
from backend.db import Database
from backend.models import Installation
from backend.workers import attempts
from tests.factories import Api
from workers.contract.worker_api import INSTALLATION_HEADER


def test_priority_comes_before_age(api: Api) -> None:
    old, new, urgent = api.launch()["id"], api.launch()["id"], api.launch(priority=1)["id"]
    assert [api.claim()["run_id"] for _ in range(3)] == [urgent, old, new]
    assert api.worker.post("/api/v1/worker/claim", json={"name": "w1", "queue": "cpu"}).status_code == 204


def test_a_claim_hands_over_all_that_a_trainer_needs(api: Api, database: Database) -> None:
    api.beat("w1")
    run = api.launch()
    claimed = api.claim("w1")
    with database.read() as session:
        identity = session.get_one(Installation, 1).identity
    assert claimed == {
        "run_id": run["id"],
        "attempt": 1,
        "config": run["config"],
        "lease_seconds": 60.0,
        "checkpoints": [],
        "installation": identity,
    }
    after = api.run(run["id"])
    assert (after["state"], after["worker"], after["attempt"]) == ("starting", "w1", 1)
    assert api.user.get("/api/v1/workers").json()[0]["run_id"] == run["id"]


def test_a_worker_gets_runs_of_its_queue_only(api: Api) -> None:
    run_id = api.launch(queue="gpu")["id"]
    assert api.worker.post("/api/v1/worker/claim", json={"name": "w1", "queue": "cpu"}).status_code == 204
    assert api.claim("g1", "gpu")["run_id"] == run_id


def test_many_workers_at_once_get_different_runs(api: Api, database: Database, settings: Settings) -> None:
    made = {api.launch()["id"] for _ in range(8)}

    def claim(number: int) -> list[int]:
        found = []
        for _ in range(4):
            with database.write() as session:
                claimed = attempts.claim(session, settings, f"w{number}", "cpu")
            if claimed is not None:
                assert claimed.attempt == 1
                found.append(claimed.run_id)
        return found

    with ThreadPoolExecutor(8) as pool:
        taken = [run_id for part in pool.map(claim, range(8)) for run_id in part]
    assert sorted(taken) == sorted(made), "each run once, none left"


def test_a_resumed_run_offers_its_newest_checkpoint_first(api: Api) -> None:
    run_id, attempt = api.running()
    paths = [f"checkpoints/step-{step:012d}.safetensors" for step in (100, 200)]
    api.save(run_id, attempt, 2, 100, kept=paths[:1])
    api.save(run_id, attempt, 3, 200, kept=paths)
    api.act(run_id, "pause")
    assert api.release(run_id, attempt, "stopped").json() == {"state": "paused"}
    api.act(run_id, "resume")
    claimed = api.claim()
    assert (claimed["run_id"], claimed["attempt"]) == (run_id, 2)
    assert [row["step"] for row in claimed["checkpoints"]] == [200, 100]
    newest = claimed["checkpoints"][0]
    assert newest["file"] == paths[1]
    download = api.worker.get(f"/api/v1/worker/runs/{run_id}/files/{newest['id']}", params={"attempt": 2})
    assert download.content == b"weights of attempt 1 at step 200"


def test_a_run_of_another_installation_is_not_spoken_of(api: Api) -> None:
    api.launch()
    ours = {INSTALLATION_HEADER: api.claim()["installation"]}
    theirs = {INSTALLATION_HEADER: "0" * 32}
    for run_id in (1, 999):
        path, body = f"/api/v1/worker/runs/{run_id}/release", {"attempt": 1, "outcome": "lost"}
        refused = api.worker.post(path, json=body, headers=theirs)
        assert (refused.status_code, refused.json()["type"]) == (421, "/problems/other-installation")
    assert api.worker.post(path, json=body, headers=ours).status_code == 404
