"""Kept games over the API: their video, start points, best score and limits."""

from collections.abc import Sequence
from typing import Any

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from arcadia_workers.contract.live import KeptActions
from arcadia_workers.contract.protocols.starts import HeldAction, Start, StartSetFile, starts_at
from tests.factories import Api, evaluation, event, sha256, started

POINTS = "/api/v1/kept-games/{id}/start-points"


def kept(api: Api) -> list[dict[str, Any]]:
    """Return the kept games of Pong."""
    found: list[dict[str, Any]] = api.user.get("/api/v1/kept-games", params={"env": "ALE/Pong-v5"}).json()
    return found


def film(api: Api, content: bytes = b"film") -> tuple[int, int]:
    """Make the video of a kept game as a worker does, but do not finish the job. Return the job and its attempt."""
    claimed = api.claim_job()
    assert (claimed["kind"], claimed["checkpoint"]) == ("film", None)
    assert (claimed["parameters"]["actions"], claimed["parameters"]["score"]) == ([[0, 60], [3, 140]], 21)
    held = claimed["job_id"], claimed["attempt"]
    for kind, path in (("poster", "x.png"), ("video", "x.mp4")):
        query = {"attempt": held[1], "kind": kind, "path": path, "sha256": sha256(content)}
        sent = api.worker.put(f"/api/v1/worker/jobs/{held[0]}/files", params=query, content=content)
        assert sent.status_code == 200, sent.text
    api.send_of_job(*held, started(1), event(2, "film", file="x.mp4", poster="x.png")).raise_for_status()
    return held


def test_a_kept_game_gets_a_video_and_is_removed_with_it(api: Api) -> None:
    game = api.keep_game()
    assert (game["score"], game["frames"], game["ended"], game["film"]) == (21, 200, "over", "queued")
    assert "start one with" in game["reason"]
    held = film(api)
    api.send_of_job(*held, event(3, "finished"))
    assert api.release_job(*held, "finished").json() == {"state": "done"}
    (game,) = kept(api)
    assert (game["film"], game["reason"]) == ("done", None)
    shown = api.user.get(f"/api/v1/files/{game['file_id']}")
    assert (shown.content, shown.headers["content-type"]) == (b"film", "video/mp4")
    assert f"job-{held[0]}-x.mp4" in shown.headers["content-disposition"]
    assert api.user.delete(f"/api/v1/kept-games/{game['id']}").status_code == 204
    assert kept(api) == []
    for number in (game["file_id"], game["poster_file_id"]):
        assert api.user.get(f"/api/v1/files/{number}").status_code == 404
    assert api.user.get(f"/api/v1/kept-games/{game['id']}").status_code == 404


def test_the_video_is_made_again_after_its_worker_is_lost(api: Api) -> None:
    api.keep_game()
    held = film(api)
    api.release_job(*held, "lost", message="The worker fell silent.")
    (game,) = kept(api)
    assert game["film"] == "queued"
    assert game["reason"].startswith("The worker fell silent. Back in the queue")
    again = film(api, b"again")
    assert again == (held[0], 2)
    (game,) = kept(api)
    assert api.user.get(f"/api/v1/files/{game['file_id']}").content == b"again"


def test_start_points_of_a_kept_game_become_a_set_of_human_starts(api: Api) -> None:
    game = api.keep_game()
    made = api.user.post(POINTS.format(**game), params={"name": "mine"})
    assert made.status_code == 201, made.text
    assert (made.json()["protocol"], made.json()["points"]) == ("human-starts", 100)
    whole = StartSetFile.model_validate_json(
        api.user.get(f"/api/v1/export/start-sets/{made.json()['id']}.json").content
    )
    assert whole.sha256 == made.json()["sha256"]
    assert [start.frames for start in whole.starts] == list(range(1, 101))
    assert whole.starts[69].actions == ((0, 60), (3, 10))
    assert whole.starts[69].screen == sha256(bytes([70]))
    assert {start.seed for start in whole.starts} == {7}
    assert api.user.post(POINTS.format(**game), params={"name": "again"}).status_code == 409
    api.user.delete(f"/api/v1/kept-games/{game['id']}").raise_for_status()
    assert api.user.get(f"/api/v1/start-sets/{made.json()['id']}").status_code == 200


def test_the_actions_of_a_kept_game_can_be_reviewed(api: Api) -> None:
    game = api.keep_game()
    actions = api.user.get(f"/api/v1/kept-games/{game['id']}/actions").json()
    assert KeptActions.model_validate(actions).actions == [(0, 60), (3, 140)]
    assert (actions["env"], actions["seed"], actions["played"], actions["score"]) == ("ALE/Pong-v5", 7, 200, 21)


def test_a_short_game_has_no_start_points(api: Api) -> None:
    game = api.keep_game(screens=99)
    refused = api.user.post(POINTS.format(**game), params={"name": "mine"})
    assert refused.status_code == 409
    assert "too short for 100 start points" in refused.json()["detail"]
    (listed,) = api.user.get("/api/v1/kept-games").json()
    assert listed["why_no_start_points"] == refused.json()["detail"]


def test_start_points_too_large_to_import_are_refused(api: Api, app: FastAPI) -> None:
    game = api.keep_game()
    size = api.user.post(POINTS.format(**game), params={"name": "mine"}).json()["bytes"]
    (held,) = api.user.get("/api/v1/start-sets").json()
    api.user.delete(f"/api/v1/start-sets/{held['id']}").raise_for_status()
    app.state.settings = app.state.settings.model_copy(update={"max_body_bytes": size - 1})
    refused = api.user.post(POINTS.format(**game), params={"name": "mine"})
    assert refused.status_code == 409
    assert f"take {size:,} bytes, more than the limit of {size - 1:,}" in refused.json()["detail"]
    app.state.settings = app.state.settings.model_copy(update={"max_body_bytes": size})
    assert api.user.post(POINTS.format(**game), params={"name": "mine"}).status_code == 201


def test_others_can_write_while_start_points_are_made(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    game = api.keep_game()
    meanwhile: list[int] = []

    def slowly(seed: int, actions: Sequence[HeldAction], screens: Sequence[Any]) -> tuple[Start, ...]:
        meanwhile.append(api.beat().status_code)
        return starts_at(seed, actions, screens)

    monkeypatch.setattr("arcadia_backend.job_kinds.kept_games.starts_at", slowly)
    assert api.user.post(POINTS.format(**game), params={"name": "mine"}).status_code == 201
    assert meanwhile == [200]


def test_games_beyond_the_limit_are_refused_with_the_reason(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("arcadia_backend.job_kinds.kept_games.MAX_KEPT_GAMES", 1)
    first = api.keep_game()
    assert api.keep_game()["id"] == first["id"]
    number = api.user.post("/api/v1/games/pong/play").json()["id"]
    while api.claim_job()["job_id"] != number:
        pass
    another: dict[str, Any] = {"seed": 7, "actions": [[0, 9]], "played": 9, "score": 1, "ended": "over", "screens": []}
    api.send_of_job(number, 1, started(1), event(2, "kept_game", emulator="x", **another)).raise_for_status()
    reported = api.user.get(f"/api/v1/games/pong/play/{number}").json()["reason"]
    assert reported.startswith("1 games of Pong are kept in this project, which is the limit. Delete one")
    api.keep_game("breakout")
    assert len(kept(api)) == 1


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_your_best_score_is_listed_next_to_the_published_human_score(api: Api, client: TestClient) -> None:
    def rows() -> dict[str, list[tuple[str, float]]]:
        tables = client.get("/api/v1/games/pong").json()["tables"]
        return {table["protocol"]: [(row["player"], row["score"]) for row in table["rows"]] for table in tables}

    before = rows()
    assert "You" not in str(before)
    api.keep_game(score=3)
    api.keep_game(score=-4)
    # An unfinished game does not count: its player has lost no points yet.
    api.keep_game(score=20, ended="unfinished")
    for protocol, players in rows().items():
        names = [name for name, _ in players]
        if "human" in names:
            assert players[names.index("human") + 1] == ("You", 3), protocol
        assert [each for each in players if each[0] != "You"] == before[protocol]
    found = next(t for t in client.get("/api/v1/games/pong").json()["tables"] if t["protocol"] == "no-op-5min")
    you = next(row for row in found["rows"] if row["player"] == "You")
    assert (you["rank"], you["unranked_because"]) == (
        None,
        "the best of 2 finished kept games, without a protocol",
    )
    assert you["human_normalized"] == pytest.approx(100 * (3 + 20.7) / (9.3 + 20.7))
    assert "You" in client.get("/api/v1/export/games/pong.csv").text
    assert client.get("/api/v1/games/pong/figure", params={"protocol": "no-op-5min"}).status_code == 200


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
@pytest.mark.parametrize(
    "change",
    [{"seed": -1}, {"actions": []}, {"actions": [[18, 1]]}, {"played": 0}, {"ended": "x"}, {"screens": [[1, "x"]]}],
)
def test_an_invalid_kept_game_is_refused(api: Api, change: dict[str, Any]) -> None:
    number = api.user.post("/api/v1/games/pong/play").json()["id"]
    api.claim_job()
    reported: dict[str, Any] = {
        "seed": 7,
        "actions": [[0, 9]],
        "played": 9,
        "score": 1,
        "ended": "over",
        "screens": [],
        "emulator": "x",
    }
    answer = api.send_of_job(number, 1, started(1), event(2, "kept_game", **{**reported, **change}))
    assert answer.status_code == 422
    assert kept(api) == []


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_only_games_of_people_are_kept(api: Api) -> None:
    run_id, attempt = api.running()
    api.save(run_id, attempt, 2, 100)
    api.evaluate(run_id)
    held = api.claim_job()
    game: dict[str, Any] = {
        "seed": 7,
        "actions": [[0, 9]],
        "played": 9,
        "score": 1,
        "ended": "over",
        "screens": [],
        "emulator": "x",
    }
    answer = api.send_of_job(held["job_id"], 1, started(1), event(2, "kept_game", **game), evaluation(3, [1.0]))
    assert answer.status_code == 422
    assert kept(api) == []


def test_an_unknown_game_is_refused_with_a_suggestion(api: Api) -> None:
    refused = api.user.get("/api/v1/kept-games", params={"env": "pong"})
    assert (refused.status_code, refused.json()["errors"][0]["field"]) == (422, "env")
    assert refused.json()["errors"][0]["message"].endswith("unknown environment 'pong': did you mean ALE/Pong-v5?")
