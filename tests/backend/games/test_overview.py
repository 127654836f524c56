"""Tests of the list of games and the averages."""

import statistics
from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import event as sql
from sqlalchemy import insert
from sqlalchemy.orm import Session

from arcadia_backend.database.columns import utc_now
from arcadia_backend.database.engine import Database
from arcadia_backend.database.tables import Base, Checkpoint, Evaluation, Job, Run
from arcadia_backend.games.overview import load_games
from arcadia_backend.games.service import read_game
from tests.backend.games.conftest import Scorer
from tests.factories import Api, video

PROTOCOLS = ("no-op-5min", "no-op-30min")


def percent(score: float, random: float, human: float) -> float:
    """Return the human-normalized score as the papers define it."""
    return 100 * (score - random) / (human - random)


def test_without_runs_the_papers_games_are_listed(scorer: Scorer) -> None:
    answer = scorer.games()
    assert len(answer["games"]) == 57
    alien = answer["games"]["alien"]
    assert (alien["name"], alien["runs"], alien["best"], alien["picture"]) == ("Alien", 0, [], None)
    assert alien["published"] == 15
    assert answer["averages"] == []
    lstm = answer["published_averages"][-1]
    assert (lstm["method"], lstm["protocol"], lstm["mean"], lstm["median"]) == ("A3C, LSTM", "human-starts", 623, 112.6)


def test_a_game_without_published_scores_is_listed_with_its_first_run(scorer: Scorer, api: Api) -> None:
    assert "tetris" not in scorer.games()["games"]
    scorer.run("ALE/Tetris-v5")
    api.launch()
    tetris = scorer.games()["games"]["tetris"]
    assert (tetris["runs"], tetris["evaluated_runs"], tetris["best"], tetris["published"]) == (1, 0, [], 0)
    assert not any("CartPole" in game["name"] for game in scorer.games()["games"].values())


def test_a_game_has_its_best_score_by_each_protocol(scorer: Scorer) -> None:
    scorer.scored("ALE/Amidar-v5", 100.0)
    best = scorer.scored("ALE/Amidar-v5", 840.8)
    other = scorer.scored("ALE/Amidar-v5", 5_000.0, "no-op-30min")
    amidar = scorer.games()["games"]["amidar"]
    assert (amidar["runs"], amidar["evaluated_runs"]) == (3, 3)
    first, second = amidar["best"]
    assert (first["run"]["id"], first["protocol"], first["mean"], first["human_normalized"]) == (
        best,
        "no-op-5min",
        840.8,
        50,
    )
    assert first["normalized_by"]["table"] == "table 4"
    assert (second["run"]["id"], second["protocol"]) == (other, "no-op-30min")
    assert second["human_normalized"] == pytest.approx(percent(5_000.0, 5.8, 1719.5))


def test_averages_are_per_protocol_and_method(scorer: Scorer) -> None:
    # Table 4 of Gorila: Alien 227.8 and 6875.4, Amidar 5.8 and 1675.8, Assault 222.4 and 1496.4, Pong -20.7 and 9.3.
    scores = {"Alien": 3_000.0, "Amidar": 1_000.0, "Assault": 5_000.0, "Pong": 20.0}
    tables = {"Alien": (227.8, 6875.4), "Amidar": (5.8, 1675.8), "Assault": (222.4, 1496.4), "Pong": (-20.7, 9.3)}
    for game, score in scores.items():
        scorer.scored(f"ALE/{game}-v5", score * 1.5)
        scorer.scored(f"ALE/{game}-v5", score / 2)
    scorer.scored("ALE/Pong-v5", 9.3, algorithm="a3c")
    scorer.scored("ALE/Carnival-v5", 21.0, "no-op-30min")
    scorer.scored("ALE/Carnival-v5", 100.0)
    scorer.scored("ALE/Boxing-v5", "NaN")
    own, longer = ([each for each in scorer.games()["averages"] if each["protocol"] == name] for name in PROTOCOLS)
    a3c, paac = sorted(own, key=lambda each: str(each["algorithm"]))
    percents = [percent(scores[game], *tables[game]) for game in scores]
    assert (paac["games"], paac["normalized_games"], paac["runs"]) == (5, 4, 8)
    assert paac["mean"] == pytest.approx(sum(percents) / 4)
    assert paac["median"] == pytest.approx(statistics.median(percents))
    assert paac["interquartile_mean"] == pytest.approx(sum(sorted(percents)[1:3]) / 2)
    assert paac["normalized_by"] == [{"source": "Gorila (Nair et al. 2015)", "table": "table 4"}]
    assert (a3c["method"], a3c["games"], a3c["mean"]) == ("A3C", 1, pytest.approx(100))
    (longer_paac,) = longer
    assert (longer_paac["games"], longer_paac["normalized_games"]) == (1, 0)
    assert (longer_paac["mean"], longer_paac["median"], longer_paac["interquartile_mean"]) == (None, None, None)


def test_several_start_sets_count_as_one_game(scorer: Scorer) -> None:
    run_id = scorer.run()
    for points in (100, 101):
        scorer.evaluate_from_points(run_id, points=points)
    answer = scorer.games()
    assert [score["start_set"] for score in answer["games"]["pong"]["best"]] == ["100 points", "101 points"]
    assert [(each["protocol"], each["games"]) for each in answer["averages"]] == [("agent-starts", 1)]


def test_too_few_episodes_count_only_as_the_best_score(scorer: Scorer) -> None:
    run_id = scorer.run("ALE/Amidar-v5")
    scorer.evaluate(run_id, 1675.8, episodes=2)
    answer = scorer.games()
    amidar = answer["games"]["amidar"]
    assert (amidar["best"][0]["short"], amidar["methods"], answer["averages"]) == (True, [], [])
    scorer.evaluate(run_id, 5.8)
    answer = scorer.games()
    assert [score["mean"] for score in answer["games"]["amidar"]["methods"]] == [5.8]
    assert answer["averages"][0]["mean"] == 0


def recorded(api: Api, env: str, *steps: int) -> tuple[int, dict[int, int]]:
    """Create a run with a replay at each step. Return its id and the replay files by step."""
    config = {"algorithm": "paac", "env": env, "total_steps": 1_000, "num_envs": 4}
    run_id, attempt = api.running(config=config)
    seq, files = 2, {}
    for step in steps:
        api.save(run_id, attempt, seq, step, kept=[f"checkpoints/step-{each:012d}.safetensors" for each in steps])
        files[step] = api.upload(run_id, attempt, f"replays/{step}.mp4", b"film %d" % step, "video")
        api.upload(run_id, attempt, f"replays/{step}.png", b"poster", "video")
        assert api.send(run_id, attempt, video(seq + 1, step, step)).is_success
        seq += 2
    api.release(run_id, attempt, "finished")
    return run_id, files


def test_the_picture_is_the_newest_replay_of_the_best_run(scorer: Scorer, api: Api) -> None:
    best, films = recorded(api, "ALE/Pong-v5", 100, 200)
    other, others = recorded(api, "ALE/Pong-v5", 900)
    pong = scorer.games()["games"]["pong"]
    assert (pong["picture"]["run_id"], pong["picture"]["file_id"]) == (other, others[900])
    scorer.evaluate(best, 10.0)
    scorer.evaluate(other, 1.0)
    (score,) = scorer.games()["games"]["pong"]["best"]
    assert (score["picture"]["file_id"], score["picture"]["step"]) == (films[200], 200)
    assert scorer.game("pong")["picture"] == score["picture"]
    assert score["picture"]["poster_file_id"] is not None


def test_another_run_has_the_picture_if_the_best_run_has_no_replay(scorer: Scorer, api: Api) -> None:
    other, _ = recorded(api, "ALE/Pong-v5", 900)
    scorer.scored("ALE/Pong-v5", 10.0)
    pong = scorer.games()["games"]["pong"]
    assert (pong["best"][0]["picture"], pong["picture"]["run_id"]) == (None, other)
    assert scorer.game("pong")["picture"]["run_id"] == other


def fill(database: Database, first: int, runs: int, evaluations: int) -> None:
    """Store evaluated runs of some games with ids from `first`."""
    games = ["Pong", "Breakout", "Alien", "Amidar", "Assault"]
    same: dict[str, Any] = {"algorithm": "paac", "queue": "cpu", "config": {}, "total_steps": 1}
    rows: dict[type[Base], list[dict[str, Any]]] = {Run: [], Checkpoint: [], Job: [], Evaluation: []}
    for run_id in range(first, first + runs):
        rows[Run].append({"id": run_id, "name": f"run {run_id}", "env": f"ALE/{games[run_id % 5]}-v5", **same})
        for n in range(run_id * evaluations, (run_id + 1) * evaluations):
            place = {"run_id": run_id, "step": n, "frames": 4 * n, "sha256": "0" * 64}
            rows[Checkpoint].append({"id": n, "attempt": 1, "file": f"{n}", "bytes": 1, **place})
            job = {"id": n, "run_id": run_id, "kind": "evaluation", "checkpoint_id": n, "parameters": {}}
            rows[Job].append({**job, "total": 30, "state": "done", "finished_at": utc_now()})
            scored = {"document": {"interval": [n - 1.0, n + 1.0], "starts": None}, "mean": float(n)}
            requested = {"protocol": "no-op-5min", "acting": {"name": "sampled"}, "seed": 1, "origin": "asked"}
            rows[Evaluation].append({"job_id": n, "checkpoint_id": n, **requested, **scored, **place})
    with database.write() as session:
        for table, values in rows.items():
            session.execute(insert(table), values)


def queries(database: Database, read: Callable[[Session], Any]) -> tuple[int, Any]:
    """Return the number of queries and the result. The backend's threads use other connections."""
    requested: list[str] = []
    with database.read() as session:
        sql.listen(session.connection(), "before_cursor_execute", lambda *message: requested.append(message[2]))
        found = read(session)
    return len(requested), found


def pong_in_the_list(session: Session) -> Any:
    """Return Pong in the list of all games."""
    return next(each for each in load_games(session).games if each.slug == "pong")


def pong(session: Session) -> Any:
    """Return the page of Pong."""
    return read_game(session, "pong")


@pytest.mark.parametrize("read", [pong_in_the_list, pong])
def test_more_runs_take_no_more_queries(database: Database, read: Callable[[Session], Any]) -> None:
    fill(database, 1, 10, 2)
    few, _ = queries(database, read)
    fill(database, 11, 100, 2)
    many, found = queries(database, read)
    assert (found.runs, found.evaluated_runs) == (22, 22)
    assert few > 3
    assert many == few
