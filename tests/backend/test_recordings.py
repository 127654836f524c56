"""Recordings on demand: how they are requested, made by a job, listed as replays, and removed."""

from typing import Any

import pytest
from sqlalchemy import delete, func, update
from sqlalchemy.orm import Session

from arcadia_backend.accounts.audit import AUDITED
from arcadia_backend.config import Settings
from arcadia_backend.database.engine import Database
from arcadia_backend.database.tables import Job, Replay, Run
from arcadia_backend.files.storage import stored_files
from arcadia_backend.web import lookup
from arcadia_backend.web.lookup import find_run
from tests.factories import CARTPOLE, Api, checkpoint_path, evaluation, event, limit_jobs, sha256, started, video

FILES = {"file": "video", "poster": "poster", "seen": "video", "track": "track"}


@pytest.fixture
def run(api: Api) -> int:
    """Return a run with a checkpoint."""
    run_id, attempt = api.running()
    api.save(run_id, attempt, 2, 100)
    return run_id


def ask(api: Api, run_id: int, status: int = 201, **wanted: Any) -> dict[str, Any]:
    """Request a recording."""
    answer = api.user.post(f"/api/v1/runs/{run_id}/recordings", json=wanted)
    assert answer.status_code == status, answer.text
    found: dict[str, Any] = answer.json()
    return found


def film(api: Api, *, release: bool = True, size: int = 0, warning: str | None = None) -> dict[str, Any]:
    """Do the oldest queued recording as a worker does. Return the claim."""
    claimed = api.claim_job()
    held = claimed["job_id"], claimed["attempt"]
    named = {name: f"replays/film.{name}" for name in FILES}
    for name, kind in FILES.items():
        content = f"{name} of {held}".encode().ljust(size)
        query = {"attempt": held[1], "kind": kind, "path": named[name], "sha256": sha256(content)}
        assert api.worker.put(f"/api/v1/worker/jobs/{held[0]}/files", params=query, content=content).is_success
    reported = video(2, 100, 100, **named, checkpoint=checkpoint_path(100), episode_return=21.0)
    warned = [event(3, "log", level="warning", message=warning)] if warning else []
    last = event(3 + len(warned), "finished")
    assert api.send_of_job(*held, started(1), reported, *warned, last).is_success
    if release:
        assert api.release_job(*held, "finished").json() == {"state": "done"}
    return claimed


def replays(api: Api, run_id: int) -> list[dict[str, Any]]:
    """Return a run's replays."""
    found: list[dict[str, Any]] = api.user.get(f"/api/v1/runs/{run_id}/replays").json()
    return found


def test_a_requested_recording_becomes_a_replay(api: Api, run: int) -> None:
    asked = ask(api, run, seed=7, episode=3)
    assert (asked["state"], asked["step"], asked["protocol"]) == ("queued", 100, "episodes")
    assert "start one with" in asked["reason"]
    claimed = film(api)
    assert (claimed["kind"], claimed["parameters"]) == (
        "recording",
        {"protocol": "episodes", "seed": 7, "episode": 3},
    )
    done = api.user.get(f"/api/v1/recordings/{asked['id']}").json()
    (replay,) = replays(api, run)
    assert (done["state"], done["replay_id"]) == ("done", replay["id"])
    assert (replay["step"], replay["episode_return"]) == (100, 21.0)
    assert api.user.get(f"/api/v1/files/{replay['track_file_id']}").content.startswith(b"track of")
    assert api.user.get(f"/api/v1/runs/{run}/recordings").json() == [done]


def test_a_warning_of_the_process_is_shown_with_the_recording(api: Api, run: int) -> None:
    asked = ask(api, run)
    film(api, warning="The replay shows the first 5 minutes.")
    done = api.user.get(f"/api/v1/recordings/{asked['id']}").json()
    assert (done["state"], done["reason"]) == ("done", "The replay shows the first 5 minutes.")


def test_a_recording_does_not_replace_the_trainers_replay_of_the_checkpoint(api: Api, run: int) -> None:
    ask(api, run)
    film(api)
    for path, kind in (("replays/100.mp4", "video"), ("replays/100.png", "poster")):
        api.upload(run, 1, path, path.encode(), kind)
    assert api.send(run, 1, video(3, 180, 100)).is_success
    assert len(replays(api, run)) == 2


def test_an_imported_recording_may_have_the_number_of_a_new_one(api: Api, run: int, database: Database) -> None:
    ask(api, run)
    film(api)
    with database.write() as session:
        # The recording was made elsewhere by the job that has the next number here.
        session.execute(update(Replay).values(file=func.replace(Replay.file, "jobs/1/", "jobs/2/")))
    ask(api, run, seed=8)
    film(api)
    assert len(replays(api, run)) == 2


def test_a_repeated_recording_is_stored_once(api: Api, run: int, settings: Settings) -> None:
    ask(api, run)
    before = len(stored_files(settings.files_dir))
    claimed = film(api, release=False)
    held = claimed["job_id"], claimed["attempt"]
    assert api.release_job(*held, "drained").json() == {"state": "queued"}
    film(api)
    assert len(replays(api, run)) == 1
    assert len(stored_files(settings.files_dir)) == before + len(FILES)


def test_removing_a_recording_deletes_its_replay_and_files(api: Api, run: int, settings: Settings) -> None:
    asked = ask(api, run)
    before = len(stored_files(settings.files_dir))
    film(api)
    assert api.user.delete(f"/api/v1/recordings/{asked['id']}").status_code == 204
    assert replays(api, run) == []
    assert len(stored_files(settings.files_dir)) == before
    assert api.user.get(f"/api/v1/recordings/{asked['id']}").status_code == 404


def test_removing_a_recording_restores_the_thumbnail_of_the_run(api: Api, run: int) -> None:
    shown = api.user.get(f"/api/v1/runs/{run}").json()["poster_file_id"]
    asked = ask(api, run)
    film(api)
    assert api.user.get(f"/api/v1/runs/{run}").json()["poster_file_id"] != shown
    api.user.delete(f"/api/v1/recordings/{asked['id']}")
    assert api.user.get(f"/api/v1/runs/{run}").json()["poster_file_id"] == shown


@pytest.mark.parametrize(("method", "path"), [("GET", ""), ("POST", "/cancel"), ("DELETE", "")])
def test_a_job_without_a_run_is_not_a_recording(api: Api, method: str, path: str) -> None:
    number = api.user.post("/api/v1/games/pong/play").json()["id"]
    answer = api.user.request(method, f"/api/v1/recordings/{number}{path}")
    assert (answer.status_code, answer.json()["detail"]) == (404, f"There is no recording {number}.")


def test_a_queued_recording_can_be_cancelled(api: Api, run: int) -> None:
    asked = ask(api, run)
    assert api.user.post(f"/api/v1/recordings/{asked['id']}/cancel").json()["state"] == "cancelled"
    assert api.user.post(f"/api/v1/recordings/{asked['id']}/cancel").status_code == 409


@pytest.mark.parametrize(("method", "path"), [("POST", "/cancel"), ("DELETE", "")])
def test_a_recording_removed_by_a_concurrent_request_is_not_found(
    api: Api, run: int, monkeypatch: pytest.MonkeyPatch, method: str, path: str
) -> None:
    asked = ask(api, run)["id"]

    def lock_late(session: Session, run_id: int, *, lock: bool = False) -> Run:
        session.execute(delete(Job).execution_options(synchronize_session=False, **AUDITED))
        return find_run(session, run_id, lock=lock)

    monkeypatch.setattr(lookup, "find_run", lock_late)
    answer = api.user.request(method, f"/api/v1/recordings/{asked}{path}")
    assert (answer.status_code, answer.json()["detail"]) == (404, f"There is no recording {asked}.")


def test_a_process_without_a_result_fails_its_recording(api: Api, run: int) -> None:
    asked = ask(api, run)
    claimed = api.claim_job()
    held = claimed["job_id"], claimed["attempt"]
    assert api.send_of_job(*held, started(1), event(2, "finished")).is_success
    assert api.release_job(*held, "finished").json() == {"state": "failed"}
    assert "without a result" in api.user.get(f"/api/v1/recordings/{asked['id']}").json()["reason"]


def test_invalid_recordings_are_refused_with_the_reason(api: Api, run: int, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "use episodes" in str(ask(api, run, 422, protocol="no-op-5min"))
    assert "there is no protocol" in str(ask(api, run, 422, protocol="best of all"))
    assert "there is no protocol ''" in str(ask(api, run, 422, protocol=""))
    assert "no best checkpoint" in ask(api, run, 409, checkpoint="best")["detail"]
    assert "has no such checkpoint" in str(ask(api, run, 422, checkpoint=999))
    assert ask(api, run, 422, seed=-1)
    assert ask(api, run, 422, episode=True)
    empty = api.launch()["id"]
    assert "no checkpoint yet" in ask(api, empty, 409)["detail"]
    limit_jobs(monkeypatch, "recording", 1)
    ask(api, run)
    assert "already wait" in ask(api, run, 409)["detail"]


def test_the_first_episode_of_a_scheduled_evaluation_is_recorded(api: Api) -> None:
    config = {**CARTPOLE, "total_steps": 100_000, "evaluate_every_steps": 1_000}
    run_id, attempt = api.running(config=config)
    for seq, step in enumerate(range(1_000, 9_000, 1_000), start=2):
        api.save(run_id, attempt, seq, step)
    asked = api.user.get(f"/api/v1/runs/{run_id}/recordings").json()
    assert [row["step"] for row in reversed(asked)] == [1_000, 2_000, 3_000, 4_000, 5_000], (
        "more would be too far ahead"
    )
    first, played = asked[-1], api.evaluations(run_id)[-1]
    assert (first["protocol"], first["seed"], first["episode"]) == (played["protocol"], played["seed"], 0)
    assert first["checkpoint_id"] == played["checkpoint_id"]
    assert ask(api, run_id, checkpoint="newest")["state"] == "queued", "a schedule leaves room for users"


def test_an_evaluation_is_not_a_recording(api: Api, run: int) -> None:
    api.evaluate(run)
    job = api.claim_job()["job_id"]
    answer = api.user.get(f"/api/v1/recordings/{job}")
    assert (answer.status_code, answer.json()["detail"]) == (404, f"There is no recording {job}.")


def test_a_job_may_report_only_results_of_its_kind(api: Api, run: int) -> None:
    ask(api, run)
    api.evaluate(run)
    recording, evaluated = (api.claim_job() for _ in range(2))
    wrong = (recording, evaluation(2, [1.0])), (evaluated, video(2, 100, 100))
    for claimed, brought in wrong:
        held = claimed["job_id"], claimed["attempt"]
        assert api.send_of_job(*held, started(1)).is_success
        answer = api.send_of_job(*held, brought)
        assert (answer.status_code, "is expected here" in answer.text) == (422, True)
