"""The checkpoints that a run keeps on the server, and their replays."""

from typing import Any

import pytest

from arcadia_backend.config import Settings
from arcadia_backend.database.engine import Database
from arcadia_backend.database.tables import Run
from arcadia_backend.files.storage import stored_files
from tests.factories import CARTPOLE, Api, started, video

KEEP_FOUR = {**CARTPOLE, "checkpoints_kept": 4}


def rows(api: Api, run_id: int) -> list[dict[str, Any]]:
    """Return a run's checkpoints."""
    found: list[dict[str, Any]] = api.user.get(f"/api/v1/runs/{run_id}/checkpoints").json()
    return found


def kept(api: Api, run_id: int) -> dict[int, str]:
    """Return the steps of the kept checkpoints, and why each is kept."""
    return {row["step"]: row["kept_as"] for row in rows(api, run_id) if row["available"]}


def record(api: Api, run_id: int, attempt: int, seq: int, step: int, content: str = "film") -> None:
    """Report a replay of a step's checkpoint."""
    api.upload(run_id, attempt, f"replays/{step}.mp4", f"{content} {step}".encode(), "video")
    api.upload(run_id, attempt, f"replays/{step}.png", f"{content}'s end {step}".encode(), "poster")
    api.upload(run_id, attempt, f"replays/{step}.seen.mp4", f"{content} seen {step}".encode(), "video")
    api.upload(run_id, attempt, f"replays/{step}.npz", f"{content}'s thoughts {step}".encode(), "track")
    beside = {"seen": f"replays/{step}.seen.mp4", "track": f"replays/{step}.npz"}
    assert api.send(run_id, attempt, video(seq, step, played=step, **beside)).json() == {"acknowledged": seq}


def pin(api: Api, run_id: int, checkpoint_id: int, pinned: bool = True) -> Any:
    """Pin or unpin a checkpoint."""
    return api.user.patch(f"/api/v1/runs/{run_id}/checkpoints/{checkpoint_id}", json={"pinned": pinned})


def test_the_first_best_last_and_a_spread_of_others_are_kept(api: Api, settings: Settings) -> None:
    run_id, attempt = api.running(config=KEEP_FOUR)
    for number in range(1, 12):
        # The trainer's disk holds only its newest checkpoint, as on another host.
        api.save(run_id, attempt, 1 + number, 100 * number, return_mean=50.0 if number == 3 else number)
    assert kept(api, run_id) == {100: "first", 300: "best", 500: "spread", 1100: "last"}
    assert [row["kept_as"] for row in rows(api, run_id) if not row["available"]] == [None] * 7
    assert len(stored_files(settings.files_dir)) == 4


@pytest.mark.nightly
def test_a_run_without_the_setting_keeps_the_default_number(api: Api, database: Database) -> None:
    run_id, attempt = api.running(config=KEEP_FOUR)
    with database.write() as session:
        session.get_one(Run, run_id).config = CARTPOLE
    for number in range(1, 23):
        api.save(run_id, attempt, 1 + number, 100 * number)
    assert len(kept(api, run_id)) == 20


def test_a_pinned_checkpoint_is_kept_in_addition_and_can_be_forked(api: Api) -> None:
    run_id, attempt = api.running(config=KEEP_FOUR)
    api.save(run_id, attempt, 2, 100)
    pinned = api.save(run_id, attempt, 3, 110)
    answer = pin(api, run_id, pinned).json()
    assert (answer["step"], answer["pinned"], answer["kept_as"]) == (110, True, "pinned")
    for number in range(2, 12):
        api.save(run_id, attempt, 2 + number, 100 * number)
    found = kept(api, run_id)
    assert (len(found), found[110]) == (5, "pinned")
    fork = api.act(run_id, "fork", checkpoint_id=pinned)
    assert (fork["step"], fork["parent"]["checkpoint_id"]) == (110, pinned)


def test_an_unpinned_checkpoint_is_pruned_at_the_next_save(api: Api) -> None:
    run_id, attempt = api.running(config=KEEP_FOUR)
    api.save(run_id, attempt, 2, 100)
    pinned = api.save(run_id, attempt, 3, 110)
    pin(api, run_id, pinned)
    for number in range(2, 12):
        api.save(run_id, attempt, 2 + number, 100 * number)
    assert pin(api, run_id, pinned, False).json()["available"], "it can be pinned again until the next save"
    api.save(run_id, attempt, 14, 1200)
    assert 110 not in kept(api, run_id)
    refused = pin(api, run_id, pinned)
    assert refused.status_code == 409
    assert refused.json()["detail"] == "The checkpoint at step 110 was deleted, so it cannot be pinned."


def test_a_pinned_checkpoint_is_kept_when_it_is_superseded(api: Api) -> None:
    run_id, first = api.running()
    api.save(run_id, first, 2, 100)
    pin(api, run_id, api.save(run_id, first, 3, 200))
    api.release(run_id, first, "lost")
    second = api.claim()["attempt"]
    api.send(run_id, second, started(resumed_from=100))
    api.save(run_id, second, 2, 150)
    assert kept(api, run_id) == {100: "first", 150: "spread", 200: "pinned"}


@pytest.mark.parametrize("body", [{}, {"pinned": None}, {"pinned": True, "step": 5}])
def test_only_pinned_can_be_changed(api: Api, body: dict[str, Any]) -> None:
    run_id, attempt = api.running()
    saved = api.save(run_id, attempt, 2, 100)
    path = f"/api/v1/runs/{run_id}/checkpoints"
    assert api.user.patch(f"{path}/{saved}", json=body).status_code == 422
    assert [each["pinned"] for each in api.user.get(path).json()] == [False]


def test_only_checkpoints_of_the_run_can_be_pinned(api: Api) -> None:
    run_id, attempt = api.running()
    saved = api.save(run_id, attempt, 2, 100)
    other = api.launch()["id"]
    assert pin(api, other, saved).status_code == 404
    assert pin(api, run_id, saved + 1).json()["detail"] == f"Run {run_id} has no checkpoint {saved + 1}."


def test_a_replay_is_deleted_with_its_checkpoint(api: Api, settings: Settings) -> None:
    run_id, attempt = api.running(config=KEEP_FOUR)
    for number in range(1, 7):
        api.save(run_id, attempt, 2 * number, 100 * number)
        record(api, run_id, attempt, 2 * number + 1, 100 * number)
    videos = api.user.get(f"/api/v1/runs/{run_id}/replays").json()
    assert [row["step"] for row in videos] == list(kept(api, run_id))
    assert api.run(run_id)["poster_file_id"] == videos[-1]["poster_file_id"]
    assert len(stored_files(settings.files_dir)) == 5 * 4


def test_a_replay_of_a_deleted_checkpoint_is_not_kept(api: Api, settings: Settings) -> None:
    run_id, attempt = api.running(config=KEEP_FOUR)
    for number in range(1, 6):
        api.save(run_id, attempt, 1 + number, 100 * number)
    assert 200 not in kept(api, run_id)
    record(api, run_id, attempt, 7, 200)
    assert api.user.get(f"/api/v1/runs/{run_id}/replays").json() == []
    assert len(stored_files(settings.files_dir)) == 4


def test_a_checkpoint_that_is_recorded_again_has_one_replay(api: Api, settings: Settings) -> None:
    run_id, first = api.running()
    api.save(run_id, first, 2, 100)
    record(api, run_id, first, 3, 100)
    api.release(run_id, first, "lost")
    second = api.claim()["attempt"]
    api.send(run_id, second, started(resumed_from=100))
    record(api, run_id, second, 2, 100, "another film")
    (row,) = api.user.get(f"/api/v1/runs/{run_id}/replays").json()
    assert row["attempt"] == second
    assert len(stored_files(settings.files_dir)) == 5


def test_the_thumbnail_is_from_the_replay_with_the_most_steps(api: Api) -> None:
    run_id, attempt = api.running()
    api.save(run_id, attempt, 2, 100)
    api.save(run_id, attempt, 3, 200)
    record(api, run_id, attempt, 4, 200)
    record(api, run_id, attempt, 5, 100)
    first, last = api.user.get(f"/api/v1/runs/{run_id}/replays").json()
    assert (first["step"], last["step"]) == (100, 200)
    assert api.run(run_id)["poster_file_id"] == last["poster_file_id"]
