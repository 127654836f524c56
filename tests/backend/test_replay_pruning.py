"""The pruning of a run's replays when they exceed the size in its settings."""

from typing import Any

import pytest

from arcadia_backend.config import Settings
from arcadia_backend.files.storage import stored_files
from tests.backend.test_recordings import ask, film
from tests.factories import CARTPOLE, Api, video

# A replay of these tests takes a little over 300,000 bytes, so three of them fit.
CONFIG = {**CARTPOLE, "total_steps": 100_000, "replays_megabytes": 1}


def replay(api: Api, run_id: int, attempt: int, step: int, **reported: Any) -> None:
    """Save a checkpoint and report its replay."""
    seq = step // 50
    api.save(run_id, attempt, seq, step, return_mean=reported.get("episode_return"))
    for path, kind in ((f"replays/{step}.mp4", "video"), (f"replays/{step}.png", "poster")):
        api.upload(run_id, attempt, path, path.encode().ljust(150_100), kind)
    assert api.send(run_id, attempt, video(seq + 1, step, step, **reported)).is_success


def steps(api: Api, run_id: int) -> list[int]:
    """Return the steps of the replays that are kept."""
    return [row["step"] for row in api.user.get(f"/api/v1/runs/{run_id}/replays").json()]


def pin(api: Api, run_id: int, step: int, pinned: bool = True) -> None:
    """Pin the replay of a step."""
    (found,) = [row for row in api.user.get(f"/api/v1/runs/{run_id}/replays").json() if row["step"] == step]
    answer = api.user.patch(f"/api/v1/replays/{found['id']}", json={"pinned": pinned})
    assert (answer.status_code, answer.json()["pinned"]) == (200, pinned)


@pytest.fixture
def run(api: Api) -> tuple[int, int]:
    """Return a run that keeps three replays, and its attempt."""
    return api.running(config=CONFIG)


def test_the_oldest_replays_are_deleted_and_logged(api: Api, run: tuple[int, int], settings: Settings) -> None:
    for step in (100, 200, 300, 400, 500):
        replay(api, *run, step, episode_return=step)
    assert steps(api, run[0]) == [300, 400, 500]
    assert len(stored_files(settings.files_dir)) == 5 + 3 * 2, "all checkpoints are kept"
    reported = [line["message"] for line in api.user.get(f"/api/v1/runs/{run[0]}/log").json()["items"]]
    assert [line for line in reported if "step 100 was deleted: the run's replays exceeded 1 MB" in line]


def test_the_best_and_pinned_replays_are_kept(api: Api, run: tuple[int, int]) -> None:
    for step, score in ((100, 1.0), (200, 9.0), (300, 2.0)):
        replay(api, *run, step, episode_return=score)
    pin(api, run[0], 100)
    for step in (400, 500):
        replay(api, *run, step, episode_return=3.0)
    assert steps(api, run[0]) == [100, 200, 500]
    pin(api, run[0], 100, pinned=False)
    replay(api, *run, 600, episode_return=3.0)
    assert steps(api, run[0]) == [200, 500, 600]


def test_a_new_recording_of_an_early_checkpoint_is_not_removed_at_once(api: Api, run: tuple[int, int]) -> None:
    for step in (100, 200, 300):
        replay(api, *run, step, episode_return=step)
    (first, *_) = api.user.get(f"/api/v1/runs/{run[0]}/checkpoints").json()
    ask(api, run[0], checkpoint=first["id"])
    film(api, size=100_000)
    assert steps(api, run[0]) == [100, 300]
    (recorded,) = api.user.get(f"/api/v1/runs/{run[0]}/recordings").json()
    left = {row["id"]: row["step"] for row in api.user.get(f"/api/v1/runs/{run[0]}/replays").json()}
    assert left[recorded["replay_id"]] == 100


def test_pruning_a_recording_deletes_its_job(api: Api, run: tuple[int, int]) -> None:
    replay(api, *run, 100)
    ask(api, run[0])
    film(api)
    for step in (200, 300, 400, 500):
        replay(api, *run, step, episode_return=99.0)
    assert steps(api, run[0]) == [300, 400, 500]
    assert api.user.get(f"/api/v1/runs/{run[0]}/recordings").json() == []


def test_a_pinned_replay_outlives_its_checkpoint(api: Api) -> None:
    run_id, attempt = api.running(config={**CARTPOLE, "total_steps": 100_000, "checkpoints_kept": 3})
    for step in (100, 200):
        replay(api, run_id, attempt, step, episode_return=1.0)
    pin(api, run_id, 200)
    for step in (300, 400, 500):
        replay(api, run_id, attempt, step, episode_return=step)
    kept = [row["step"] for row in api.user.get(f"/api/v1/runs/{run_id}/checkpoints").json() if row["available"]]
    assert 200 not in kept
    assert steps(api, run_id) == sorted([*kept, 200])


def test_a_missing_replay_cannot_be_pinned(api: Api) -> None:
    answer = api.user.patch("/api/v1/replays/999", json={"pinned": True})
    assert (answer.status_code, answer.json()["detail"]) == (404, "There is no replay 999.")
