"""Replays as they are stored and listed."""

from tests.factories import Api, video


def test_a_replay_is_shown_at_the_step_that_played_it_and_becomes_the_poster(api: Api) -> None:
    run_id, attempt = api.running()
    api.save(run_id, attempt, 2, 100)
    mp4 = api.upload(run_id, attempt, "replays/100.mp4", b"film", "video")
    png = api.upload(run_id, attempt, "replays/100.png", b"still", "poster")
    assert api.send(run_id, attempt, video(3, step=180, played=100)).json() == {"acknowledged": 3}
    (row,) = api.user.get(f"/api/v1/runs/{run_id}/videos").json()
    assert (row["step"], row["frames"], row["file_id"], row["poster_file_id"]) == (100, 400, mp4, png)
    assert (row["episode_return"], row["length"], row["seconds"]) == (10.0, 100, 1.7)
    run = api.run(run_id)
    assert run["poster_file_id"] == png
    assert run["step"] == 100, "a replay says nothing of how far training is"


def test_a_replay_that_is_told_again_takes_the_place_of_the_first(api: Api) -> None:
    run_id, attempt = api.running()
    api.save(run_id, attempt, 2, 100)
    api.upload(run_id, attempt, "replays/100.mp4", b"film", "video")
    api.upload(run_id, attempt, "replays/100.png", b"still", "poster")
    assert api.send(run_id, attempt, video(3, step=180, played=100)).status_code == 200
    assert api.send(run_id, attempt, video(4, step=190, played=100, episode_return=11.0)).status_code == 200
    (row,) = api.user.get(f"/api/v1/runs/{run_id}/videos").json()
    assert row["episode_return"] == 11.0
    assert api.user.get(f"/api/v1/files/{row['file_id']}").content == b"film"


def test_a_run_that_is_not_there_has_none(api: Api) -> None:
    assert api.user.get("/api/v1/runs/999/videos").status_code == 404
