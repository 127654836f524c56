"""Calibrations: how they are requested, judged by a job, listed, exported, scheduled and drawn."""

import json
from typing import Any

import pytest

from arcadia_workers.contract.futures import CalibrationBin, CalibrationDocument, JudgedMoment, LossBounds, Regret
from arcadia_workers.contract.protocols.document import SAMPLED
from tests.factories import CARTPOLE, Api, changed, event, limit_jobs, started

SCHEDULED = {**CARTPOLE, "total_steps": 100_000, "calibrate_every_steps": 1_000}


def moment(decision: int, value: float, mean: float) -> JudgedMoment:
    """Return a judged decision."""
    return JudgedMoment(
        episode=0,
        decision=decision,
        value=value,
        mean=mean,
        interval=(mean - 0.1, mean + 0.1),
        standard_error=0.05,
        regret=LossBounds(at_least=0.25, at_most=0.5),
    )


def made_document(step: int = 100, bias: float = 0.5) -> dict[str, Any]:
    """Return the result of a calibration with two decisions. JSON has no NaN."""
    judged = [moment(0, 1 + bias, 1.0), moment(50, 2 + bias, 2.0)]
    made = CalibrationDocument(
        env="CartPole-v1",
        algorithm="paac",
        checkpoint_step=step,
        protocol="episodes",
        acting=SAMPLED,
        seed=1,
        episodes=5,
        every=50,
        futures=16,
        horizon=200,
        gamma=0.99,
        clip_rewards=False,
        bias=bias,
        bias_interval=(bias - 0.25, bias + 0.25),
        rmse=float("nan"),
        correlation=0.75,
        bins=[CalibrationBin(count=1, value=each.value, mean=each.mean, interval=None) for each in judged],
        regret=Regret(at_least=0.25, at_most=0.5, interval=None),
        worst=judged,
        moments=judged,
        seconds=2.5,
    )
    document: dict[str, Any] = json.loads(made.model_dump_json())
    return document


def request(api: Api, run_id: int, status: int = 201, **wanted: Any) -> dict[str, Any]:
    """Request a calibration."""
    answer = api.user.post(f"/api/v1/runs/{run_id}/calibrations", json=wanted)
    assert answer.status_code == status, answer.text
    found: dict[str, Any] = answer.json()
    return found


def judge(api: Api, step: int = 100, bias: float = 0.5) -> dict[str, Any]:
    """Do the oldest queued calibration as a worker does. Return the claim."""
    claimed = api.claim_job()
    held = claimed["job_id"], claimed["attempt"]
    progress, result = (
        event(2, "advanced", done=2, total=2),
        event(3, "calibration", document=made_document(step, bias)),
    )
    assert api.send_of_job(*held, started(1), progress, result, event(4, "finished")).is_success
    assert api.release_job(*held, "finished").json() == {"state": "done"}
    return claimed


def read(api: Api, calibration_id: int) -> dict[str, Any]:
    found: dict[str, Any] = api.user.get(f"/api/v1/calibrations/{calibration_id}").json()
    return found


def listed(api: Api, run_id: int) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = api.user.get(f"/api/v1/runs/{run_id}/calibrations").json()
    return found


def saved(api: Api, *steps: int, config: dict[str, Any] | None = None) -> tuple[int, int]:
    """Return a run with checkpoints, and its attempt."""
    run_id, attempt = api.running(**({"config": config} if config else {}))
    for seq, step in enumerate(steps or (100,), start=2):
        api.save(run_id, attempt, seq, step)
    return run_id, attempt


def test_a_worker_judges_the_critic_of_a_checkpoint(api: Api) -> None:
    run_id, _ = saved(api)
    requested = request(api, run_id, futures=32)
    assert (requested["state"], requested["origin"], requested["step"]) == ("queued", "asked", 100)
    assert (requested["every"], requested["moments_total"], requested["errors"]) == (None, 0, None)
    claimed = judge(api)
    assert (claimed["kind"], claimed["checkpoint"]["step"]) == ("calibration", 100)
    assert claimed["parameters"] == {
        "protocol": "episodes",
        "seed": 1,
        "episodes": 10,
        "every": None,
        "futures": 32,
        "horizon": 200,
        "measure_regret": True,
    }
    done = read(api, requested["id"])
    assert (done["state"], done["moments_done"], done["moments_total"]) == ("done", 2, 2)
    assert done["document"] == made_document()
    assert (done["errors"]["bias"], done["errors"]["rmse"]) == (0.5, "NaN")
    (in_list,) = listed(api, run_id)
    assert in_list == {key: value for key, value in done.items() if key != "document"}


def test_a_lost_attempt_is_repeated_and_stored_once(api: Api) -> None:
    run_id, _ = saved(api)
    requested = request(api, run_id)
    claimed = api.claim_job()
    held = claimed["job_id"], claimed["attempt"]
    result = event(3, "calibration", document=made_document())
    assert api.send_of_job(*held, started(1), event(2, "advanced", done=2, total=2), result).is_success
    assert api.release_job(*held, "lost").json() == {"state": "queued"}
    assert read(api, requested["id"])["document"] is None
    judge(api, bias=0.25)
    assert [each["errors"]["bias"] for each in listed(api, run_id)] == [0.25]


def test_a_process_without_a_result_has_failed(api: Api) -> None:
    run_id, _ = saved(api)
    requested = request(api, run_id)
    claimed = api.claim_job()
    held = claimed["job_id"], claimed["attempt"]
    assert api.send_of_job(*held, started(1), event(2, "finished")).is_success
    assert api.release_job(*held, "finished").json() == {"state": "failed"}
    assert read(api, requested["id"])["reason"]


def test_a_calibration_can_be_cancelled_and_deleted(api: Api) -> None:
    run_id, _ = saved(api)
    requested = request(api, run_id)
    assert api.user.post(f"/api/v1/calibrations/{requested['id']}/cancel").json()["state"] == "cancelled"
    assert api.worker.post("/api/v1/worker/jobs/claim", json={"name": "w1"}).status_code == 204
    assert api.user.delete(f"/api/v1/calibrations/{requested['id']}").status_code == 204
    assert api.user.get(f"/api/v1/calibrations/{requested['id']}").status_code == 404


def test_deleting_a_run_deletes_its_calibrations(api: Api) -> None:
    run_id, attempt = saved(api)
    requested = request(api, run_id)
    assert api.release(run_id, attempt, "finished").is_success
    assert api.user.delete(f"/api/v1/runs/{run_id}").status_code == 204
    assert api.user.get(f"/api/v1/calibrations/{requested['id']}").status_code == 404
    assert api.worker.post("/api/v1/worker/jobs/claim", json={"name": "w1"}).status_code == 204


def test_other_jobs_are_claimed_first(api: Api) -> None:
    run_id, _ = saved(api)
    request(api, run_id)
    api.evaluate(run_id)
    assert [api.claim_job()["kind"] for _ in range(2)] == ["evaluation", "calibration"]


def test_invalid_requests_are_refused_with_the_reason(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    run_id, _ = saved(api)
    assert "no run 999" in request(api, 999, 404)["detail"]
    for wanted, message in (
        ({"protocol": "no-op-5min"}, "use episodes"),
        ({"checkpoint": 999}, "no such checkpoint"),
        ({"futures": 7}, "greater than or equal to 8"),
        ({"episodes": 101}, "less than or equal to 100"),
        ({"every": 0}, "greater than or equal to 1"),
    ):
        errors = request(api, run_id, 422, **wanted)["errors"]
        assert message in errors[0]["message"], errors
    without, _ = api.running()
    assert "checkpoint" in request(api, without, 409)["detail"]
    limit_jobs(monkeypatch, "calibration", 0)
    assert "unfinished calibrations" in request(api, run_id, 409)["detail"]


def test_calibrations_are_exported_as_csv(api: Api) -> None:
    run_id, _ = saved(api, 100, 200)
    late, early = (request(api, run_id, checkpoint=each["id"]) for each in checkpoints(api, run_id))
    refused = api.user.get(f"/api/v1/export/calibrations/{late['id']}.csv")
    assert (refused.status_code, "not done" in refused.text) == (409, True)
    judge(api, 200)
    judge(api, 100, bias=-0.5)
    lines = api.user.get(f"/api/v1/export/calibrations/{late['id']}.csv").text.splitlines()
    assert lines[0] == (
        "episode,decision,value,mean_return,interval_low,interval_high,standard_error,"
        "regret_at_least,regret_at_most,bootstrap_weight"
    )
    assert lines[1] == "0,0,1.5,1.0,0.9,1.1,0.05,0.25,0.5,0.0"
    rows = [
        line.split(",") for line in api.user.get(f"/api/v1/export/runs/{run_id}/calibrations.csv").text.splitlines()
    ]
    found = [dict(zip(rows[0], row, strict=True)) for row in rows[1:]]
    assert [(each["calibration"], each["step"], each["bias"]) for each in found] == [
        (str(early["id"]), "100", "-0.5"),
        (str(late["id"]), "200", "0.5"),
    ]
    assert (found[0]["bias_low"], found[0]["correlation"], found[0]["regret_at_most"]) == ("-0.75", "0.75", "0.5")


def checkpoints(api: Api, run_id: int) -> list[dict[str, Any]]:
    """Return the checkpoints of a run, newest first."""
    found = api.user.get(f"/api/v1/runs/{run_id}/checkpoints").json()
    return sorted(found, key=lambda each: -int(each["step"]))


def test_the_first_checkpoint_at_or_after_each_multiple_is_calibrated(api: Api) -> None:
    run_id, _ = saved(api, 500, 1_000, 1_400, 2_100, config=SCHEDULED)
    assert [(each["step"], each["origin"]) for each in listed(api, run_id)] == [
        (2_100, "schedule"),
        (1_000, "schedule"),
    ]
    assert not any(each["measure_regret"] for each in listed(api, run_id)), "regret takes too long during training"
    assert api.evaluations(run_id) == []


def test_a_schedule_far_ahead_of_the_workers_waits_until_one_is_done(api: Api) -> None:
    run_id, attempt = saved(api, *range(1_000, 13_000, 1_000), config=SCHEDULED)
    api.release(run_id, attempt, "finished")
    assert [each["step"] for each in listed(api, run_id)] == [*range(10_000, 0, -1_000)]
    judge(api)
    assert listed(api, run_id)[0]["step"] == 12_000, "the last one is not skipped"


def test_the_schedule_of_a_live_run_can_be_changed(api: Api) -> None:
    run_id, attempt = saved(api, config=CARTPOLE | {"total_steps": 100_000})
    api.change(run_id, {"calibrate_every_steps": 500})
    applied = changed(3, 200, 1, {"calibrate_every_steps": 500}, {"calibrate_every_steps": 0})
    assert api.send(run_id, attempt, applied).is_success
    api.save(run_id, attempt, 4, 600)
    assert [each["step"] for each in listed(api, run_id)] == [600]


def test_errors_are_drawn_over_training_for_several_runs(api: Api) -> None:
    first, _ = saved(api, 100, 200)
    second, _ = saved(api, 100)
    for run_id, step in ((first, 200), (second, 100)):
        request(api, run_id)
        judge(api, step, bias=0.25)
    query = {"runs": f"{first},{second}", "measure": "bias"}
    figure = api.user.get("/api/v1/figures/calibrations", params=query).json()
    assert [(trace["x"], trace["y"]) for trace in figure["data"]] == [([200], [0.25]), ([100], [0.25])]
    assert (figure["data"][0]["error_y"]["array"], figure["layout"]["showlegend"]) == ([0.25], True)
    assert "range" not in figure["layout"]["yaxis"], "the axis is not clipped to the values, so the intervals fit"
    unknown = api.user.get("/api/v1/figures/calibrations", params=query | {"measure": "rmse"}).json()
    assert unknown["data"] == [], "NaN cannot be drawn"
    timed = api.user.get("/api/v1/figures/calibrations", params=query | {"x": "time"})
    assert (timed.status_code, "step, frames or epoch" in timed.text) == (422, True)


def test_values_are_drawn_against_the_returns_of_futures(api: Api) -> None:
    run_id, _ = saved(api)
    requested = request(api, run_id)
    path = "/api/v1/figures/calibration"
    assert api.user.get(path, params={"calibration": requested["id"]}).json()["data"] == []
    judge(api)
    figure = api.user.get(path, params={"calibration": requested["id"]}).json()
    diagonal, moments, bins = figure["data"]
    assert diagonal["x"] == diagonal["y"] == figure["layout"]["xaxis"]["range"]
    assert figure["layout"]["yaxis"]["range"][0] < 1, "the lower end of the axis has room for the returns"
    assert (moments["x"], moments["y"]) == (bins["x"], bins["y"]) == ([1.5, 2.5], [1, 2])
    assert api.user.get(path, params={"calibration": 999}).status_code == 404
