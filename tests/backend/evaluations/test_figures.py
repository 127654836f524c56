"""Figures of evaluations over the API."""

from typing import Any

from arcadia_backend.colors import color_of
from tests.factories import Api, evaluated_episode, metrics, started

EVALUATIONS = "/api/v1/figures/evaluations"
SCORES = "/api/v1/figures/evaluation-scores"
PONG = {"algorithm": "paac", "env": "ALE/Pong-v5", "total_steps": 1_000, "num_envs": 4}


def evaluated(api: Api, *protocols: str) -> int:
    """Return a run of Pong with one evaluation per protocol. Its checkpoints are at steps 100, 200 and so on."""
    run_id, attempt = api.running(config=PONG)
    api.send(run_id, attempt, metrics(2, 10, returns=[1.0]), metrics(3, 400, returns=[9.0])).raise_for_status()
    for number, protocol in enumerate(protocols, start=1):
        saved = api.save(run_id, attempt, 3 + number, 100 * number)
        api.evaluate(run_id, checkpoint=saved, protocol=protocol)
        found = {"interval": [10.0 * number - 1, 10.0 * number + 3], "env": "ALE/Pong-v5", "protocol": protocol}
        api.play([10.0 * number, 10.0 * number], checkpoint_step=100 * number, **found)
    return run_id


def drawn(api: Api, **asked: Any) -> dict[str, dict[str, Any]]:
    """Return the traces of the figure by their names."""
    answer = api.user.get(EVALUATIONS, params=asked)
    assert answer.status_code == 200, answer.text
    return {trace["name"]: trace for trace in answer.json()["data"]}


def test_means_and_intervals_are_drawn_over_the_training_return(api: Api) -> None:
    run_id = evaluated(api, "no-op-5min", "no-op-5min", "no-op-30min")
    shown = drawn(api, runs=run_id)
    assert list(shown) == ["Training return", "no-op-5min", "no-op-30min"]
    assert (shown["Training return"]["x"], shown["Training return"]["y"]) == ([10, 400], [1, 9])
    short, long = shown["no-op-5min"], shown["no-op-30min"]
    assert (short["x"], short["y"], long["x"], long["y"]) == ([100, 200], [10, 20], [300], [30])
    assert (short["error_y"]["arrayminus"], short["error_y"]["array"]) == ([1, 1], [3, 3])
    assert short["text"][0] == "10 (9 to 13), 2 episodes, sampled"
    colors = {trace["marker"]["color"] for trace in (short, long)} | {color_of(run_id)}
    assert len(colors) == 3
    assert short["marker"]["symbol"] != long["marker"]["symbol"]


def test_evaluations_have_every_axis_but_time_and_respect_a_zoom(api: Api) -> None:
    run_id = evaluated(api, "no-op-5min", "no-op-5min")
    assert drawn(api, runs=run_id, x="frames")["no-op-5min"]["x"] == [400, 800]
    assert drawn(api, runs=run_id, x="epoch")["no-op-5min"]["x"] == [0.0001, 0.0002]
    assert drawn(api, runs=run_id, **{"from": 150})["no-op-5min"]["x"] == [200]
    refused = api.user.get(EVALUATIONS, params={"runs": run_id, "x": "time"})
    assert (refused.status_code, "step, frames or epoch" in refused.text) == (422, True)
    two = api.user.get(EVALUATIONS, params={"runs": f"{run_id},{api.launch()['id']}"})
    assert (two.status_code, "one run" in two.text) == (422, True)


def test_new_evaluations_return_the_whole_figure_and_new_points_an_update(api: Api) -> None:
    run_id = evaluated(api, "no-op-5min")
    first = api.user.get(EVALUATIONS, params={"runs": run_id}).json()
    attempt = api.run(run_id)["attempt"]
    points = [metrics(seq, 400 + seq, returns=[9.0]) for seq in range(5, 10)]
    api.send(run_id, attempt, *points).raise_for_status()
    later = api.user.get(EVALUATIONS, params={"runs": run_id, "after": first["cursor"]}).json()
    assert not later["complete"]
    api.evaluate(run_id, protocol="no-op-5min")
    api.play([50.0], interval=None, protocol="no-op-5min", env="ALE/Pong-v5")
    last = api.user.get(EVALUATIONS, params={"runs": run_id, "after": later["cursor"]}).json()
    (means,) = [trace for trace in last["data"] if trace.get("name") == "no-op-5min"]
    assert last["complete"]
    assert (means["y"], means["error_y"]["array"]) == ([10, 50], [3, 0])


def test_unfinished_evaluations_and_nan_are_not_drawn(api: Api) -> None:
    run_id = evaluated(api, "no-op-5min")
    api.evaluate(run_id, protocol="no-op-30min")
    api.play([1.0, "NaN"], protocol="no-op-30min", env="ALE/Pong-v5", median="NaN")
    api.evaluate(run_id, protocol="no-op-30min")
    assert list(drawn(api, runs=run_id)) == ["Training return", "no-op-5min"]


def test_superseded_evaluations_are_not_drawn(api: Api) -> None:
    run_id = evaluated(api, "no-op-5min", "no-op-5min")
    api.lose(run_id, api.run(run_id)["attempt"], resumed_from=100)
    assert drawn(api, runs=run_id)["no-op-5min"]["x"] == [100]


def test_a_run_without_training_has_an_empty_figure(api: Api) -> None:
    assert drawn(api, runs=api.launch()["id"]) == {}


def test_scores_of_a_running_evaluation_are_drawn_without_a_mean(api: Api) -> None:
    run_id = evaluated(api, "no-op-5min")
    asked = api.evaluate(run_id)["id"]
    claimed = api.claim_job()
    held = claimed["job_id"], claimed["attempt"]
    api.send_of_job(*held, started(1), evaluated_episode(2, 1, 30, score=7.0), evaluated_episode(3, 2, 30, score="NaN"))
    figure = api.user.get(SCORES, params={"evaluation": asked}).json()
    assert [(trace["x"], trace["y"]) for trace in figure["data"]] == [([7.0], [1])]
    assert "shapes" not in figure["layout"]


def test_scores_of_a_finished_evaluation_are_drawn(api: Api) -> None:
    run_id = evaluated(api, "no-op-5min")
    (done,) = api.evaluations(run_id)
    figure = api.user.get(SCORES, params={"evaluation": done["id"]}).json()
    assert [sum(trace["y"]) for trace in figure["data"]] == [2]
    assert figure["data"][0]["marker"]["color"] == drawn(api, runs=run_id)["no-op-5min"]["marker"]["color"]
    waiting = api.evaluate(run_id)["id"]
    assert api.user.get(SCORES, params={"evaluation": waiting}).json()["data"] == []
    assert api.user.get(SCORES, params={"evaluation": 999}).status_code == 404
