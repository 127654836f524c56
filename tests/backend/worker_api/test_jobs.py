"""Jobs of workers: each is claimed once, stored once, and repeated when a worker is lost."""

from datetime import timedelta

import pytest

from arcadia_backend import jobs
from arcadia_backend.config import Settings
from arcadia_backend.database.columns import utc_now
from arcadia_backend.database.engine import Database
from arcadia_backend.database.tables import Job
from arcadia_backend.files.storage import stored_files
from arcadia_workers.contract.worker_api import INTERACTIVE_SLOTS
from tests.backend.worker_api.test_sweeper import Clock, sweeper, wait
from tests.factories import Api, evaluated_episode, evaluation, event, sha256, started


@pytest.fixture
def asked(api: Api) -> tuple[int, int]:
    """Return the ids of a run and a queued evaluation of its checkpoint."""
    run_id, attempt = api.running()
    api.save(run_id, attempt, 2, 100)
    return run_id, api.evaluate(run_id, episodes=2)["id"]


def fall_silent(database: Database, settings: Settings, job_id: int) -> None:
    """Let the lease of a job expire and the sweeper find it."""
    clock = Clock()
    reaper, doorbell = sweeper(database, settings, clock)
    with database.write() as session:
        session.get_one(Job, job_id).lease_expires_at = utc_now() - timedelta(seconds=5)
    wait(reaper, clock, 24)
    assert ("jobs: workers.look_for_jobs", job_id) in doorbell.rings


@pytest.mark.usefixtures("asked")
def test_a_job_is_claimed_by_one_worker(api: Api) -> None:
    claimed = api.claim_job("w1")
    assert (claimed["kind"], claimed["attempt"]) == ("evaluation", 1)
    assert api.worker.post("/api/v1/worker/jobs/claim", json={"name": "w2"}).status_code == 204
    content = api.worker.get(
        f"/api/v1/worker/jobs/{claimed['job_id']}/files/{claimed['checkpoint']['id']}", params={"attempt": 1}
    ).content
    assert sha256(content) == claimed["checkpoint"]["sha256"]


def test_the_oldest_job_is_claimed_first(api: Api, asked: tuple[int, int]) -> None:
    run_id, _ = asked
    api.evaluate(run_id, seed=2)
    assert [api.claim_job()["parameters"]["seed"] for _ in range(2)] == [1, 2]


@pytest.mark.usefixtures("asked")
def test_jobs_that_a_person_waits_for_are_claimed_first(api: Api) -> None:
    api.user.post("/api/v1/games/pong/play")
    assert [api.claim_job()["kind"] for _ in range(2)] == ["play", "evaluation"]


@pytest.mark.usefixtures("asked")
def test_a_worker_whose_job_slot_is_taken_still_takes_interactive_jobs(
    api: Api, database: Database, settings: Settings, asked: tuple[int, int]
) -> None:
    api.beat("w1", job_slots=1)
    first = api.claim_job()
    waiting = api.evaluate(asked[0], seed=2)
    assert waiting["reason"] == "Waits for an evaluation on worker w1."
    nothing = api.worker.post("/api/v1/worker/jobs/claim", json={"name": "w1"})
    assert nothing.status_code == 204, "its only job slot is taken"
    reaper, doorbell = sweeper(database, settings)
    reaper.sweep()
    assert doorbell.rings == []

    game = api.user.post("/api/v1/games/pong/play").json()
    assert game["reason"] == "A worker is about to take it."
    reaper.sweep()
    assert doorbell.rings == [("worker.w1: workers.look_for_jobs", game["id"])]
    assert api.claim_job()["job_id"] == game["id"]
    assert api.worker.post("/api/v1/worker/jobs/claim", json={"name": "w1"}).status_code == 204

    api.release_job(first["job_id"], 1, "failed")
    assert api.evaluation(waiting["id"])["reason"] == "A worker is about to take it."
    assert api.claim_job()["job_id"] == waiting["job_id"]


def test_an_interactive_job_names_the_jobs_that_take_all_slots(
    api: Api, settings: Settings, asked: tuple[int, int]
) -> None:
    settings.max_live_games = 4
    api.beat("w1", job_slots=1)
    api.claim_job()
    for _ in range(INTERACTIVE_SLOTS):
        api.user.post("/api/v1/games/pong/play").raise_for_status()
        api.claim_job()
    waiting = api.user.post("/api/v1/games/pong/play").json()
    named = "an evaluation on worker w1 or a game on worker w1 or a game on worker w1"
    assert waiting["reason"] == f"Waits for {named}."
    api.evaluate(asked[0], seed=2)
    later = api.evaluate(asked[0], seed=3)
    assert later["reason"] == "Waits for an evaluation on worker w1. 1 other job is ahead of it in the queue."


@pytest.mark.usefixtures("asked")
def test_events_are_stored_once_and_without_gaps(api: Api) -> None:
    held = api.claim_job()["job_id"], 1
    batch = (started(1), evaluated_episode(2, 1, 2))
    assert [api.send_of_job(*held, *batch).json() for _ in range(2)] == [{"acknowledged": 2}] * 2
    gap = api.send_of_job(*held, evaluation(5, [1.0]))
    assert (gap.status_code, gap.json()["expected"]) == (409, 3)
    wrong = api.send_of_job(*held, event(3, "metrics", values={}, episodes=[]))
    assert (wrong.status_code, wrong.json()["detail"]) == (422, "events: no event metrics is expected here")


@pytest.mark.usefixtures("asked")
def test_another_event_under_a_stored_number_is_refused(api: Api) -> None:
    job_id, attempt = api.claim_job()["job_id"], 1
    stored = event(1, "log", level="warning", message="one")
    for _ in range(2):
        assert api.send_of_job(job_id, attempt, stored).status_code == 200
        refused = api.send_of_job(job_id, attempt, {**stored, "message": "two"})
        assert (refused.status_code, refused.json()["type"]) == (409, "/problems/event-conflict")
        assert "Start the job again" in refused.json()["detail"]


def test_pages_get_the_progress_of_a_job(api: Api, asked: tuple[int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    published: list[tuple[str, dict[str, object]]] = []
    monkeypatch.setattr(jobs, "publish", lambda name, payload: published.append((name, payload)))
    run_id, evaluation_id = asked
    job_id = api.user.get(f"/api/v1/evaluations/{evaluation_id}").json()["job_id"]
    assert api.claim_job()["job_id"] == job_id
    api.send_of_job(job_id, 1, started(1))
    api.send_of_job(job_id, 1, evaluated_episode(2, 1, 2))
    api.send_of_job(job_id, 1, evaluated_episode(3, 2, 2), evaluation(4, [1.0, 2.0]), event(5, "finished"))
    api.release_job(job_id, 1, "finished")
    job = {"id": job_id, "run_id": run_id, "kind": "evaluation", "total": 2}
    states = (("running", 0), ("running", 0), ("running", 1), ("running", 2), ("done", 2))
    assert published == [("job.changed", {**job, "state": state, "done": done}) for state, done in states]
    api.user.delete(f"/api/v1/evaluations/{evaluation_id}")
    assert published[-1] == ("job.changed", {**job, "state": "removed", "done": 2})


def test_a_run_cannot_report_an_evaluation(api: Api) -> None:
    run_id, attempt = api.running()
    reported = api.send(run_id, attempt, evaluation(2, [1.0]))
    assert (reported.status_code, reported.json()["detail"]) == (422, "events: no event evaluation is expected here")


def test_an_evaluation_of_a_silent_worker_is_repeated_and_stored_once(
    api: Api, database: Database, settings: Settings, asked: tuple[int, int]
) -> None:
    run_id, evaluation_id = asked
    first = api.claim_job("w1")["job_id"], 1
    api.send_of_job(*first, started(1), evaluated_episode(2, 1, 2), evaluation(3, [9.0, 9.0]))
    fall_silent(database, settings, first[0])
    waiting = api.evaluation(evaluation_id)
    assert (waiting["state"], waiting["mean"]) == ("queued", None)
    assert waiting["reason"].startswith("Worker w1 fell silent. Back in the queue, 1 of at most 5 times.")
    assert api.claim_job("w2")["attempt"] == 2
    again = api.evaluation(evaluation_id)
    assert (again["episodes_done"], again["episodes"], again["reason"]) == (0, [], None)
    late = api.send_of_job(*first, event(4, "finished"))
    assert (late.status_code, late.json()["type"]) == (409, "/problems/stale-attempt")
    second = first[0], 2
    api.send_of_job(*second, started(1), evaluation(2, [1.0, 3.0]), event(3, "finished"))
    api.release_job(*second, "finished")
    (row,) = api.evaluations(run_id)
    assert (row["state"], row["mean"]) == ("done", 2.0)


def test_a_finished_job_is_not_repeated(
    api: Api, database: Database, settings: Settings, asked: tuple[int, int]
) -> None:
    job_id = api.claim_job()["job_id"]
    api.send_of_job(job_id, 1, started(1), evaluation(2, [1.0, 3.0]), event(3, "finished"))
    with pytest.raises(AssertionError):
        fall_silent(database, settings, job_id)
    assert api.evaluation(asked[1])["state"] == "done"


def test_a_repeated_release_with_another_outcome_is_logged(api: Api, asked: tuple[int, int]) -> None:
    job_id = api.claim_job()["job_id"]
    api.send_of_job(job_id, 1, started(1), evaluation(2, [1.0, 3.0]), event(3, "finished"))
    for _ in range(2):
        assert api.release_job(job_id, 1, "finished").json() == {"state": "done"}
    assert api.run(asked[0])["warnings"] == []
    assert api.release_job(job_id, 1, "failed", message="No space").json() == {"state": "done"}
    (warning,) = api.run(asked[0])["warnings"]
    assert warning == f"Job {job_id} is done, but its worker reported its end again, now as failed (No space)."


def test_a_job_that_is_lost_too_often_fails(api: Api, asked: tuple[int, int]) -> None:
    for attempt in range(1, 7):
        job_id = api.claim_job()["job_id"]
        api.release_job(job_id, attempt, "lost", message="It was killed by SIGKILL.")
    failed = api.evaluation(asked[1])
    assert failed["state"] == "failed"
    assert failed["reason"] == (
        "It was killed by SIGKILL. It was put back in the queue 5 times already, which is the limit."
    )


def test_a_cancelled_job_no_longer_has_the_reason_of_its_requeue(api: Api, asked: tuple[int, int]) -> None:
    api.release_job(api.claim_job()["job_id"], 1, "lost")
    assert "Back in the queue" in api.evaluation(asked[1])["reason"]
    cancelled = api.user.post(f"/api/v1/evaluations/{asked[1]}/cancel").json()
    assert (cancelled["state"], cancelled["reason"]) == ("cancelled", None)


@pytest.mark.usefixtures("asked")
def test_a_worker_shutdown_requeues_a_job_without_counting_as_a_loss(api: Api) -> None:
    for attempt in range(1, 8):
        job_id = api.claim_job()["job_id"]
        assert api.release_job(job_id, attempt, "drained").json() == {"state": "queued"}


def test_a_process_that_ends_without_a_result_fails_its_job(api: Api, asked: tuple[int, int]) -> None:
    job_id = api.claim_job()["job_id"]
    api.send_of_job(job_id, 1, started(1), event(2, "finished"))
    assert api.release_job(job_id, 1, "finished").json() == {"state": "failed"}
    assert api.evaluation(asked[1])["reason"] == "Its process ended without a result."


def test_a_failure_has_a_reason(api: Api, asked: tuple[int, int]) -> None:
    job_id = api.claim_job()["job_id"]
    api.send_of_job(job_id, 1, event(1, "failed", message="there is no game X", traceback="Traceback"))
    api.release_job(job_id, 1, "failed", message="there is no game X", traceback="Traceback")
    failed = api.evaluation(asked[1])
    assert (failed["state"], failed["reason"], failed["traceback"]) == ("failed", "there is no game X", "Traceback")


@pytest.mark.usefixtures("asked")
def test_a_heartbeat_renews_leases_and_reports_ended_jobs(api: Api, database: Database) -> None:
    job_id = api.claim_job()["job_id"]
    with database.write() as session:
        session.get_one(Job, job_id).lease_expires_at = utc_now() + timedelta(seconds=1)
    held = [{"id": job_id, "attempt": 1}, {"id": 999, "attempt": 1}]
    wanted = api.beat(job_slots=2, jobs=held).json()["jobs"]
    assert [row["desired"] for row in wanted] == ["run", None]
    with database.read() as session:
        lease = session.get_one(Job, job_id).lease_expires_at
    assert lease is not None
    assert lease > utc_now() + timedelta(seconds=50)
    assert api.user.get("/api/v1/workers").json()[0]["job_slots"] == 2


def test_the_sweeper_rings_for_a_queued_job_if_a_worker_has_a_free_slot(
    api: Api, database: Database, settings: Settings, asked: tuple[int, int]
) -> None:
    reaper, doorbell = sweeper(database, settings)
    api.beat("w1", job_slots=0)
    reaper.sweep()
    assert doorbell.rings == [], "the worker takes no jobs"
    api.beat("w2", job_slots=1)
    reaper.sweep()
    assert doorbell.rings == [("worker.w2: workers.look_for_jobs", 1)]
    api.claim_job("w2")
    api.evaluate(asked[0])
    doorbell.rings.clear()
    reaper.sweep()
    assert doorbell.rings == [], "the only slot is taken"


@pytest.mark.usefixtures("asked")
def test_files_of_a_job_are_separate_and_deleted_with_its_attempt(api: Api, settings: Settings) -> None:
    before = len(stored_files(settings.files_dir))
    job_id = api.claim_job()["job_id"]
    query: dict[str, str | int] = {
        "attempt": 1,
        "kind": "video",
        "path": "checkpoints/step-000000000100.safetensors",
        "sha256": sha256(b"film"),
    }
    path = f"/api/v1/worker/jobs/{job_id}/files"
    ids = {api.worker.put(path, params=query, content=b"film").json()["file_id"] for _ in range(2)}
    assert len(ids) == 1
    assert len(stored_files(settings.files_dir)) == before + 1
    api.release_job(job_id, 1, "lost")
    assert api.worker.put(path, params=query, content=b"film").status_code == 409
    api.claim_job()
    assert len(stored_files(settings.files_dir)) == before


def test_jobs_are_deleted_with_their_run(api: Api, asked: tuple[int, int]) -> None:
    run_id, evaluation_id = asked
    api.release(run_id, 1, "finished")
    assert api.user.delete(f"/api/v1/runs/{run_id}").status_code == 204
    assert api.user.get(f"/api/v1/evaluations/{evaluation_id}").status_code == 404
    assert api.worker.post("/api/v1/worker/jobs/claim", json={"name": "w1"}).status_code == 204
