"""Tests of the diagrams of methods and the numbers in them."""

from typing import Any

import pytest

from arcadia_backend.papers.definition import MethodDiagram
from arcadia_backend.papers.service import every_paper
from arcadia_workers.contract.config import CONFIGURATIONS
from arcadia_workers.contract.metrics import METRICS
from arcadia_workers.contract.presets import PRESETS
from tests.factories import Api, event, metrics

GA3C = "/api/v1/papers/ga3c/figure-1/diagrams/ga3c"
GORILA = "/api/v1/papers/gorila/figure-2/diagrams/gorila"


DIAGRAMS: list[MethodDiagram] = [
    diagram for paper in every_paper() for item in paper.items for diagram in item.diagrams
]


def read(api: Api, path: str, **params: Any) -> dict[str, Any]:
    response = api.user.get(path, params=params)
    assert response.status_code == 200, response.text
    found: dict[str, Any] = response.json()
    return found


def finish(api: Api, run_id: int, attempt: int, seq: int) -> None:
    assert api.send(run_id, attempt, event(seq, "finished", 100)).is_success
    assert api.release(run_id, attempt, "finished").is_success


def values(diagram: dict[str, Any], box: str) -> dict[str, Any]:
    """Return the numbers of a box by label."""
    (found,) = [each for each in diagram["boxes"] if each["name"] == box]
    return {reading["label"]: reading["value"] for reading in found["readings"]}


def test_each_architecture_of_the_papers_has_a_diagram() -> None:
    drawn = {
        f"{paper.name}/{item.name}": [diagram.name for diagram in item.diagrams]
        for paper in every_paper()
        for item in paper.items
        if item.diagrams
    }
    assert drawn == {
        "gorila/figure-1": ["dqn"],
        "gorila/figure-2": ["gorila"],
        "ga3c/figure-1": ["a3c", "ga3c"],
        "paac/figure-1": ["paac"],
    }


@pytest.mark.parametrize("diagram", DIAGRAMS, ids=lambda diagram: diagram.name)
def test_boxes_name_metrics_and_fields_of_the_methods(diagram: MethodDiagram) -> None:
    assert PRESETS[diagram.preset].config.algorithm in diagram.methods
    boxes = {box.name for box in diagram.boxes}
    assert len(boxes) == len(diagram.boxes)
    places = [(box.column, row) for box in diagram.boxes for row in range(box.row, box.row + box.rows)]
    assert len(set(places)) == len(places), "boxes overlap"
    for arrow in diagram.arrows:
        assert {arrow.start, arrow.end} <= boxes
    for group in diagram.groups:
        assert set(group.boxes) <= boxes
    for reading in [reading for box in diagram.boxes for reading in box.readings]:
        assert reading.metric is None or reading.metric in METRICS
        for method in diagram.methods:
            assert set(reading.fields) <= set(CONFIGURATIONS[method].model_fields)


def test_a_diagram_without_a_run_has_no_numbers(api: Api) -> None:
    api.launch(config=None, preset="ga3c-cartpole", overrides={})
    found = read(api, GA3C)
    # The run waits and has not started.
    assert (found["run"], found["runs"], found["preset"]) == (None, [], "ga3c-cartpole")
    assert set(values(found, "agents").values()) == {None}


def test_a_diagram_has_the_numbers_of_the_newest_or_the_chosen_run(api: Api) -> None:
    for agents in (4, 8):
        run_id, attempt = api.running(config=None, preset="ga3c-cartpole", overrides={"num_agents": agents})
        for seq, queue in ((2, 1.0), (3, 3.0)):
            reported = {"ga3c/agents": agents + seq, "ga3c/training_queue": queue * agents}
            assert api.send(run_id, attempt, metrics(seq, seq, reported)).is_success
        finish(api, run_id, attempt, 4)
    newest = read(api, GA3C)
    assert (newest["run"]["id"], newest["run"]["state"]) == (run_id, "finished")
    # The latest count of agents, and the mean length of the queue.
    assert values(newest, "agents")["Agents, N_A"] == 11.0
    assert values(newest, "training-queue") == {"Waiting": 16.0}
    # Fields of the configuration where the run has not reported the metric.
    assert (
        values(newest, "predictors")["Predictors, N_P"]
        == PRESETS["ga3c-cartpole"].config.model_dump()["num_predictors"]
    )
    assert values(newest, "predictors")["Batch"] is None
    earlier = newest["runs"][1]["id"]
    chosen = read(api, GA3C, run=earlier)
    assert (chosen["run"]["id"], values(chosen, "training-queue")) == (earlier, {"Waiting": 8.0})


def test_a_run_of_another_method_is_rejected(api: Api) -> None:
    run_id, _ = api.running()
    response = api.user.get(GA3C, params={"run": run_id})
    assert response.status_code == 422
    assert response.json()["errors"][0]["message"] == f"run {run_id} uses paac, but the diagram shows ga3c"
    assert api.user.get(GA3C, params={"run": 999}).status_code == 404
    missing = api.user.get("/api/v1/papers/ga3c/figure-1/diagrams/paac")
    assert missing.json()["detail"] == "Figure 1 has no diagram 'paac'. It has a3c, ga3c."


def test_the_batch_of_paac_is_the_product_of_its_fields(api: Api) -> None:
    api.running(config=None, preset="paac-cartpole", overrides={"num_envs": 16, "t_max": 5})
    found = read(api, "/api/v1/papers/paac/figure-1/diagrams/paac")
    assert values(found, "rollout")["Batch n_e · t_max"] == 80.0


def test_a_bundle_is_drawn_only_in_bundled_mode(api: Api) -> None:
    for overrides, groups in (({}, 1), ({"mode": "free", "num_actors": 2, "num_learners": 1}, 0)):
        run_id, attempt = api.running(config=None, preset="gorila-cartpole", overrides=overrides)
        assert len(read(api, GORILA, run=run_id)["groups"]) == groups
        finish(api, run_id, attempt, 2)


def test_nan_is_left_out(api: Api) -> None:
    run_id, attempt = api.running(config=None, preset="gorila-cartpole", overrides={})
    assert api.send(run_id, attempt, metrics(2, 1, {"gorila/staleness": "NaN"})).is_success
    assert values(read(api, GORILA), "shards")["Staleness"] is None
