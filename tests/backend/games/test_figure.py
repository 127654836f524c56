"""Tests of the bar chart of a score table."""

from collections.abc import Sequence
from typing import Any

import pytest
from sqlalchemy.orm import Session

from arcadia_backend.games import schemas, scores, tables
from arcadia_backend.games.scores import FinishedEvaluation
from tests.backend.games.conftest import Scorer
from tests.factories import Api


def bars(api: Api, slug: str, **requested: str) -> tuple[list[dict[str, Any]], list[str]]:
    """Return the bars of a table, with intervals first, and all names from the top."""
    response = api.user.get(f"/api/v1/games/{slug}/figure", params=requested)
    assert response.status_code == 200, response.text
    figure = response.json()
    return figure["data"], figure["layout"]["yaxis"]["ticktext"]


def test_bars_are_in_order_of_rank_with_intervals(scorer: Scorer, api: Api) -> None:
    for score in (900.0, 1_000.0, 1_100.0):
        scorer.scored("ALE/Amidar-v5", score)
    (ours, theirs), names = bars(api, "amidar", protocol="no-op-5min")
    assert (ours["x"], ours["y"]) == ([1000.0], [2])
    assert (theirs["x"], theirs["y"]) == ([1675.8, 1189.7, 739.5, 5.8], [0, 1, 3, 4])
    assert names == ["human", "Gorila", "PAAC", "DQN", "random"]
    assert ours["error_x"]["array"] == pytest.approx([248.4], abs=0.1)
    assert ours["error_x"]["arrayminus"] == pytest.approx([248.4], abs=0.1)
    assert ours["hovertext"] == ["PAAC: 1,000, 95% interval 751.586 to 1,248.41, 3 runs"]
    assert not theirs["error_x"]["visible"]
    assert len({*ours["marker"]["color"], *theirs["marker"]["color"]}) == 2


def test_scores_that_cannot_be_ranked_are_left_out(scorer: Scorer, api: Api) -> None:
    for mean, episodes in ((5.0, 30), (9.0, 2), ("NaN", 30)):
        scorer.evaluate(scorer.run("ALE/Carnival-v5"), mean, episodes=episodes)
    (trace,), _ = bars(api, "carnival", protocol="no-op-5min")
    assert (trace["x"], trace["hovertext"]) == ([5.0], ["PAAC: 5, 1 run"])


def test_only_the_requested_table_is_read(scorer: Scorer, api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    run_id = scorer.scored("ALE/Pong-v5", 1.0)
    scorer.evaluate(run_id, 2.0, "no-op-30min")
    read: list[int] = []

    def recorded(session: Session, chosen: Sequence[FinishedEvaluation]) -> dict[int, schemas.RunScore]:
        read.append(len(chosen))
        return scores.to_schemas(session, chosen)

    monkeypatch.setattr(tables, "to_schemas", recorded)
    bars(api, "pong", protocol="no-op-30min")
    assert read == [1]


def test_an_unknown_table_lists_the_known_ones(scorer: Scorer, api: Api) -> None:
    scorer.scored("ALE/Carnival-v5", 1.0)
    response = api.user.get("/api/v1/games/carnival/figure", params={"protocol": "human-starts"})
    assert response.status_code == 404
    assert response.json()["detail"] == "Carnival has no scores by 'human-starts'. It has scores by no-op-5min."


def test_an_unknown_start_set_lists_the_known_ones(scorer: Scorer, api: Api) -> None:
    env = "ALE/Carnival-v5"
    starts = scorer.evaluate_from_points(scorer.run(env), env)
    there = f"It has scores by agent-starts with starts={starts}."
    for requested, message in (({}, "'agent-starts'"), ({"starts": "abc"}, "'agent-starts' with starts=abc")):
        response = api.user.get("/api/v1/games/carnival/figure", params={"protocol": "agent-starts", **requested})
        assert response.json()["detail"] == f"Carnival has no scores by {message}. {there}"
    found = api.user.get("/api/v1/games/carnival/figure", params={"protocol": "agent-starts", "starts": starts})
    assert found.status_code == 200
