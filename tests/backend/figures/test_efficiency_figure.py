"""Tests of the sample-efficiency curve against a direct computation."""

import statistics
from collections.abc import Sequence
from typing import Any

import pytest

from tests.factories import CARTPOLE, Api, metrics

FIGURE = "/api/v1/figures/sample-efficiency"


def trained(api: Api, rate: float, seed: int, rise: float, *, env: str = "CartPole-v1", episodes: int = 200) -> int:
    """Create a run whose nth episode ends at step 10 n with a return of n times `rise`."""
    run_id, attempt = api.running(config=CARTPOLE | {"env": env, "learning_rate": rate, "seed": seed})
    sent = [metrics(1 + n, 10 * n, returns=[rise * n]) for n in range(1, episodes + 1)]
    assert api.send(run_id, attempt, *sent).is_success
    return run_id


def drawn(api: Api, runs: Sequence[int], **query: Any) -> dict[str, Any]:
    answer = api.user.get(FIGURE, params={"runs": ",".join(map(str, runs)), **query})
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


def lines(figure: dict[str, Any]) -> dict[str, dict[int, float]]:
    """Return the height at each step, by name."""
    return {
        trace["name"]: dict(zip(trace["x"], trace["y"], strict=True)) for trace in figure["data"] if "name" in trace
    }


def recent(rise: float, step: int) -> float:
    """Return the mean of the last 100 episodes until a step."""
    number = step // 10
    return statistics.fmean(rise * n for n in range(max(1, number - 99), number + 1))


@pytest.mark.nightly
def test_one_game_is_drawn_in_returns(api: Api) -> None:
    slow = [trained(api, 0.001, seed, rise) for seed, rise in enumerate((1, 2, 3, 4, 5), 1)]
    fast = [trained(api, 0.01, seed, rise, episodes=150) for seed, rise in enumerate((5, 6), 1)]
    figure = drawn(api, [*slow, *fast])
    drawn_lines = lines(figure)
    assert list(drawn_lines) == ["PAAC · CartPole · lr 0.001 (n = 5)", "PAAC · CartPole · lr 0.01 (n = 2)"]
    for name, rises in zip(drawn_lines, ((2, 3, 4), (5, 6)), strict=True):  # the middle three of five, and both of two
        assert (min(drawn_lines[name]), max(drawn_lines[name])) == (10, 1_500)
        for step, height in drawn_lines[name].items():
            assert height == pytest.approx(statistics.fmean(recent(rise, int(step)) for rise in rises), rel=1e-4)
    assert {trace["uid"].rsplit("-")[-1] for trace in figure["data"]} == {"low", "high", "line"}
    assert len(figure["data"]) == 4, "two runs have no band"
    (mean, _) = lines(drawn(api, [*slow, *fast], center="mean")).values()
    assert mean[1_500] == pytest.approx(statistics.fmean(recent(rise, 1_500) for rise in (1, 2, 3, 4, 5)), rel=1e-4)


def test_several_games_are_scaled_and_averaged(api: Api) -> None:
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
    drawn_lines = lines(figure)
    assert list(drawn_lines) == ["PAAC · lr 0.001 (n = 4, 2 games)", "PAAC · lr 0.01 (n = 4, 2 games)"]
    low, high = drawn_lines.values()
    assert (low[10], high[2_000]) == (0, 1)
    least, greatest = recent(1, 10), recent(2, 2_000)
    assert low[2_000] == pytest.approx((recent(1, 2_000) - least) / (greatest - least), rel=1e-4)
    assert "from the lowest (0) to the highest (1)" in figure["layout"]["yaxis"]["title"]["text"]
    by = lines(drawn(api, [*slow, *fast], group_by="env", center="mean"))
    assert list(by) == ["PAAC · CartPole (n = 4)", "PAAC · Acrobot (n = 4)"]


def test_the_figure_is_empty_until_all_settings_have_scores(api: Api) -> None:
    one = trained(api, 0.001, 1, 1)
    silent = api.launch(config=CARTPOLE | {"learning_rate": 0.5})["id"]
    assert drawn(api, [silent, one])["data"] == []
    assert len(drawn(api, [one])["data"]) == 1
