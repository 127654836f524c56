"""Workers that return after their lease expired, before another attempt has started."""

import pytest

from arcadia_backend.config import Settings
from arcadia_backend.database.engine import Database
from arcadia_backend.database.tables import Attempt, Run
from tests.backend.worker_api.test_jobs import fall_silent
from tests.backend.worker_api.test_sweeper import Clock, expire, sweeper, wait
from tests.factories import Api, evaluation, event, metrics, started


@pytest.fixture
def cut_off(api: Api, database: Database, settings: Settings) -> tuple[int, int]:
    """Return the id and the attempt of a running run whose worker fell silent."""
    api.beat("w1")
    run_id, attempt = api.running()
    api.send(run_id, attempt, metrics(2, 100, {"a": 1.0}))
    lose(api, database, settings, run_id)
    assert api.run(run_id)["state"] == "queued"
    return run_id, attempt


def lose(api: Api, database: Database, settings: Settings, run_id: int) -> None:
    """Let the lease of a run expire and the sweeper find it."""
    expire(database, run_id)
    clock = Clock()
    wait(sweeper(database, settings, clock)[0], clock, 24)
    assert api.run(run_id)["worker"] is None


def points(api: Api, run_id: int) -> list[float]:
    """Return the steps of the metric `a`."""
    answer = api.user.get(f"/api/v1/runs/{run_id}/metrics", params={"names": "a", "x": "step"}).json()
    return [point["x"] for series in answer["series"] for point in series["points"]]


def test_a_heartbeat_continues_the_run(
    api: Api, database: Database, settings: Settings, cut_off: tuple[int, int]
) -> None:
    run_id, attempt = cut_off
    assert api.beat("w1", run={"id": run_id, "attempt": attempt}).json()["desired"] == "run"
    run = api.run(run_id)
    assert (run["state"], run["worker"], run["attempt"], run["state_reason"]) == ("running", "w1", attempt, None)
    log = api.user.get(f"/api/v1/runs/{run_id}/log").json()["items"]
    assert log[-1]["message"] == "Worker w1 is back and continues attempt 1."
    assert api.worker.post("/api/v1/worker/claim", json={"name": "w2", "queue": "cpu"}).status_code == 204
    clock = Clock()
    wait(sweeper(database, settings, clock)[0], clock, 24)
    assert api.run(run_id)["state"] == "running", "its lease is valid again"
    with database.read() as session:
        ended = session.get_one(Attempt, (run_id, attempt))
        assert (ended.outcome, ended.ended_at) == (None, None)


def test_events_from_the_time_of_the_disconnect_are_stored(api: Api, cut_off: tuple[int, int]) -> None:
    run_id, attempt = cut_off
    answer = api.send(run_id, attempt, *(metrics(seq, seq * 100, {"a": 1.0}) for seq in (3, 4, 5)))
    assert answer.json() == {"acknowledged": 5}
    assert api.save(run_id, attempt, 6, 600)
    assert api.release(run_id, attempt, "drained").json() == {"state": "queued"}
    assert api.run(run_id)["step"] == 600
    assert api.claim("w2")["checkpoints"][0]["step"] == 600


def test_a_file_may_be_uploaded_before_a_heartbeat(api: Api, cut_off: tuple[int, int]) -> None:
    run_id, attempt = cut_off
    assert api.save(run_id, attempt, 3, 200)
    assert api.run(run_id)["state"] == "running"


def test_a_run_that_ended_during_the_disconnect_is_finished(api: Api, cut_off: tuple[int, int]) -> None:
    run_id, attempt = cut_off
    assert api.release(run_id, attempt, "finished").json() == {"state": "finished"}
    assert api.release(run_id, attempt, "finished").json() == {"state": "finished"}
    assert api.beat("w1", run={"id": run_id, "attempt": attempt}).status_code == 409


@pytest.mark.parametrize(("action", "state"), [("stop", "stopped"), ("pause", "paused")])
def test_events_from_before_a_stop_are_stored(api: Api, cut_off: tuple[int, int], action: str, state: str) -> None:
    run_id, attempt = cut_off
    assert api.act(run_id, action)["state"] == state
    assert api.beat("w1", run={"id": run_id, "attempt": attempt}).json()["desired"] == action
    assert api.save(run_id, attempt, 3, 900)
    assert api.release(run_id, attempt, "stopped").json() == {"state": state}
    assert api.run(run_id)["step"] == 900


def test_a_run_that_was_lost_too_often_continues_if_its_worker_returns(
    api: Api, database: Database, settings: Settings
) -> None:
    run_id, attempt = api.running()
    with database.write() as session:
        session.get_one(Run, run_id).requeues = settings.max_requeues
    lose(api, database, settings, run_id)
    assert api.run(run_id)["state"] == "failed"
    assert api.beat("w1", run={"id": run_id, "attempt": attempt}).status_code == 200
    run = api.run(run_id)
    assert (run["state"], run["failure"], run["finished_at"]) == ("running", None, None)


def test_a_worker_is_refused_after_another_attempt_or_an_archiving(api: Api, cut_off: tuple[int, int]) -> None:
    run_id, attempt = cut_off
    held = {"id": run_id, "attempt": attempt}
    api.act(run_id, "pause")
    api.act(run_id, "archive")
    assert api.beat("w1", run=held).status_code == 409
    api.act(run_id, "resume")
    assert api.claim("w2")["attempt"] == attempt + 1
    assert api.beat("w1", run=held).status_code == 409
    assert api.send(run_id, attempt, metrics(3, 300, {"a": 1.0})).status_code == 409
    assert api.release(run_id, attempt, "finished").status_code == 409
    # The next attempt was released, not lost.
    api.release(run_id, attempt + 1, "lost")
    assert api.beat("w2", run={"id": run_id, "attempt": attempt + 1}).status_code == 409


def test_a_job_continues_too(api: Api, database: Database, settings: Settings) -> None:
    run_id, attempt = api.running()
    api.save(run_id, attempt, 2, 100)
    asked = api.evaluate(run_id, episodes=2)["id"]
    job_id = api.claim_job("w1")["job_id"]
    api.send_of_job(job_id, 1, started(1))
    fall_silent(database, settings, job_id)
    assert api.evaluation(asked)["state"] == "queued"
    held = {"id": job_id, "attempt": 1}
    assert api.beat("w1", jobs=[held]).json()["jobs"] == [held | {"desired": "run"}]
    assert api.evaluation(asked)["state"] == "running"
    fall_silent(database, settings, job_id)
    assert api.send_of_job(job_id, 1, evaluation(2, [1.0, 3.0]), event(3, "finished")).status_code == 200
    api.release_job(job_id, 1, "finished")
    assert (api.evaluation(asked)["state"], api.evaluation(asked)["mean"]) == ("done", 2.0)
    assert api.worker.post("/api/v1/worker/jobs/claim", json={"name": "w2"}).status_code == 204


def test_a_job_is_refused_after_another_attempt_started(api: Api, database: Database, settings: Settings) -> None:
    run_id, attempt = api.running()
    api.save(run_id, attempt, 2, 100)
    api.evaluate(run_id)
    job_id = api.claim_job("w1")["job_id"]
    fall_silent(database, settings, job_id)
    assert api.claim_job("w2")["attempt"] == 2
    held = {"id": job_id, "attempt": 1}
    assert api.beat("w1", jobs=[held]).json()["jobs"] == [held | {"desired": None}]
