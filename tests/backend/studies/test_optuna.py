"""Sampling with TPE, and pruning."""

import math
from collections.abc import Sequence
from typing import Any

import pytest

from arcadia_backend.studies import scheduler
from arcadia_backend.studies.points import trial_outcome
from arcadia_backend.studies.pruning import LearningCurve, runs_to_prune
from arcadia_backend.studies.results import PlannedRun, Point
from arcadia_backend.studies.specification import Specification
from arcadia_workers.contract.worker_api import State
from tests.backend.studies.conftest import Studies
from tests.factories import metrics, started

DRAWN = {"field": "learning_rate", "log_uniform": [1e-5, 1e-1]}


def near_one_thousandth(config: dict[str, Any]) -> float:
    return -abs(math.log10(config["learning_rate"]) + 3)


@pytest.mark.nightly
def test_tpe_draws_points_as_runs_end_and_approaches_the_best(studies: Studies) -> None:
    study = studies.start(axes=[DRAWN], sampler="tpe", points=20, seeds=1, max_concurrent_runs=2)
    assert len(study["table"]) == 2
    trained = studies.train_all(near_one_thousandth)
    ended = studies.read(study["id"])
    assert (ended["state"], len(trained), len(ended["table"])) == ("finished", 20, 20)
    distances = [-near_one_thousandth(run["config"]) for run in trained]
    # The first ten are random.
    assert sum(distances[15:]) / 5 < sum(distances[:10]) / 10 / 2
    extended = studies.act(study["id"], "extend", points=3)
    assert (extended["state"], extended["specification"]["points"]) == ("running", 23)
    studies.schedule()
    assert len(studies.train_all(near_one_thousandth)) == 3
    assert "2,000" in studies.refused(study["id"], "extend", 422, points=2_000)


def test_tpe_gets_the_mean_of_finished_runs() -> None:
    def planned_run(state: State, score: float) -> PlannedRun:
        return PlannedRun(seed=1, run_id=1, state=state, step=9, total_steps=9, score=score)

    def value(*runs: PlannedRun) -> float | None:
        return trial_outcome(Point(0, [0.5], runs, n=0, failed=0, mean=None, low=None, high=None)).get("value")

    assert value(planned_run("finished", 500.0), planned_run("stopped", 20.0)) == 500.0
    assert value(planned_run("finished", 500.0), planned_run("finished", 300.0)) == 400.0
    assert value(planned_run("stopped", 20.0)) is None
    assert value(planned_run("finished", 500.0), planned_run("running", 20.0)) is None


@pytest.mark.nightly
def test_tpe_draws_values_integers_and_ranges(studies: Studies) -> None:
    axes = [{"field": "t_max", "uniform": [2, 9]}, {"field": "gamma", "values": [0.9, 0.99]}, DRAWN]
    study = studies.start(axes=axes, sampler="tpe", points=6, seeds=2, max_concurrent_runs=3)
    assert len(study["table"]) == 2
    assert len(studies.train_all(near_one_thousandth)) == 12
    values = [point["values"] for point in studies.read(study["id"])["table"]]
    assert len(values) == 6
    assert {type(point["t_max"]) for point in values} <= {int, float}
    assert all(point["t_max"] in range(2, 10) and point["gamma"] in (0.9, 0.99) for point in values)


def test_remaining_runs_include_points_not_drawn_yet(studies: Studies) -> None:
    study = studies.start(axes=[DRAWN], sampler="tpe", points=6, seeds=2, max_concurrent_runs=3)
    # Three of twelve runs exist, and two of the six points are drawn.
    assert (study["runs"]["planned"], study["runs_remaining"]) == (1, 9)
    stopped = studies.act(study["id"], "stop")
    assert stopped["runs_remaining"] == 9
    studies.act(study["id"], "extend", seeds=1, of=[0])
    assert len(studies.train_all(near_one_thousandth)) == 9 + 1
    assert studies.read(study["id"])["runs_remaining"] == 0


def test_restarted_scheduler_draws_no_point_twice(studies: Studies) -> None:
    study = studies.start(axes=[DRAWN], sampler="tpe", points=8, seeds=1, max_concurrent_runs=1)
    for _ in range(8):
        assert studies.train(near_one_thousandth) is not None
        for _ in range(3):
            studies.schedule()
    assert studies.train() is None
    values = [point["values"]["learning_rate"] for point in studies.read(study["id"])["table"]]
    assert (len(values), len(set(values))) == (8, 8)


def test_deleting_a_study_while_a_point_is_drawn_does_not_block_the_scheduler(
    studies: Studies, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = studies.start(axes=[DRAWN], sampler="tpe", points=8, seeds=1, max_concurrent_runs=1)
    drawn: list[int] = []

    def draw(_: Specification, known: Sequence[Point]) -> list[float]:
        drawn.append(len(known))
        assert len(drawn) == 1
        studies.act(study["id"], "stop")
        assert studies.api.user.delete(f"/api/v1/studies/{study['id']}").status_code == 204
        return [1e-3]

    monkeypatch.setattr(scheduler, "next_draw", draw)
    assert studies.train(near_one_thousandth) is not None
    studies.schedule()
    assert drawn == [1]


def learn(studies: Studies, run: dict[str, Any], tenths: int, value: Any) -> None:
    """Train a run until this tenth, with one episode of this return in each."""
    total = run["config"]["total_steps"]
    held = run["run_id"], run["attempt"]
    events = [metrics(tenth + 1, total * tenth // 10, returns=[value]) for tenth in range(1, tenths + 1)]
    assert studies.api.send(*held, started(), *events).status_code == 200


@pytest.mark.parametrize("pruner", ["median", "halving"])
def test_worse_run_is_pruned(studies: Studies, pruner: str) -> None:
    study = studies.start(seeds=2, max_concurrent_runs=6, pruner=pruner)
    for value in (100.0, 110.0, 120.0, 130.0):
        run = studies.api.claim()
        learn(studies, run, 10, value)
        assert studies.api.release(run["run_id"], run["attempt"], "finished").status_code == 200
    good, bad = studies.api.claim(), studies.api.claim("w2")
    learn(studies, good, 3, 140.0)
    learn(studies, bad, 3, 20.0)
    studies.schedule()
    assert studies.api.run(good["run_id"])["desired"] == "run"
    assert studies.api.run(bad["run_id"])["desired"] == "stop"
    log = studies.api.user.get(f"/api/v1/runs/{bad['run_id']}/log").json()["items"]
    assert f"Pruned by its study at 30 % of its steps ({pruner})." in [line["message"] for line in log]
    assert studies.api.release(bad["run_id"], bad["attempt"], "stopped").status_code == 200
    learned = studies.api.release(good["run_id"], good["attempt"], "finished")
    assert learned.status_code == 200
    studies.schedule()
    ended = studies.read(study["id"])
    assert (ended["state"], ended["runs"]["stopped"], ended["runs"]["finished"]) == ("finished", 1, 5)


def test_non_finite_score_does_not_prevent_pruning(studies: Studies) -> None:
    studies.start(axes=[{"field": "learning_rate", "values": [1e-4]}], seeds=6, max_concurrent_runs=6, pruner="median")
    for value in ("NaN", 100.0, 110.0, 120.0, 130.0):
        run = studies.api.claim()
        learn(studies, run, 10, value)
        assert studies.api.release(run["run_id"], run["attempt"], "finished").status_code == 200
    bad = studies.api.claim()
    learn(studies, bad, 3, 20.0)
    studies.schedule()
    assert studies.api.run(bad["run_id"])["desired"] == "stop"


def curves(*values: float, active: bool, tenths: int = 10) -> list[LearningCurve]:
    return [
        LearningCurve(int(v), active, None if active else v, dict.fromkeys(range(1, tenths + 1), v)) for v in values
    ]


def test_median_requires_two_tenths_and_four_finished_runs() -> None:
    finished = curves(100, 110, 120, 130, active=False)
    assert runs_to_prune("median", [*finished, *curves(114, 116, active=True, tenths=3)]) == [(114, 3)]
    assert runs_to_prune("median", [*finished, *curves(10, active=True, tenths=1)]) == []
    assert runs_to_prune("median", [*finished[:3], *curves(10, active=True, tenths=5)]) == []


def test_halving_keeps_the_best_third_at_each_rung() -> None:
    first = curves(50, 60, 70, 80, 90, active=False, tenths=1)
    # Two of the six that reached the first rung may continue. Later tenths do not count until the next rung.
    assert runs_to_prune("halving", [*first, *curves(81, active=True, tenths=1)]) == []
    assert runs_to_prune("halving", [*first, *curves(79, active=True, tenths=1)]) == [(79, 1)]
    assert runs_to_prune("halving", [*first, *curves(79, active=True, tenths=2)]) == [(79, 1)]
    assert runs_to_prune("halving", [*first, *curves(10, active=True, tenths=3)]) == []
