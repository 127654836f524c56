"""Checkpoints and replays that a trainer reports."""

from typing import Any

from backend.config import Settings
from tests.factories import Api, checkpoint, checkpoint_path, started, video


def listed(api: Api, run_id: int) -> dict[tuple[int, int], dict[str, Any]]:
    """A run's checkpoints by attempt and step."""
    rows = api.user.get(f"/api/v1/runs/{run_id}/checkpoints").json()
    return {(row["attempt"], row["step"]): row for row in rows}


def test_checkpoints_that_the_trainer_dropped_are_thinned_out_but_the_best_stays(api: Api, settings: Settings) -> None:
    run_id, attempt = api.running()
    for number, (step, mean) in enumerate([(100, 5.0), (200, 90.0), (300, 20.0), (400, 30.0)]):
        # This trainer keeps only its last two.
        kept = [checkpoint_path(each) for each in (step - 100, step) if each]
        api.save(run_id, attempt, 2 + number, step, return_mean=mean, kept=kept)
    found = listed(api, run_id)
    assert {step: row["available"] for (_, step), row in found.items()} == {100: False, 200: True, 300: True, 400: True}
    assert [step for (_, step), row in found.items() if row["best"]] == [200]
    assert len([path for path in settings.files_dir.rglob("*") if path.is_file()]) == 3


def test_an_attempt_that_went_back_leaves_later_checkpoints_behind(api: Api) -> None:
    run_id, first = api.running()
    both = [checkpoint_path(100), checkpoint_path(200)]
    api.save(run_id, first, 2, 100, kept=both[:1], return_mean=1.0)
    api.save(run_id, first, 3, 200, kept=both, return_mean=99.0)
    api.release(run_id, first, "lost")
    second = api.claim()["attempt"]
    # The newest was damaged: the trainer fell back to the one before.
    api.send(run_id, second, started(resumed_from=100))
    api.save(run_id, second, 2, 150, kept=[checkpoint_path(100), checkpoint_path(150)], return_mean=2.0)
    found = listed(api, run_id)
    assert {key: row["available"] for key, row in found.items()} == {(1, 100): True, (1, 200): False, (2, 150): True}
    assert [key for key, row in found.items() if row["best"]] == [(2, 150)]
    api.release(run_id, second, "lost")
    assert [row["step"] for row in api.claim()["checkpoints"]] == [150, 100]


def test_an_event_without_its_file_is_refused_whole(api: Api) -> None:
    run_id, attempt = api.running()
    response = api.send(run_id, attempt, checkpoint(2, 100, b"never uploaded"))
    assert response.status_code == 422
    assert "was not uploaded" in response.json()["detail"]
    assert listed(api, run_id) == {}
    api.upload(run_id, attempt, checkpoint_path(100), b"never uploaded")
    assert api.send(run_id, attempt, checkpoint(2, 100, b"never uploaded")).json() == {"acknowledged": 2}


def test_a_replay_is_shown_at_the_step_that_played_it_and_becomes_the_poster(api: Api) -> None:
    run_id, attempt = api.running()
    api.save(run_id, attempt, 2, 100)
    api.upload(run_id, attempt, "replays/100.mp4", b"film", "video")
    poster = api.upload(run_id, attempt, "replays/100.png", b"still", "poster")
    assert api.send(run_id, attempt, video(3, step=180, played=100)).json() == {"acknowledged": 3}
    (replay,) = api.user.get(f"/api/v1/runs/{run_id}/videos").json()
    assert (replay["step"], replay["frames"], replay["poster_file_id"]) == (100, 400, poster)
    run = api.run(run_id)
    assert run["poster_file_id"] == poster
    assert run["step"] == 100, "a replay says nothing of how far training is"
