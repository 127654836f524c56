"""Checkpoints, replays and evaluations as the run page lists them."""

from tests.factories import Api, event, video


def test_replays_stand_at_the_step_of_the_checkpoint_that_played(api: Api) -> None:
    run_id, attempt = api.running()
    api.save(run_id, attempt, 2, 100)
    mp4 = api.upload(run_id, attempt, "replays/100.mp4", b"mp4", "video")
    png = api.upload(run_id, attempt, "replays/100.png", b"png", "poster")
    api.send(run_id, attempt, video(3, 170, 100))
    (row,) = api.user.get(f"/api/v1/runs/{run_id}/videos").json()
    assert (row["step"], row["frames"], row["file_id"], row["poster_file_id"]) == (100, 400, mp4, png)
    assert (row["episode_return"], row["length"], row["seconds"]) == (10.0, 100, 1.7)


def test_evaluations_keep_every_return(api: Api) -> None:
    run_id, attempt = api.running()
    api.send(run_id, attempt, event(2, "evaluation", 50, returns=[1.0, "NaN", "Infinity"]))
    api.send(run_id, attempt, event(3, "evaluation", 60, returns=[1.0, 2.0]))
    rows = api.user.get(f"/api/v1/runs/{run_id}/evaluations").json()
    assert [row["returns"] for row in rows] == [[1.0, "NaN", "Infinity"], [1.0, 2.0]]
    assert rows[1]["return_mean"] == 1.5


def test_checkpoints_come_by_step_with_what_they_were_worth(api: Api) -> None:
    run_id, attempt = api.running()
    api.save(run_id, attempt, 2, 100, return_mean=3.5, best=True)
    api.save(run_id, attempt, 3, 200, return_mean=2.5)
    rows = api.user.get(f"/api/v1/runs/{run_id}/checkpoints").json()
    assert [(row["step"], row["frames"], row["return_mean"], row["available"]) for row in rows] == [
        (100, 400, 3.5, True),
        (200, 800, 2.5, True),
    ]


def test_a_run_that_is_not_there_has_none(api: Api) -> None:
    for listing in ("checkpoints", "videos", "evaluations"):
        assert api.user.get(f"/api/v1/runs/999/{listing}").status_code == 404
