"""Times and states of runs."""

from tests.factories import Api, event, metrics, started


def test_training_time_excludes_pauses(api: Api) -> None:
    run_id, attempt = api.running()
    api.send(run_id, attempt, metrics(2, 10, {"a": 1}), metrics(32, 20, {"a": 2}) | {"seq": 3})
    assert api.run(run_id)["trained_seconds"] == 30
    api.act(run_id, "pause")
    api.release(run_id, attempt, "drained")
    api.act(run_id, "resume")
    attempt = api.claim()["attempt"]
    a_day_later = [metrics(86_400 + second, 30, {"a": 3}) | {"seq": seq} for seq, second in ((2, 0), (3, 7))]
    api.send(run_id, attempt, started(1, resumed_from=20), *a_day_later)
    assert api.run(run_id)["trained_seconds"] == 37
    (listed,) = api.user.get("/api/v1/runs?include=trained_seconds").json()["items"]
    assert listed["trained_seconds"] == 37
    assert api.launch()["trained_seconds"] == 0


def test_run_at_its_last_step_is_finishing(api: Api) -> None:
    run_id, attempt = api.running()
    api.send(run_id, attempt, event(2, "start_step", 1, name=None)).raise_for_status()
    for seq, step, left, reason in ((3, 999, 1.0, None), (4, 1_000, 0.6, "Finishing: the trainer saves")):
        reported = event(seq, "progress", step, total_steps=1_000, steps_per_second=10.0, seconds_left=left)
        api.send(run_id, attempt, reported).raise_for_status()
        run = api.run(run_id)
        assert run["seconds_left"] == (None if reason else left)
        assert (run["state_reason"] or "").startswith(reason or "")


def test_a_run_that_records_its_last_replays_counts_them_down(api: Api) -> None:
    run_id, attempt = api.running()
    api.send(run_id, attempt, event(2, "progress", 1_000, total_steps=1_000, steps_per_second=10.0))
    for seq, left in ((3, 2), (4, 1)):
        api.send(run_id, attempt, event(seq, "recording_replays", 1_000, left=left, total=2)).raise_for_status()
        assert api.run(run_id)["state_reason"] == f"Recording replays, {left} of 2 left."
    api.send(run_id, attempt, event(5, "recording_replays", 1_000, left=0, total=2)).raise_for_status()
    assert api.run(run_id)["state_reason"].startswith("Finishing")
    api.release(run_id, attempt, "finished")
    assert api.run(run_id)["state_reason"] is None
