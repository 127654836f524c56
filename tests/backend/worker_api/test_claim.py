"""Claims of runs and jobs. Each goes to only one worker, in order of priority."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest
from sqlalchemy import select, text

from arcadia_backend.config import Settings
from arcadia_backend.database.engine import Database
from arcadia_backend.database.scope import BACKEND, acting_as
from arcadia_backend.database.tables import Installation, Job
from arcadia_backend.runs.service import act
from arcadia_backend.web.lookup import find_run
from arcadia_backend.worker_api import attempts, runs
from arcadia_workers.contract.worker_api import INSTALLATION_HEADER
from tests.factories import Api
from tests.workers.waiting import wait_until


def test_priority_comes_before_age(api: Api) -> None:
    old, new, urgent = api.launch()["id"], api.launch()["id"], api.launch(priority=1)["id"]
    assert [api.claim()["run_id"] for _ in range(3)] == [urgent, old, new]
    assert api.worker.post("/api/v1/worker/claim", json={"name": "w1", "queue": "cpu"}).status_code == 204


def test_a_claim_has_everything_that_a_trainer_needs(api: Api, database: Database) -> None:
    api.beat("w1")
    run = api.launch()
    claimed = api.claim("w1")
    assert claimed.pop("token").startswith("arcadia_")
    with database.read() as session:
        identity = session.get_one(Installation, 1).identity
    assert claimed == {
        "run_id": run["id"],
        "attempt": 1,
        "config": run["config"],
        "lease_seconds": 60.0,
        "checkpoints": [],
        "changes": [],
        "installation": identity,
    }
    after = api.run(run["id"])
    assert (after["state"], after["worker"], after["attempt"]) == ("starting", "w1", 1)
    assert api.user.get("/api/v1/workers").json()[0]["run_id"] == run["id"]


def test_a_worker_gets_only_runs_of_its_queue(api: Api) -> None:
    run_id = api.launch(queue="gpu")["id"]
    assert api.worker.post("/api/v1/worker/claim", json={"name": "w1", "queue": "cpu"}).status_code == 204
    assert api.claim("g1", "gpu")["run_id"] == run_id


def test_concurrent_workers_get_different_runs(api: Api, database: Database, settings: Settings) -> None:
    made = {api.launch()["id"] for _ in range(8)}

    def claim(number: int) -> list[int]:
        found = []
        for _ in range(4):
            with acting_as(BACKEND), database.write() as session:
                claimed = runs.claim(session, settings, f"w{number}", "cpu")
            if claimed is not None:
                assert claimed.attempt == 1
                found.append(claimed.run_id)
        return found

    with ThreadPoolExecutor(8) as pool:
        taken = [run_id for part in pool.map(claim, range(8)) for run_id in part]
    assert sorted(taken) == sorted(made), "each run is claimed once, and none is left"


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


def test_a_worker_of_another_installation_learns_nothing_about_runs(api: Api) -> None:
    api.launch()
    ours = {INSTALLATION_HEADER: api.claim()["installation"]}
    theirs = {INSTALLATION_HEADER: "0" * 32}
    for run_id in (1, 999):
        path, body = f"/api/v1/worker/runs/{run_id}/release", {"attempt": 1, "outcome": "lost"}
        refused = api.worker.post(path, json=body, headers=theirs)
        assert (refused.status_code, refused.json()["type"]) == (421, "/problems/other-installation")
    assert api.worker.post(path, json=body, headers=ours).status_code == 404


@pytest.fixture
def two_waiting(api: Api, database: Database) -> dict[str, list[int]]:
    """Return two queued runs and two queued jobs, the older first."""
    run_id, attempt = api.running()
    api.save(run_id, attempt, 2, 100)
    for seed in (1, 2):
        api.evaluate(run_id, seed=seed)
    with database.read() as session:
        jobs = list(session.scalars(select(Job.id).order_by(Job.id)))
    return {"runs": [api.launch()["id"], api.launch()["id"]], "jobs": jobs}


def claim_next(noun: str, api: Api) -> int | None:
    """Claim a run or a job through the API. Return its id."""
    path, body = {
        "runs": ("claim", {"name": "w2", "queue": "cpu"}),
        "jobs": ("jobs/claim", {"name": "w2"}),
    }[noun]
    response = api.worker.post(f"/api/v1/worker/{path}", json=body)
    return response.json()[{"runs": "run_id", "jobs": "job_id"}[noun]] if response.status_code == 200 else None


@contextmanager
def locked(database: Database, noun: str, number: int) -> Iterator[None]:
    """Hold the lock of a row in another transaction."""
    with database.write() as session:
        session.execute(text(f"SELECT 1 FROM {noun} WHERE id = {number} FOR UPDATE"))  # noqa: S608
        yield


def wait_for_lock(database: Database) -> None:
    """Wait until a transaction waits for the lock of another."""

    def waits() -> bool:
        with database.read() as session:
            return bool(session.scalar(text("SELECT count(*) FROM pg_locks WHERE NOT granted")))

    wait_until(waits)


@pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)
@pytest.mark.parametrize("noun", ["runs", "jobs"])
def test_a_claim_waits_for_a_locked_row(
    api: Api, database: Database, two_waiting: dict[str, list[int]], noun: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(attempts, "LOCK_WAIT_MS", 60_000)
    with ThreadPoolExecutor(1) as pool:
        with locked(database, noun, two_waiting[noun][0]):
            claim = pool.submit(claim_next, noun, api)
            wait_for_lock(database)
        assert claim.result() == two_waiting[noun][0]


@pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)
@pytest.mark.parametrize("noun", ["runs", "jobs"])
def test_a_row_that_stays_locked_blocks_no_claims_and_is_claimed_next(
    api: Api, database: Database, two_waiting: dict[str, list[int]], noun: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(attempts, "LOCK_WAIT_MS", 50)
    first, second = two_waiting[noun]
    with locked(database, noun, first):
        assert claim_next(noun, api) == second
        assert claim_next(noun, api) is None
    assert claim_next(noun, api) == first


@pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)
def test_a_run_stopped_during_the_wait_for_its_lock_is_not_claimed(
    api: Api, database: Database, two_waiting: dict[str, list[int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(attempts, "LOCK_WAIT_MS", 60_000)
    first, second = two_waiting["runs"]
    with ThreadPoolExecutor(1) as pool:
        with database.write() as session:
            act(session, find_run(session, first, lock=True), "stop")
            session.flush()
            claim = pool.submit(claim_next, "runs", api)
            wait_for_lock(database)
        assert claim.result() == second
    assert api.run(first)["state"] == "stopped"
