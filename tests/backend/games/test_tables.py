"""Tests of the rankings in a game's tables."""

import csv
import io
from typing import Any

import pytest

from tests.backend.games.conftest import Scorer
from tests.factories import PONG, Api, evaluation, event, start_set, started

GORILA = "Gorila (Nair et al. 2015)"
PAAC = "PAAC (Clemente et al. 2017)"


def ranks(table: dict[str, Any]) -> list[tuple[int | None, str, Any]]:
    """Return the rank, player and score of each row."""
    return [(row["rank"], row["player"], row["score"]) for row in table["rows"]]


def best_runs(table: dict[str, Any]) -> list[tuple[str, Any]]:
    """Return the name and score of each run."""
    return [(row["player"], row["score"]) for row in table["runs"]]


def test_methods_are_ranked_with_papers_by_the_same_protocol(scorer: Scorer) -> None:
    good, bad = scorer.scored("ALE/Amidar-v5", 1_000.0, name="good"), scorer.scored("ALE/Amidar-v5", 8.0, name="bad")
    game = scorer.game("amidar")
    first = game["tables"][0]
    assert (first["protocol"], first["apart_because"]) == ("no-op-5min", None)
    assert ranks(first) == [
        (1, "human", 1675.8),
        (2, "Gorila", 1189.7),
        (3, "DQN", 739.5),
        (4, "PAAC", 504.0),
        (5, "random", 5.8),
    ]
    assert best_runs(first) == [(f"good #{good}", 1000.0), (f"bad #{bad}", 8.0)]
    assert [row["rank"] for row in first["runs"]] == [None, None], "they are chosen by their scores"
    assert first["rows"][1]["sources"] == [
        {"source": GORILA, "table": "table 4"},
        {"source": PAAC, "table": "table 1"},
    ]
    ours = first["runs"][0]["ours"]
    assert (ours["run"]["id"], ours["run"]["method"], ours["interval"], ours["episodes"]) == (
        good,
        "PAAC",
        [999.0, 1001.0],
        30,
    )
    assert (ours["step"], ours["acting"]["name"], ours["short"]) == (100, "sampled", False)
    assert (game["runs"], game["evaluated_runs"]) == (2, 2)


def test_scores_are_normalized_with_the_table_of_their_protocol(scorer: Scorer) -> None:
    scorer.scored("ALE/Amidar-v5", 840.8)
    scorer.scored("ALE/Amidar-v5", 862.65, "no-op-30min")
    scorer.scored("ALE/Amidar-v5", 862.65, "sticky-30min")
    first, second, sticky = scorer.game("amidar")["tables"][:3]
    assert first["normalized_by"] == {
        "source": GORILA,
        "table": "table 4",
        "protocol": "no-op-5min",
        "random": 5.8,
        "human": 1675.8,
    }
    percent = {row["player"]: row["human_normalized"] for row in first["rows"]}
    assert (percent["random"], percent["human"], percent["PAAC"]) == (0, 100, 50)
    zoo = {"source": "DQN Zoo (Quan and Ostrovski 2020)", "table": "atari_data.py", "random": 5.8, "human": 1719.5}
    assert (second["protocol"], second["normalized_by"]) == ("no-op-30min", {**zoo, "protocol": "no-op-30min"})
    assert [row["human_normalized"] for row in second["rows"]] == [100, 50, 0]
    # Sticky actions have no published random and human scores.
    assert (sticky["protocol"], sticky["normalized_by"]) == ("sticky-30min", second["normalized_by"])
    assert [row["human_normalized"] for row in sticky["runs"]] == [50]


def test_a_table_without_random_and_human_scores_says_so(scorer: Scorer) -> None:
    scorer.scored("ALE/Carnival-v5", 840.8, "no-op-30min")
    (table,) = scorer.game("carnival")["tables"]
    assert table["normalized_by"] is None
    assert table["not_normalized_because"].startswith("the papers publish no random and human scores")


def test_different_protocols_have_separate_tables_with_a_reason(scorer: Scorer) -> None:
    run_id = scorer.scored("ALE/Amidar-v5", 1e6)
    tables = scorer.game("amidar")["tables"]
    assert [(table["protocol"], table["apart_because"] is None) for table in tables] == [
        ("no-op-5min", True),
        ("no-op-30min", False),
        ("human-starts", False),
        ("GA3C: mean of 30 games after one day", False),
        ("PAAC: best actor of three, 30 runs, up to 30 no-ops, no cap stated", False),
        ("cited, protocol not stated", False),
        ("Atari 100k: after 100,000 decisions of training", False),
    ]
    _, _, human_starts, ga3c, paac, cited, budget = tables
    assert [row["player"] for row in budget["rows"]] == ["DIAMOND", "STORM", "IRIS", "TWM", "SimPLe"]
    assert human_starts["apart_because"].startswith("No run has a score by human-starts")
    assert "is not a protocol here" in ga3c["apart_because"]
    assert "without their protocol" in cited["apart_because"]
    assert ranks(human_starts)[:2] == [(1, "human", 1540.4), (2, "A3C FF", 263.9)]
    assert ranks(ga3c) == [(None, "GA3C", 218.0)]
    assert [row["player"] for row in paac["rows"]] == ["PAAC arch_nature", "PAAC arch_nips"]
    elsewhere = [row["ours"]["run"]["id"] for table in tables[1:] for row in table["runs"]]
    assert (elsewhere, tables[0]["runs"][0]["ours"]["run"]["id"]) == ([], run_id)


def test_a_cited_score_is_one_row_with_both_sources(scorer: Scorer) -> None:
    tables = {table["protocol"]: table for table in scorer.game("amidar")["tables"]}
    (a3c,) = [row for row in tables["human-starts"]["rows"] if row["player"].startswith("A3C")]
    assert [each["source"].split()[0] for each in a3c["sources"]] == ["PAAC", "GA3C"]


def test_swapped_columns_in_a_paper_are_noted(scorer: Scorer) -> None:
    tables = {table["protocol"]: table for table in scorer.game("ms-pacman")["tables"]}
    rows = {row["player"]: row for row in tables["cited, protocol not stated"]["rows"]}
    assert rows["random"]["note"].startswith("stands swapped")
    assert rows["human"]["note"] is None


def test_each_run_has_one_row_with_its_best_checkpoint(scorer: Scorer) -> None:
    run_id, checkpoints = scorer.run_with_checkpoints(3)
    _, best, _ = (
        scorer.evaluate(run_id, mean, checkpoint=checkpoint)
        for mean, checkpoint in zip((3.0, 7.0, 5.0), checkpoints, strict=True)
    )
    scorer.evaluate(run_id, 9.0, "no-op-30min")
    first, second = scorer.game("pong")["tables"][:2]
    assert [row["ours"]["evaluation_id"] for row in first["runs"]] == [best]
    assert ("PAAC", 5.0) in [(row["player"], row["score"]) for row in first["rows"]], "the last checkpoint counts"
    assert [(row["rank"], row["score"]) for row in second["rows"]] == [(1, 14.6), (2, 9.0), (3, -20.7)]


def test_the_newest_evaluation_of_a_checkpoint_counts(scorer: Scorer) -> None:
    often, (first, second) = scorer.run_with_checkpoints(2, "ALE/Carnival-v5")
    for seed, (mean, checkpoint) in enumerate(((15.0, first), (9.0, first), (8.0, second))):
        scorer.evaluate(often, mean, checkpoint=checkpoint, seed=seed)
    scorer.evaluate(often, 99.0, checkpoint=first, episodes=2)
    once = scorer.scored("ALE/Carnival-v5", 12.0)
    (table,) = scorer.game("carnival")["tables"]
    assert best_runs(table) == [(f"PAAC on Carnival #{once}", 12.0), (f"PAAC on Carnival #{often}", 9.0)]
    assert ranks(table) == [(1, "PAAC", 10.0)]
    (best,) = scorer.games()["games"]["carnival"]["best"]
    assert (best["run"]["id"], best["mean"]) == (once, 12.0)
    greedy = scorer.evaluate(often, 13.0, checkpoint=first, acting={"name": "greedy"})
    (table,) = scorer.game("carnival")["tables"]
    assert table["runs"][0]["ours"]["evaluation_id"] == greedy
    assert ranks(table) == [(1, "PAAC", 10.0)], "the method usually draws its actions"


def test_superseded_evaluations_are_not_ranked(scorer: Scorer, api: Api) -> None:
    run_id, attempt = api.running(config=PONG)
    for seq, step, mean in ((2, 100, 3.0), (3, 200, 20.0)):
        scorer.evaluate(run_id, mean, checkpoint=api.save(run_id, attempt, seq, step))
    assert scorer.game("pong")["tables"][0]["runs"][0]["score"] == 20.0
    api.lose(run_id, attempt, resumed_from=100)
    (score,) = scorer.games()["games"]["pong"]["best"]
    assert (score["mean"], score["step"]) == (3.0, 100)


def test_equal_scores_share_a_rank(scorer: Scorer) -> None:
    for algorithm, score in (("paac", 5.0), ("a3c", 5.0), ("ga3c", 4.0)):
        scorer.scored("ALE/Carnival-v5", score, algorithm=algorithm)
    (table,) = scorer.game("carnival")["tables"]
    assert [(rank, score) for rank, _, score in ranks(table)] == [(1, 5.0), (1, 5.0), (3, 4.0)]


def test_the_mean_of_a_method_is_over_all_its_runs(scorer: Scorer, api: Api) -> None:
    for score in (1.0, 2.0, 6.0):
        scorer.scored("ALE/Carnival-v5", score)
    failed, attempt = api.running(config={"algorithm": "paac", "env": "ALE/Carnival-v5", "total_steps": 1_000})
    api.release(failed, attempt, "failed")
    scorer.scored("ALE/Carnival-v5", 4.0, algorithm="a3c")
    (table,) = scorer.game("carnival")["tables"]
    a3c, paac = (row["method"] for row in table["rows"])
    assert (a3c["method"], a3c["runs"], a3c["interval"], a3c["failed"]) == ("A3C", 1, None, 0)
    assert (paac["method"], paac["runs"], paac["failed"], paac["mean"]) == ("PAAC", 3, 1, 3.0)
    # scipy.stats.t.interval(0.95, 2, loc=3, scale=scipy.stats.sem([1, 2, 6]))
    assert paac["interval"] == pytest.approx([-3.572, 9.572], abs=1e-3)


def test_a_table_has_the_best_runs_and_the_csv_has_all(
    scorer: Scorer, api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("arcadia_backend.games.tables.MAX_RUNS", 2)
    best, second = (scorer.scored("ALE/Amidar-v5", mean) for mean in (9_000.0, 2_000.0))
    third = scorer.scored("ALE/Amidar-v5", 1_500.0)
    table = scorer.game("amidar")["tables"][0]
    assert best_runs(table) == [(f"PAAC on Amidar #{best}", 9_000.0), (f"PAAC on Amidar #{second}", 2_000.0)]
    assert table["rows"][0]["method"]["runs"] == 3
    assert (table["runs_total"], scorer.game("amidar")["tables"][1]["runs_total"]) == (3, 0)
    lines = api.user.get("/api/v1/export/games/amidar.csv").text.splitlines()
    assert sum(f" #{run_id},,{run_id},PAAC," in line for line in lines for run_id in (best, second, third)) == 3


def test_nan_is_not_ranked(scorer: Scorer) -> None:
    wrong, right = scorer.run("ALE/Carnival-v5"), scorer.run("ALE/Carnival-v5")
    scorer.evaluate(wrong, "NaN")
    scorer.evaluate(right, "NaN")
    scorer.evaluate(right, -50.0)
    (table,) = scorer.game("carnival")["tables"]
    assert best_runs(table) == [(f"PAAC on Carnival #{right}", -50.0), (f"PAAC on Carnival #{wrong}", "NaN")]
    assert table["runs"][1]["unranked_because"] == "its mean is not a number"
    assert ranks(table) == [(1, "PAAC", -50.0)]


def test_too_few_episodes_are_not_ranked(scorer: Scorer) -> None:
    both, few = scorer.run("ALE/Carnival-v5"), scorer.run("ALE/Carnival-v5")
    scorer.evaluate(both, 900.0, episodes=2)
    scorer.evaluate(both, 10.0)
    scorer.evaluate(few, 800.0, episodes=2)
    (table,) = scorer.game("carnival")["tables"]
    assert [(row["score"], row["unranked_because"]) for row in table["runs"]] == [
        (10.0, None),
        (800.0, "2 of the protocol's 30 episodes"),
    ]
    assert ranks(table) == [(1, "PAAC", 10.0)]


def test_unfinished_evaluations_have_no_score(scorer: Scorer) -> None:
    run_id = scorer.run("ALE/Carnival-v5")
    playing = scorer.api.evaluate(run_id)["id"]
    game = scorer.game("carnival")
    assert game["tables"] == []
    (waiting,) = game["waiting"]
    assert (waiting["id"], waiting["has_checkpoint"], waiting["evaluation"]["state"]) == (run_id, True, "queued")
    scorer.api.user.post(f"/api/v1/evaluations/{playing}/cancel")
    assert scorer.game("carnival")["waiting"][0]["evaluation"] is None
    scorer.evaluate(run_id, 1.0)
    game = scorer.game("carnival")
    assert (game["waiting"], game["waiting_total"], game["evaluated_runs"]) == ([], 0, 1)


def test_an_evaluation_counts_once_it_is_done(scorer: Scorer, api: Api) -> None:
    scorer.api.evaluate(scorer.run("ALE/Carnival-v5"), protocol="no-op-5min")
    claimed = api.claim_job()
    held = claimed["job_id"], claimed["attempt"]
    found = evaluation(2, [5.0] * 30, protocol="no-op-5min", mean=5.0)
    assert api.send_of_job(*held, started(1), found, event(3, "finished")).is_success
    game = scorer.game("carnival")
    assert (game["tables"], game["waiting"][0]["evaluation"]["state"]) == ([], "running")
    api.release_job(*held, "finished")
    assert ranks(scorer.game("carnival")["tables"][0]) == [(1, "PAAC", 5.0)]


def test_archived_runs_are_ranked_and_purged_ones_are_not(scorer: Scorer, api: Api) -> None:
    purged, archived = scorer.scored("ALE/Carnival-v5", 2.0), scorer.scored("ALE/Carnival-v5", 1.0)
    for run_id in (purged, archived):
        api.act(run_id, "archive")
    assert api.user.delete(f"/api/v1/runs/{purged}").status_code == 204
    game = scorer.game("carnival")
    ((row,),) = (table["runs"] for table in game["tables"])
    assert (row["ours"]["run"]["id"], row["ours"]["run"]["archived"]) == (archived, True)
    assert game["runs"] == 1


def test_a_deleted_evaluation_is_not_ranked(scorer: Scorer, api: Api) -> None:
    run_id = scorer.run("ALE/Carnival-v5")
    number = scorer.evaluate(run_id, 2.0)
    assert api.user.delete(f"/api/v1/evaluations/{number}").status_code == 204
    game = scorer.game("carnival")
    assert (game["tables"], [run["id"] for run in game["waiting"]]) == ([], [run_id])


def test_an_unknown_game_gets_suggestions(api: Api) -> None:
    def message(slug: str) -> str:
        response = api.user.get(f"/api/v1/games/{slug}")
        assert response.status_code == 404
        return str(response.json()["detail"])

    assert message("pongg") == "There is no Atari game 'pongg'. Did you mean pong?"
    assert message("ms_pacman").endswith("Did you mean ms-pacman, pacman?")
    assert message("cartpole") == "There is no Atari game 'cartpole'. Games have names such as pong and ms-pacman."
    assert api.user.get("/api/v1/export/games/pongg.csv").status_code == 404


def test_a_game_without_runs_exists(scorer: Scorer) -> None:
    game = scorer.game("tetris")
    assert (game["name"], game["tables"], game["picture"], game["runs"]) == ("Tetris", [], None, 0)


def test_the_csv_has_protocol_and_source(scorer: Scorer, api: Api) -> None:
    run_id = scorer.run("ALE/Amidar-v5", name="=1+1")
    number = scorer.evaluate(run_id, 840.8)
    lines = api.user.get("/api/v1/export/games/amidar.csv").text.splitlines()
    assert lines[0].startswith("protocol,starts,start_set,rank,player,runs,run,method,evaluation,score,")
    tables = scorer.game("amidar")["tables"]
    assert len(lines) == 1 + sum(len(table["rows"]) + len(table["runs"]) for table in tables)
    (ours,) = [line for line in lines if f",{run_id},PAAC,{number}," in line]
    assert ours == (
        f"no-op-5min,,,,'=1+1 #{run_id},,{run_id},PAAC,{number},840.8,839.8,841.8,30,100,400,sampled,50.0,"
        f'"{GORILA}, table 4",,'
    )
    assert any(line.startswith("no-op-5min,,,3,PAAC,1,,PAAC,,840.8") for line in lines)
    assert any(line.startswith("no-op-5min,,,2,Gorila,,,,,1189.7") and f"{PAAC}, table 1" in line for line in lines)


def test_the_csv_has_start_set_and_evaluation(scorer: Scorer, api: Api) -> None:
    numbers = []
    for points, name in ((100, "Ana's"), (101, "Bea's")):
        starts = api.import_starts(start_set("human", points), name)
        numbers.append(api.evaluate(scorer.run(), protocol="human-starts", start_set=starts["id"])["id"])
        api.play([4.0] * points, protocol="human-starts", env="ALE/Pong-v5")
    lines = csv.DictReader(io.StringIO(api.user.get("/api/v1/export/games/pong.csv").text))
    ours = [(line["start_set"], line["evaluation"]) for line in lines if line["run"]]
    assert ours == [("Ana's", str(numbers[0])), ("Bea's", str(numbers[1]))]
