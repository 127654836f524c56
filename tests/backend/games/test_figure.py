"""A table of scores as bars."""

from html import unescape
from typing import Any

from tests.backend.games.conftest import Scorer
from tests.factories import Api


def bars(api: Api, slug: str, **asked: str) -> tuple[dict[str, Any], list[str]]:
    """The bars of a table, and their names from the top."""
    response = api.user.get(f"/api/v1/games/{slug}/figure", params=asked)
    assert response.status_code == 200, response.text
    figure = response.json()
    (trace,) = figure["data"]
    return trace, figure["layout"]["yaxis"]["ticktext"]


def test_bars_stand_in_the_order_of_the_ranking_with_the_intervals_of_runs(scorer: Scorer, api: Api) -> None:
    run_id = scorer.run("ALE/Amidar-v5", name="a <b>name</b> that is far too long for an axis")
    scorer.evaluate(run_id, 1_000.0, interval=[900.0, 1_200.0])
    trace, names = bars(api, "amidar", protocol="no-op-5min")
    assert trace["x"] == [1675.8, 1189.7, 1000.0, 739.5, 5.8]
    assert names[:2] == ["human", "Gorila"]
    assert names[2] == f"a &lt;b&gt;name&lt;/b&gt; that is fa… #{run_id}"
    assert trace["error_x"]["array"] == [None, None, 200.0, None, None]
    assert trace["error_x"]["arrayminus"] == [None, None, 100.0, None, None]
    colors = trace["marker"]["color"]
    assert colors[2] == api.run(run_id)["color"]
    assert len({colors[0], colors[1], colors[3], colors[4]}) == 1


def test_what_is_no_number_is_not_drawn_and_what_is_not_ranked_is_pale(scorer: Scorer, api: Api) -> None:
    for mean, episodes in ((5.0, 30), (9.0, 2), ("NaN", 30)):
        scorer.evaluate(scorer.run("ALE/Phoenix-v5"), mean, episodes=episodes)
    trace, _ = bars(api, "phoenix", protocol="no-op-5min")
    assert (trace["x"], trace["marker"]["opacity"]) == ([5.0, 9.0], [1, 0.4])
    assert unescape(trace["hovertext"][1]).endswith("2 episodes, not ranked: 2 of the protocol's 30 episodes")


def test_of_many_runs_the_best_are_drawn(scorer: Scorer, api: Api) -> None:
    for score in range(25):
        scorer.scored("ALE/Phoenix-v5", float(score))
    trace, _ = bars(api, "phoenix", protocol="no-op-5min")
    assert trace["x"] == [float(score) for score in range(24, 4, -1)]


def test_a_table_that_is_not_there_is_told_with_those_that_are(scorer: Scorer, api: Api) -> None:
    scorer.scored("ALE/Phoenix-v5", 1.0)
    response = api.user.get("/api/v1/games/phoenix/figure", params={"protocol": "human-starts"})
    assert response.status_code == 404
    assert response.json()["detail"] == "Phoenix has no scores by 'human-starts'. It has some by no-op-5min."
