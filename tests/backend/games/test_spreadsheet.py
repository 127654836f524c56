"""Tests of the CSV of the best scores of all games."""

import csv
import io
from typing import Any

from tests.backend.games.conftest import Scorer

GORILA = "Gorila (Nair et al. 2015)"


def exported(scorer: Scorer) -> list[dict[str, str]]:
    """Return the lines by column."""
    response = scorer.api.user.get("/api/v1/export/games.csv")
    assert response.status_code == 200
    assert response.headers["content-type"].startswith("text/csv")
    assert response.headers["content-disposition"] == 'attachment; filename="games.csv"'
    return list(csv.DictReader(io.StringIO(response.text)))


def test_each_best_score_is_a_line(scorer: Scorer) -> None:
    scorer.scored("ALE/Pong-v5", 3.0)
    scorer.scored("ALE/Amidar-v5", 100.0)
    run_id = scorer.run("ALE/Amidar-v5", name="=1+1")
    number = scorer.evaluate(run_id, 840.8)
    scorer.scored("ALE/Carnival-v5", 5_000.0, "no-op-30min")
    first, second, third = exported(scorer)
    finished = scorer.api.evaluation(number)["finished_at"].replace("Z", "+00:00")
    assert first == {
        "game": "Amidar",
        "env": "ALE/Amidar-v5",
        "protocol": "no-op-5min",
        "start_set": "",
        "run": str(run_id),
        "name": "'=1+1",
        "method": "PAAC",
        "evaluation": str(number),
        "score": "840.8",
        "interval_low": "839.8",
        "interval_high": "841.8",
        "episodes": "30",
        "step": "100",
        "frames": "400",
        "acting": "sampled",
        "human_normalized": "50.0",
        "normalized_by": f"{GORILA}, table 4",
        "finished_at": finished,
        "note": "",
    }
    assert (second["game"], second["protocol"], second["score"]) == ("Carnival", "no-op-30min", "5000.0")
    assert (second["human_normalized"], second["normalized_by"]) == ("", "")
    assert (third["game"], third["score"]) == ("Pong", "3.0")


def test_lines_match_the_list_of_games(scorer: Scorer) -> None:
    for game, mean in (("Pong", 3.0), ("Alien", 900.0), ("Carnival", "NaN")):
        scorer.scored(f"ALE/{game}-v5", mean)
    games: dict[str, Any] = scorer.games()["games"]
    listed = [(game["name"], str(best["mean"])) for game in games.values() for best in game["best"]]
    assert [(line["game"], line["score"]) for line in exported(scorer)] == listed
    assert listed == [("Alien", "900.0"), ("Carnival", "NaN"), ("Pong", "3.0")]


def test_each_start_set_has_its_own_line(scorer: Scorer) -> None:
    run_id = scorer.run()
    for points in (100, 101):
        scorer.evaluate_from_points(run_id, points=points)
    lines = exported(scorer)
    assert [(line["protocol"], line["start_set"]) for line in lines] == [
        ("agent-starts", "100 points"),
        ("agent-starts", "101 points"),
    ]


def test_unranked_scores_have_a_note(scorer: Scorer) -> None:
    scorer.evaluate(scorer.run("ALE/Amidar-v5"), 10.0, episodes=2)
    scorer.scored("ALE/Carnival-v5", "NaN")
    scorer.evaluate_from_points(scorer.run(), points=120, episodes=100)
    assert [line["note"] for line in exported(scorer)] == [
        "2 of the protocol's 30 episodes",
        "its mean is not a number",
        "only the first 100 points of its start set",
    ]


def test_without_scores_there_is_only_the_header(scorer: Scorer) -> None:
    scorer.run()
    assert exported(scorer) == []
    assert scorer.api.user.get("/api/v1/export/games.csv").text.startswith("game,env,protocol,start_set,run,")
