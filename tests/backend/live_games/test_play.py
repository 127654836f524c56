"""Games played by people over the API and its WebSockets."""

from typing import Any

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from arcadia_backend.live_games import stage as stages
from arcadia_workers.contract.live import NO_SUCH_GAME, WRONG_ORDER
from tests.backend.futures.test_futures import read as read_futures
from tests.backend.futures.test_futures import request as request_futures
from tests.backend.live_games.test_live_games import ADDRESS, appear, closing, playing, reported, watching
from tests.backend.test_saliency import replay
from tests.factories import Api, event, started
from tests.workers.waiting import wait_until

# The kind of database makes no difference here.
pytestmark = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)


@pytest.fixture(autouse=True)
def _looks_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shorten the interval of the check for unwatched games."""
    monkeypatch.setattr(stages, "CHECK_SECONDS", 0.05)
    monkeypatch.setattr(stages, "IDLE_SECONDS", 0.05)


def ask(api: Api, slug: str = "pong", status: int = 201) -> dict[str, Any]:
    """Request a game to play."""
    answer = api.user.post(f"/api/v1/games/{slug}/play")
    assert answer.status_code == status, answer.text
    found: dict[str, Any] = answer.json()
    return found


@pytest.fixture
def game(api: Api) -> int:
    """Return a game that a worker has claimed."""
    number: int = ask(api)["id"]
    claimed = api.claim_job()
    assert (claimed["job_id"], claimed["kind"], claimed["checkpoint"]) == (number, "play", None)
    assert claimed["parameters"] == {"env": "ALE/Pong-v5"}
    api.send_of_job(number, 1, started(1))
    return number


def test_orders_of_a_person_reach_the_process_with_the_viewers_name(client: TestClient, game: int) -> None:
    with playing(client, game) as player, watching(client, game) as viewer:
        name = reported(viewer, "audience")["you"]
        appear(player, viewer)
        for order in ({"order": "take over"}, {"order": "keys", "held": ["up", "fire"]}, {"order": "hand back"}):
            viewer.send_json(order | {"id": "7"})
            assert player.receive_json() == {"kind": "ordered", "viewer": name, "order": order | {"id": "7"}}
    with playing(client, game) as player:
        with watching(client, game) as leaving:
            name = reported(leaving, "audience")["you"]
            appear(player, leaving)
        gone = player.receive_json()
        assert (gone["viewer"], gone["order"]["order"]) == (name, "hand back")


def test_a_queued_game_is_cancelled_after_its_last_viewer_leaves(
    api: Api, client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    number = ask(api)["id"]
    with watching(client, number) as viewer:
        reported(viewer, "audience")
        monkeypatch.setattr("arcadia_backend.live_games.stage.ALONE_SECONDS", 0.1)
        assert state_of(api, number) == "queued"
    wait_until(lambda: state_of(api, number) == "cancelled")


def test_a_game_without_viewers_is_cancelled(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("arcadia_backend.live_games.stage.ALONE_SECONDS", 0.1)
    number = ask(api)["id"]
    wait_until(lambda: state_of(api, number) == "cancelled")


def test_futures_wait_for_a_worker_without_viewers(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("arcadia_backend.live_games.stage.ALONE_SECONDS", 0.1)
    _, replay_id = replay(api)
    futures_id = request_futures(api, replay_id)["id"]
    number = ask(api)["id"]
    wait_until(lambda: state_of(api, number) == "cancelled")
    assert read_futures(api, futures_id)["state"] == "queued"


def test_a_restarted_backend_cancels_a_queued_game_without_viewers(
    app: FastAPI, monkeypatch: pytest.MonkeyPatch
) -> None:
    with TestClient(app, base_url="http://localhost") as client:
        number = client.post("/api/v1/games/pong/play").json()["id"]
        with watching(client, number) as viewer:
            reported(viewer, "away")
    monkeypatch.setattr("arcadia_backend.live_games.stage.ALONE_SECONDS", 0.1)
    with TestClient(app, base_url="http://localhost") as client:
        wait_until(lambda: client.get(f"/api/v1/games/pong/play/{number}").json()["state"] == "cancelled")


def test_a_game_that_lost_its_process_is_cancelled_without_viewers(
    api: Api, game: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("arcadia_backend.live_games.stage.ALONE_SECONDS", 0.1)
    api.release_job(game, 1, "lost", message="The job's process was killed by SIGKILL.")
    wait_until(lambda: state_of(api, game) == "cancelled")


def test_cancelling_unwatched_games_continues_after_an_unexpected_error(
    api: Api, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    with monkeypatch.context() as broken:
        broken.setattr(stages, "_queued", None)
        wait_until(lambda: "Cancelling unwatched live games failed and will be retried" in caplog.text)
    monkeypatch.setattr("arcadia_backend.live_games.stage.ALONE_SECONDS", 0.1)
    number = ask(api)["id"]
    wait_until(lambda: state_of(api, number) == "cancelled")
    assert caplog.text.count("Cancelling unwatched live games failed and will be retried") == 1


def state_of(api: Api, number: int) -> str:
    """Return the state of a game of Pong."""
    state: str = api.user.get(f"/api/v1/games/pong/play/{number}").json()["state"]
    return state


def test_unknown_keys_close_the_connection_with_a_reason(client: TestClient, game: int) -> None:
    for sent in ({"order": "keys", "held": ["jump"]}, {"order": "keys", "held": ["up"] * 6}, {"order": "keys"}):
        with watching(client, game) as viewer:
            viewer.send_json(sent)
            closed = closing(viewer)
            assert (closed.code, "not an order" in (closed.reason or "")) == (WRONG_ORDER, True)


def test_each_request_starts_a_game_and_finished_games_are_deleted(api: Api, game: int) -> None:
    other = ask(api)["id"]
    assert other != game
    api.send_of_job(game, 1, event(2, "finished"))
    assert api.release_job(game, 1, "finished").json() == {"state": "done"}
    assert api.user.get(f"/api/v1/games/pong/play/{game}").json()["state"] == "done"
    api.user.post(f"/api/v1/games/pong/play/{other}/end").raise_for_status()
    ask(api)
    assert api.user.get(f"/api/v1/games/pong/play/{game}").status_code == 404


def test_games_of_people_and_agents_share_a_limit(api: Api, app: FastAPI) -> None:
    app.state.settings = app.state.settings.model_copy(update={"max_live_games": 1})
    run_id, attempt = api.running()
    api.save(run_id, attempt, 2, 100)
    number = ask(api)["id"]
    refused = api.user.post(f"/api/v1/runs/{run_id}/live", json={})
    assert refused.status_code == 409
    assert "The limit of live games (1, ARCADIA_MAX_LIVE_GAMES) is reached" in refused.json()["detail"]
    assert "ARCADIA_MAX_LIVE_GAMES" in ask(api, status=409)["detail"]
    assert api.user.post(f"/api/v1/games/pong/play/{number}/end").json()["state"] == "cancelled"
    live = api.user.post(f"/api/v1/runs/{run_id}/live", json={}).json()["id"]
    ask(api, status=409)
    api.user.post(f"/api/v1/live/{live}/end").raise_for_status()
    ask(api)


def test_a_game_is_found_only_at_its_address_and_must_be_an_atari_game(api: Api, client: TestClient, game: int) -> None:
    assert api.user.get(f"/api/v1/games/breakout/play/{game}").status_code == 404
    assert api.user.get(f"/api/v1/live/{game}").status_code == 404
    assert "Did you mean pong" in ask(api, "pongo", 404)["detail"]
    ask(api, "cartpole", 404)
    with watching(client, 99) as viewer:
        assert closing(viewer).code == NO_SUCH_GAME


def test_a_worker_that_plays_gets_no_files(api: Api, game: int) -> None:
    run_id, attempt = api.running()
    kept = api.upload(run_id, attempt, "checkpoints/x", b"weights", "checkpoint")
    answer = api.worker.get(f"/api/v1/worker/jobs/{game}/files/{kept}", params={"attempt": 1})
    assert (answer.status_code, answer.json()["detail"]) == (404, f"No run has no file {kept}.")


def test_a_game_ends_with_its_attempt(api: Api, client: TestClient, game: int) -> None:
    path = f"{ADDRESS}/live/{game}"
    api.user.post(f"/api/v1/games/pong/play/{game}/end").raise_for_status()
    api.send_of_job(game, 1, event(2, "stopped", reason="asked to stop"))
    assert api.release_job(game, 1, "stopped").json() == {"state": "cancelled"}
    with client.websocket_connect(path) as viewer:
        assert "over" in (closing(viewer).reason or "")
