"""Times to a score, compared with a direct computation."""

import random
import statistics
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from arcadia_backend.comparisons.time_to_score import (
    EPISODES,
    NOT_REACHED,
    ScoreRecords,
    common_score,
    median_reached,
    score_records,
)
from arcadia_backend.metrics.points import POINT
from tests.factories import CARTPOLE, Api, metrics, started


def records_of(returns: Sequence[float]) -> ScoreRecords:
    """Return records in which episode n ends at step 10 n, frame 40 n, and after n seconds."""
    episodes = np.array([(10 * n, 40 * n, 0.0, value) for n, value in enumerate(returns, 1)], POINT)
    return score_records(episodes, np.arange(1, len(returns) + 1, dtype=float))


def episodes_until(returns: Sequence[float], score: float) -> int | None:
    """Return after how many episodes the mean of the last hundred first reached the score."""
    for number in range(EPISODES, len(returns) + 1):
        if statistics.fmean(returns[number - EPISODES : number]) >= score:
            return number
    return None


@pytest.mark.parametrize("seed", range(5))
def test_time_to_score_matches_direct_computation(seed: int) -> None:
    drawn = random.Random(seed)
    returns = [drawn.gauss(number / 10, 30) for number in range(400)]
    records = records_of(returns)
    means = [statistics.fmean(returns[at : at + EPISODES]) for at in range(301)]
    assert records.best == pytest.approx(max(means))
    for score in (min(means) - 1, means[0] + 1e-9, 10.0, 20.0, max(means) - 1e-9, max(means) + 1e-9):
        number = episodes_until(returns, score)
        assert records.reached(score) == (NOT_REACHED if number is None else (10 * number, 40 * number, number)), score


def test_score_requires_100_episodes() -> None:
    assert records_of([50.0] * (EPISODES - 1)).reached(1) == NOT_REACHED
    assert records_of([50.0] * EPISODES).reached(50).steps == 10 * EPISODES


def test_non_finite_returns_are_ignored() -> None:
    records = records_of([float("nan"), float("inf"), *[5.0] * EPISODES, 1e308, 1e308])
    assert (records.scores[0], records.steps[0]) == (5.0, 10 * (EPISODES + 2))
    assert np.isfinite(records.scores).all()


def test_the_time_of_a_group_is_that_of_its_median_run() -> None:
    one, two, three = (records_of([0.0] * wait + [10.0] * 200) for wait in (0, 100, 200))
    never = records_of([1.0] * 300)
    at = [records.reached(10).steps for records in (one, two, three)]
    assert at == [1_000, 2_000, 3_000]
    for runs, expected in (([one, two, three], 2_000), ([three, never, one], 3_000), ([one, two], 1_500)):
        found = median_reached(runs, 10)
        assert found is not None
        assert (found.steps, found.frames, found.seconds) == (expected, 4 * expected, expected / 10)
    assert median_reached([one, never], 10) is None
    assert median_reached([], 10) is None


def test_common_score_is_the_best_that_most_runs_of_each_group_reached() -> None:
    high, low, none = records_of([123.456] * 100), records_of([-12.345] * 100), records_of([])
    assert common_score([[high, high, none]]) == 123
    assert common_score([[high], [low, low, high]]) == -12.4
    assert common_score([[high], [high, none]]) is None


def trained(api: Api, rate: float, seed: int, rise: float, env: str = "CartPole-v1") -> tuple[int, list[float]]:
    """Create a run with 300 episodes. Return it and its returns. Episode n ends at step 10 n after n - 1 seconds."""
    run_id, attempt = api.running(config=CARTPOLE | {"env": env, "learning_rate": rate, "seed": seed})
    drawn = random.Random(seed)
    returns = [round(rise * number + drawn.uniform(0, 20), 3) for number in range(1, 301)]
    reported = [metrics(1 + number, 10 * number, returns=[each]) for number, each in enumerate(returns, 1)]
    assert api.send(run_id, attempt, *reported).is_success
    return run_id, returns


def asked(api: Api, runs: Sequence[int], **query: Any) -> dict[str, Any]:
    answer = api.user.get("/api/v1/compare/thresholds", params={"runs": ",".join(map(str, runs)), **query})
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


def test_response_matches_direct_computation(api: Api) -> None:
    slowly = [trained(api, 0.001, seed, 0.3) for seed in (1, 2, 3)]
    fast = [trained(api, 0.01, seed, 0.6) for seed in (1, 2, 3)]
    runs = [run_id for run_id, _returns in (*slowly, *fast)]
    reported = asked(api, runs, score=50)
    assert (reported["score"], reported["compared_with"], reported["message"]) == (50, 0, "")
    at = [[episodes_until(returns, 50) for _run, returns in group] for group in (slowly, fast)]
    for group, numbers in zip(reported["groups"], at, strict=True):
        places = [{"steps": 10 * n, "frames": 40 * n, "seconds": n - 1} for n in numbers if n is not None]
        assert [each["reached"] for each in group["runs"]] == places
        assert (group["n"], group["reached"]) == (3, 3)
        assert group["median"] == sorted(places, key=lambda place: place["steps"])[1]
    base, other = reported["groups"]
    assert (base["speed_up"], base["data_efficiency"]) == (1, 1)
    speed_up, efficiency = (base["median"][axis] / other["median"][axis] for axis in ("seconds", "steps"))
    assert (other["speed_up"], other["data_efficiency"]) == (pytest.approx(speed_up), pytest.approx(efficiency))
    assert 1.5 < efficiency < speed_up
    turned = asked(api, runs, score=50, to=runs[-1])
    assert turned["compared_with"] == 1
    assert turned["groups"][0]["speed_up"] == pytest.approx(1 / speed_up)
    usual = asked(api, runs)
    assert usual["score"] == usual["common"]
    assert all(group["reached"] >= 2 for group in usual["groups"])
    far = asked(api, runs, score=1_000)["groups"]
    assert [(group["reached"], group["median"], group["speed_up"]) for group in far] == [(0, None, None)] * 2


def test_forks_have_no_time_and_no_speed_up(api: Api) -> None:
    parent, attempt = api.running()
    reported = [metrics(1 + n, n, returns=[n]) for n in range(1, 201)]
    assert api.send(parent, attempt, *reported).is_success
    checkpoint = api.save(parent, attempt, 202, 200)
    api.release(parent, attempt, "finished")
    fork = api.act(parent, "fork", checkpoint_id=checkpoint)["id"]
    attempt = api.claim()["attempt"]
    reported = [metrics(1 + n, 200 + n, returns=[300]) for n in range(1, 101)]
    assert api.send(fork, attempt, started(1, resumed_from=200), *reported).is_success
    for to in (parent, fork):
        own, forked = asked(api, [parent, fork], score=100, to=to)["groups"]
        assert (own["median"], own["untimed_reason"]) == ({"steps": 150, "frames": 600, "seconds": 149}, None)
        assert (forked["median"]["steps"], forked["median"]["seconds"]) == (300, None)
        assert forked["runs"][0]["reached"]["seconds"] is None
        assert forked["untimed_reason"].startswith("it has forks, whose steps include")
        assert forked["speed_up"] is None
        assert own["speed_up"] == (1 if to == parent else None)
        assert None not in (own["data_efficiency"], forked["data_efficiency"])
    (both,) = asked(api, [parent, fork], score=100, group_by="env")["groups"]
    assert (both["median"]["seconds"], both["speed_up"]) == (None, None)
    assert [run["reached"]["seconds"] for run in both["runs"]] == [149, None]


def test_incomparable_runs_are_explained(api: Api) -> None:
    (one, _), (other, _) = trained(api, 0.001, 1, 0.3), trained(api, 0.001, 1, 0.3, "Acrobot-v1")
    silent = api.launch(config=CARTPOLE | {"learning_rate": 0.5})["id"]
    assert "different environments" in asked(api, [one, other])["message"]
    assert "finished 100 episodes" in asked(api, [one, silent])["message"]
    assert [group["reached"] for group in asked(api, [one, silent], score=20)["groups"]] == [1, 0]
    for query in ({"to": 999}, {"score": "NaN"}, {"score": "Infinity"}, {"score": "high"}):
        answer = api.user.get("/api/v1/compare/thresholds", params={"runs": one, **query})
        assert answer.status_code == 422, query


def test_points_superseded_by_a_later_attempt_are_ignored(api: Api) -> None:
    run_id, attempt = api.running(config=CARTPOLE)
    assert api.send(run_id, attempt, *(metrics(n + 1, n, returns=[100.0]) for n in range(1, 200))).is_success
    assert asked(api, [run_id], score=100)["groups"][0]["median"]["steps"] == 100
    api.release(run_id, attempt, "lost")
    attempt = api.claim()["attempt"]
    again = [metrics(n, 50 + n, returns=[100.0 if n > 20 else 0.0]) for n in range(2, 200)]
    assert api.send(run_id, attempt, started(1, resumed_from=50), *again).is_success
    assert asked(api, [run_id], score=100)["groups"][0]["median"]["steps"] == 50 + 20 + 100
