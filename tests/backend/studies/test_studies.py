"""Studies over the API, and the scheduling of their runs."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from arcadia_backend.database.scope import BACKEND, switch_to
from arcadia_backend.studies import planning, service
from arcadia_backend.studies.figures import omega_squared
from tests.backend.studies.conftest import RATES, Studies
from tests.conftest import WORKER_TOKEN
from tests.factories import Api

METHODS = ["paac-cartpole", "a3c-cartpole", "ga3c-cartpole"]


def seeds_of(study: dict[str, Any]) -> list[list[int]]:
    return [[run["seed"] for run in point["runs"]] for point in study["table"]]


def states_of(study: dict[str, Any]) -> dict[str, int]:
    return {state: count for state, count in study["runs"].items() if count}


def test_study_queues_runs_up_to_its_limit(studies: Studies) -> None:
    study = studies.start(question="Which **rate** learns fastest?", max_concurrent_runs=4)
    assert (study["state"], study["points"], states_of(study)) == ("running", 3, {"queued": 4, "planned": 2})
    assert [point["values"] for point in study["table"]] == [{"learning_rate": rate} for rate in RATES]
    assert study["question"] == "Which **rate** learns fastest?"
    first = studies.api.run(study["table"][1]["runs"][0]["run_id"])
    assert (first["priority"], first["total_steps"], first["config"]["seed"]) == (-10, 1_000, 1)
    assert (first["config"]["learning_rate"], first["algorithm"]) == (3e-4, "paac")
    assert first["study"] == {"id": study["id"], "name": "Which rate?", "point": 1, "seed": 1}
    # Every point has its first seed before any has its second.
    assert [point["runs"][1]["state"] for point in study["table"]] == ["queued", "planned", "planned"]


def test_runs_are_named_by_varied_fields(studies: Studies) -> None:
    studies.start(max_concurrent_runs=2)
    names = [run["name"] for run in studies.api.user.get("/api/v1/runs?sort=id").json()["items"]]
    assert names == ["PAAC · CartPole · seed 1 · lr 0.0001", "PAAC · CartPole · seed 1 · lr 0.0003"]


def test_scheduler_queues_the_next_run_and_finishes_the_study(studies: Studies) -> None:
    study = studies.start()
    studies.schedule()
    assert states_of(studies.read(study["id"])) == {"queued": 2, "planned": 4}
    studies.train()
    studies.schedule()
    studies.schedule()
    assert states_of(studies.read(study["id"])) == {"queued": 2, "planned": 3, "finished": 1}
    assert len(studies.train_all()) == 5
    ended = studies.read(study["id"])
    assert (ended["state"], states_of(ended)) == ("finished", {"finished": 6})
    assert ended["finished_at"] is not None


def test_single_runs_have_priority(studies: Studies) -> None:
    studies.start()
    single = studies.api.launch()
    assert studies.api.claim()["run_id"] == single["id"]


def test_runs_are_created_once_despite_backend_restarts(app: FastAPI) -> None:
    axes = [{"field": "preset", "values": METHODS}, {"field": "learning_rate", "values": RATES}]
    trained: list[tuple[str, float, int]] = []
    study_id = None
    for _ in range(200):
        with TestClient(app, base_url="http://localhost") as client:
            worker = TestClient(app, base_url="http://localhost", headers={"Authorization": f"Bearer {WORKER_TOKEN}"})
            worker.portal = client.portal
            scheduler = app.state.study_scheduler
            studies = Studies(Api(client, worker), scheduler.run_once)
            if study_id is None:
                study_id = studies.start(preset=None, axes=axes, seeds=3, max_concurrent_runs=8)["id"]
            for _ in range(7):
                if run := studies.train():
                    config = run["config"]
                    trained.append((config["algorithm"], config["learning_rate"], config["seed"]))
            # Restart alternately before and after the scheduler has run.
            if len(trained) % 2:
                scheduler.run_once()
            if studies.read(study_id)["state"] == "finished":
                break
            with ThreadPoolExecutor(3, initializer=switch_to, initargs=(BACKEND,)) as pool:
                list(pool.map(lambda _: scheduler.run_once(), range(3)))  # noqa: B023 - it ends before the next round
    wanted = {(method, rate, seed) for method in ("paac", "a3c", "ga3c") for rate in RATES for seed in range(1, 4)}
    assert (len(trained), set(trained)) == (27, wanted)


def test_concurrent_schedulers_create_each_run_once(studies: Studies) -> None:
    study = studies.start(max_concurrent_runs=1)
    for _ in range(6):
        studies.train()
        with ThreadPoolExecutor(4, initializer=switch_to, initargs=(BACKEND,)) as pool:
            list(pool.map(lambda _: studies.schedule(), range(4)))
        counted = states_of(studies.read(study["id"]))
        assert counted.get("queued", 0) <= 1
        assert sum(counted.values()) == 6
    assert studies.read(study["id"])["state"] == "finished"
    assert studies.api.user.get("/api/v1/runs", params={"study": study["id"]}).json()["total"] == 6


def test_pause_and_resume_apply_to_the_runs(studies: Studies) -> None:
    study = studies.start()
    claimed = studies.api.claim()
    paused = studies.act(study["id"], "pause")
    assert (paused["state"], states_of(paused)) == ("paused", {"starting": 1, "paused": 1, "planned": 4})
    assert studies.api.run(claimed["run_id"])["desired"] == "pause"
    studies.api.release(claimed["run_id"], claimed["attempt"], "stopped")
    studies.schedule()
    assert states_of(studies.read(study["id"])) == {"paused": 2, "planned": 4}
    assert studies.refused(study["id"], "pause") == f"Study {study['id']} is already paused."
    resumed = studies.act(study["id"], "resume")
    assert (resumed["state"], states_of(resumed)) == ("running", {"queued": 2, "planned": 4})
    assert len(studies.train_all()) == 6


def test_stopped_study_creates_no_runs_until_resumed(studies: Studies) -> None:
    study = studies.start()
    stopped = studies.act(study["id"], "stop")
    assert (stopped["state"], states_of(stopped)) == ("stopped", {"stopped": 2, "planned": 4})
    studies.schedule()
    assert states_of(studies.read(study["id"])) == {"stopped": 2, "planned": 4}
    assert (stopped["runs_remaining"], "already stopped" in studies.refused(study["id"], "stop")) == (4, True)
    assert states_of(studies.act(study["id"], "resume")) == {"stopped": 2, "queued": 2, "planned": 2}
    assert len(studies.train_all()) == 4
    assert "extend it" in studies.refused(study["id"], "resume")


def test_stopped_or_purged_run_is_not_created_again(studies: Studies) -> None:
    study = studies.start(max_concurrent_runs=6)
    ids = [run["run_id"] for point in study["table"] for run in point["runs"]]
    studies.api.act(ids[0], "stop")
    assert studies.api.user.delete(f"/api/v1/runs/{ids[0]}").status_code == 204
    studies.schedule()
    assert states_of(studies.read(study["id"])) == {"removed": 1, "queued": 5}
    assert len(studies.train_all()) == 5
    assert studies.read(study["id"])["state"] == "finished"


def test_study_pauses_after_consecutive_failures(studies: Studies) -> None:
    study = studies.start(seeds=5)
    assert len(studies.train_all(outcome="failed")) == 6
    paused = studies.read(study["id"])
    assert (paused["state"], states_of(paused)) == ("paused", {"failed": 6, "planned": 9})
    assert paused["state_reason"] == "The last 5 runs failed. Latest error: no memory"
    # Earlier failures do not count again.
    resumed = studies.act(study["id"], "resume")
    assert (resumed["state_reason"], states_of(resumed)) == (None, {"failed": 6, "queued": 2, "planned": 7})


def test_seeds_are_added_to_the_best_points(studies: Studies) -> None:
    study = studies.start()
    studies.train_all(lambda config: 100 * config["learning_rate"])
    extended = studies.act(study["id"], "extend", seeds=3, best=2)
    assert (extended["state"], seeds_of(extended)) == ("running", [[1, 2], [1, 2, 3, 4, 5], [1, 2, 3, 4, 5]])
    assert len(studies.train_all()) == 6
    assert seeds_of(studies.act(study["id"], "extend", seeds=1, of=[0])) == [[1, 2, 3], [*range(1, 6)], [*range(1, 6)]]
    assert "no point 7" in studies.refused(study["id"], "extend", 422, seeds=1, of=[7])
    assert "a grid has all its points" in studies.refused(study["id"], "extend", 422, points=3)
    assert "2,000" in studies.refused(study["id"], "extend", 422, seeds=1_000)


@pytest.mark.parametrize("more", [{"points": 100_000}, {"seeds": 1_000}])
def test_too_large_extension_is_rejected(
    studies: Studies, more: dict[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    axis = {"field": "learning_rate", "log_uniform": [1e-4, 1e-2]}
    study = studies.start(axes=[axis], sampler="random", points=5, seeds=1)
    planned: list[int] = []
    monkeypatch.setattr(planning, "add_seeds", lambda *asked: planned.append(asked[2]))
    monkeypatch.setattr(service, "random_draws", lambda *asked: planned.append(asked[2]))
    refusal = studies.refused(study["id"], "extend", 422, **more)
    assert "ARCADIA_MAX_STUDY_RUNS" in refusal
    assert planned == []


@pytest.mark.parametrize("nothing", [{}, {"best": 2}, {"of": [0]}])
def test_empty_extension_is_rejected(studies: Studies, nothing: dict[str, Any]) -> None:
    study = studies.start()
    studies.act(study["id"], "stop")
    response = studies.api.user.post(f"/api/v1/studies/{study['id']}/extend", json=nothing)
    assert response.status_code == 422, response.text
    assert "give the number of seeds or points to add" in response.json()["detail"]
    assert studies.read(study["id"])["state"] == "stopped"


def test_best_points_require_a_finished_run(studies: Studies) -> None:
    study = studies.start()
    assert "has finished yet" in studies.refused(study["id"], "extend", seeds=1, best=1)


def test_point_has_mean_and_interval_of_its_finished_runs(studies: Studies) -> None:
    study = studies.start(axes=STUDY_OF_TWO, seeds=4)
    studies.train_all(lambda config: 100.0 + 10 * config["seed"] if config["learning_rate"] < 0.01 else 7.0)
    learned, flat = studies.read(study["id"])["table"]
    assert (learned["n"], learned["mean"], flat["mean"], flat["low"], flat["high"]) == (4, 125.0, 7.0, None, None)
    # By Student's t: 3.182 standard errors of 6.455.
    assert (learned["low"], learned["high"]) == (pytest.approx(104.457, abs=0.001), pytest.approx(145.543, abs=0.001))
    assert learned["label"] == "Learning rate 0.001"
    assert studies.read(study["id"])["best"] == 125.0


@pytest.mark.parametrize("score", ["NaN", "Infinity", "-Infinity"])
def test_best_mean_ignores_non_finite_returns(studies: Studies, score: Any) -> None:
    study = studies.start(axes=STUDY_OF_TWO, seeds=2)
    studies.train_all(lambda config: score if config["seed"] == 1 else 1e4 * config["learning_rate"])
    found = studies.read(study["id"])
    assert found["best"] == max(point["mean"] for point in found["table"])


def test_scatter_figure_has_runs_means_and_intervals(studies: Studies) -> None:
    axes = [{"field": "preset", "values": METHODS[:2]}, {"field": "learning_rate", "values": [1e-4, 1e-3]}]
    study = studies.start(preset=None, axes=axes, seeds=3)
    path = f"/api/v1/studies/{study['id']}/figure"
    assert studies.api.user.get(path, params={"axis": 1}).json()["data"] == []
    studies.train_all(lambda config: 100 + 10 * config["seed"] + 1_000 * config["learning_rate"])
    figure = studies.api.user.get(path, params={"axis": 1}).json()
    assert (figure["layout"]["xaxis"]["type"], figure["layout"]["xaxis"]["title"]["text"]) == ("log", "Learning rate")
    dots, means = figure["data"][:2]
    assert (dots["x"], dots["y"]) == ([*[1e-4] * 3, *[1e-3] * 3], [110.1, 120.1, 130.1, 111.0, 121.0, 131.0])
    assert (means["name"], means["x"], means["y"]) == (METHODS[0], [1e-4, 1e-3], [pytest.approx(120.1), 121.0])
    # By Student's t: 4.303 standard errors of 10 / √3.
    assert means["error_y"]["array"] == [pytest.approx(24.84, abs=0.01)] * 2
    assert len(figure["data"]) == 4
    assert studies.api.user.get(path).json()["layout"]["xaxis"]["type"] == "category"
    assert "has no axis 2" in studies.api.user.get(path, params={"axis": 2}).json()["detail"]


@pytest.mark.nightly
def test_parallel_and_importance_figures(studies: Studies) -> None:
    axes = [{"field": "preset", "values": METHODS[:2]}, {"field": "learning_rate", "values": RATES}]
    study = studies.start(preset=None, axes=axes, seeds=2)
    path = f"/api/v1/studies/{study['id']}/figure"
    for kind in ("parallel", "importance"):
        assert studies.api.user.get(path, params={"kind": kind}).json()["data"] == []
    # Only the rate affects the score, not the method.
    studies.train_all(lambda config: 1_000 * config["learning_rate"] + config["seed"] / 100)
    parallel = studies.api.user.get(path, params={"kind": "parallel"}).json()
    drawn = [place for trace in parallel["data"] for place in trace["y"] if place is not None]
    assert len(drawn) == 6 * 3
    assert parallel["layout"]["xaxis"]["ticktext"] == ["Preset", "Learning rate", "Mean return"]
    assert {"paac-cartpole", "0.0003"} <= {note["text"] for note in parallel["layout"]["annotations"]}
    (bars,) = studies.api.user.get(path, params={"kind": "importance"}).json()["data"]
    assert bars["y"] == ["Preset", "Learning rate"]
    assert (bars["x"][0], bars["x"][1] > 0.99) == (0.0, True)


def test_omega_squared_matches_an_analysis_of_variance() -> None:
    # Sums of squares between 84 and within 68: (84 - 2 * 68 / 15) / (152 + 68 / 15).
    groups = [np.array([6.0, 8, 4, 5, 3, 4]), np.array([8.0, 12, 9, 11, 6, 8]), np.array([13.0, 9, 11, 8, 7, 12])]
    assert omega_squared(groups) == pytest.approx((84 - 2 * 68 / 15) / (152 + 68 / 15))
    assert omega_squared(groups[:1]) is None


STUDY_OF_TWO = [{"field": "learning_rate", "values": [0.001, 0.01]}]


def test_random_points_are_within_their_range_and_extendable(studies: Studies) -> None:
    axes = [{"field": "learning_rate", "log_uniform": [1e-4, 1e-2]}, {"field": "num_envs", "uniform": [2, 8]}]
    study = studies.start(axes=axes, sampler="random", points=20, seeds=1)
    values = [point["values"] for point in study["table"]]
    assert len({point["learning_rate"] for point in values}) == 20
    assert all(1e-4 <= point["learning_rate"] <= 1e-2 and 2 <= point["num_envs"] <= 8 for point in values)
    # The orders of magnitude have about equal numbers of points.
    assert 4 <= sum(point["learning_rate"] < 1e-3 for point in values) <= 16
    again = studies.start(axes=axes, sampler="random", points=20, seeds=1)
    assert [point["values"] for point in again["table"]] == values
    extended = studies.act(study["id"], "extend", points=5)
    more = [point["values"] for point in extended["table"]]
    assert (len(more), more[:20]) == (25, values)
    assert not [point for point in more[20:] if point in values]
    assert extended["specification"]["points"] == 25


def test_axes_can_vary_fields_together_and_methods(studies: Studies) -> None:
    study = studies.start(
        preset=None,
        axes=[
            {"field": "preset", "values": ["paac-cartpole", "a3c-cartpole"]},
            {"field": ["gamma", "learning_rate"], "values": [[0.9, 0.01], [0.99, 0.001]]},
        ],
        seeds=[7],
        max_concurrent_runs=9,
    )
    runs = [studies.api.run(point["runs"][0]["run_id"]) for point in study["table"]]
    found = [(run["algorithm"], run["config"]["gamma"], run["config"]["learning_rate"]) for run in runs]
    assert found == [("paac", 0.9, 0.01), ("paac", 0.99, 0.001), ("a3c", 0.9, 0.01), ("a3c", 0.99, 0.001)]
    assert [run["config"]["seed"] for run in runs] == [7] * 4


def test_study_is_cloned_from_its_specification(studies: Studies) -> None:
    together = {"field": ["gamma", "learning_rate"], "values": [[0.9, 0.01], [0.99, 0.001]]}
    drawn = {"field": "entropy_cost", "log_uniform": [1e-4, 1e-2]}
    first = studies.start(question="Which **rate**?", sampler="random", points=2, axes=[together, drawn])
    shown = first["specification"]
    clone = studies.start(**shown | {"total_steps": 500})
    assert clone["id"] != first["id"]
    assert clone["specification"] == shown | {"total_steps": 500}


def test_list_is_paged_newest_first(studies: Studies) -> None:
    ids = [studies.start(name=f"study {n}")["id"] for n in range(3)]
    page = studies.api.user.get("/api/v1/studies", params={"limit": 2}).json()
    assert [study["id"] for study in page["items"]] == [ids[2], ids[1]]
    rest = studies.api.user.get("/api/v1/studies", params={"limit": 2, "before": page["next_cursor"]}).json()
    assert ([study["id"] for study in rest["items"]], rest["next_cursor"]) == ([ids[0]], None)
    assert page["items"][0]["runs"]["planned"] == 4


def test_study_is_renamed_and_deleted_without_its_runs(studies: Studies) -> None:
    study = studies.start()
    client, path = studies.api.user, f"/api/v1/studies/{study['id']}"
    assert client.patch(path, json={"name": "Renamed"}).json()["name"] == "Renamed"
    assert client.patch(path, json={"question": "Why?"}).json()["specification"]["name"] == "Renamed"
    assert client.delete(path).status_code == 409
    studies.act(study["id"], "stop")
    assert client.delete(path).status_code == 204
    assert client.get(path).status_code == 404
    run_id = study["table"][0]["runs"][0]["run_id"]
    assert studies.api.run(run_id)["study"] is None
    assert studies.start()["id"] > study["id"]


@pytest.mark.parametrize("action", ["pause", "resume", "stop", "extend"])
def test_missing_study_is_not_found(studies: Studies, action: str) -> None:
    body = {"seeds": 1} if action == "extend" else {}
    assert studies.refused(77, action, 404, **body) == "There is no study 77."
