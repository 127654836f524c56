"""The sample-efficiency curve over runs and games, held against a direct computation."""

import statistics
from collections.abc import Sequence
from typing import Any

import pytest

from tests.factories import CARTPOLE, Api, metrics

FIGURE = "/api/v1/figures/sample-efficiency"


def trained(api: Api, rate: float, seed: int, rise: float, *, env: str = "CartPole-v1", episodes: int = 200) -> int:
    """The nth episode ends at step 10 n with n times the rise."""
    run_id, attempt = api.running(config=CARTPOLE | {"env": env, "learning_rate": rate, "seed": seed})
    told = [metrics(1 + n, 10 * n, returns=[rise * n]) for n in range(1, episodes + 1)]
    assert api.send(run_id, attempt, *told).is_success
    return run_id


def drawn(api: Api, runs: Sequence[int], **query: Any) -> dict[str, Any]:
    answer = api.user.get(FIGURE, params={"runs": ",".join(map(str, runs)), **query})
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


def lines(figure: dict[str, Any]) -> dict[str, dict[int, float]]:
    """By name, the height at each step."""
    return {
        trace["name"]: dict(zip(trace["x"], trace["y"], strict=True)) for trace in figure["data"] if "name" in trace
    }


def recent(rise: float, step: int) -> float:
    """The mean of the last hundred episodes until a step."""
    number = step // 10
    return statistics.fmean(rise * n for n in range(max(1, number - 99), number + 1))


def test_one_game_is_told_in_returns_over_the_runs_of_each_setting(api: Api) -> None:
    slow = [trained(api, 0.001, seed, rise) for seed, rise in enumerate((1, 2, 3, 4), 1)]
    fast = [trained(api, 0.01, seed, rise, episodes=150) for seed, rise in enumerate((5, 6), 1)]
    figure = drawn(api, [*slow, *fast])
    told = lines(figure)
    assert list(told) == ["PAAC · CartPole · lr 0.001 (n = 4)", "PAAC · CartPole · lr 0.01 (n = 2)"]
    for name, rises in zip(told, ((2, 3), (5, 6)), strict=True):  # the middle half of four, and both of two
        assert (min(told[name]), max(told[name])) == (10, 1_500)
        for step, height in told[name].items():
            assert height == pytest.approx(statistics.fmean(recent(rise, int(step)) for rise in rises), rel=1e-4)
    assert {trace["uid"].rsplit("-")[-1] for trace in figure["data"]} == {"low", "high", "line"}
    assert len(figure["data"]) == 4, "two runs have no band"
    (mean, _) = lines(drawn(api, [*slow, *fast], center="mean")).values()
    assert mean[1_500] == pytest.approx(statistics.fmean(recent(rise, 1_500) for rise in (1, 2, 3, 4)), rel=1e-4)


def test_several_games_are_scaled_each_and_summed_up(api: Api) -> None:
    games = ("CartPole-v1", "Acrobot-v1")
    slow = [
        trained(api, 0.001, seed, size, env=env) for env, size in zip(games, (1, 100), strict=True) for seed in (1, 2)
    ]
    fast = [
        trained(api, 0.01, seed, 2 * size, env=env)
        for env, size in zip(games, (1, 100), strict=True)
        for seed in (1, 2)
    ]
    figure = drawn(api, [*slow, *fast], center="mean")
    told = lines(figure)
    assert list(told) == ["PAAC · lr 0.001 (n = 4, 2 games)", "PAAC · lr 0.01 (n = 4, 2 games)"]
    low, high = told.values()
    assert (low[10], high[2_000]) == (0, 1)
    least, greatest = recent(1, 10), recent(2, 2_000)
    assert low[2_000] == pytest.approx((recent(1, 2_000) - least) / (greatest - least), rel=1e-4)
    assert "from the least (0) to the greatest (1)" in figure["layout"]["yaxis"]["title"]["text"]
    by = lines(drawn(api, [*slow, *fast], group_by="env", center="mean"))
    assert list(by) == ["PAAC · CartPole (n = 4)", "PAAC · Acrobot (n = 4)"]


def test_nothing_is_drawn_before_all_have_scores(api: Api) -> None:
    one = trained(api, 0.001, 1, 1)
    silent = api.launch(config=CARTPOLE | {"learning_rate": 0.5})["id"]
    assert drawn(api, [silent, one])["data"] == []
    assert len(drawn(api, [one])["data"]) == 1
