"""Live games over the API and its WebSockets: requests, viewers, players, endings and permissions."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from starlette.testclient import WebSocketDenialResponse, WebSocketTestSession
from starlette.websockets import WebSocketDisconnect

from arcadia_backend.accounts import tokens
from arcadia_backend.app import create_app
from arcadia_backend.config import Settings
from arcadia_backend.database.engine import Database
from arcadia_backend.live_games import sockets
from arcadia_backend.live_games.stage import BEAT_SECONDS
from arcadia_workers.contract.live import ALONE_SECONDS, NO_SUCH_GAME, STALE
from tests.conftest import WORKER_TOKEN
from tests.factories import Api, checkpoint_path, event, started

# The kind of database makes no difference here.
pytestmark = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)

ADDRESS = "ws://localhost/api/v1"
SCENE = '{"kind":"scene"}'


@pytest.fixture
def run(api: Api) -> int:
    """Return a run with a checkpoint."""
    run_id, attempt = api.running()
    api.save(run_id, attempt, 2, 100)
    return run_id


def ask(api: Api, run_id: int, status: int = 201, **wanted: Any) -> dict[str, Any]:
    """Request a live game."""
    answer = api.user.post(f"/api/v1/runs/{run_id}/live", json=wanted)
    assert answer.status_code == status, answer.text
    found: dict[str, Any] = answer.json()
    return found


def watching(client: TestClient, number: int, **headers: str) -> WebSocketTestSession:
    """Connect to a live game as a viewer."""
    return client.websocket_connect(f"{ADDRESS}/live/{number}", headers=headers)


def playing(client: TestClient, number: int, attempt: int = 1, token: str | None = None) -> WebSocketTestSession:
    """Connect to a live game as the process that plays it."""
    shown = WORKER_TOKEN if token is None else token
    path = f"{ADDRESS}/worker/jobs/{number}/live?attempt={attempt}"
    return client.websocket_connect(path, headers={"Authorization": f"Bearer {shown}"})


def reported(socket: WebSocketTestSession, kind: str) -> dict[str, Any]:
    """Receive messages until one of this kind arrives. Return it."""
    while True:
        message: dict[str, Any] = json.loads(socket.receive_text())
        if message["kind"] == kind:
            return message


def appear(player: WebSocketTestSession, viewer: WebSocketTestSession) -> None:
    """Wait until the playing process is connected. Orders sent earlier are lost."""
    player.send_text(SCENE)
    reported(viewer, "scene")


def await_picture(socket: WebSocketTestSession, picture: bytes) -> None:
    """Receive messages until this picture arrives."""
    while socket.receive().get("bytes") != picture:
        pass


def closing(socket: WebSocketTestSession) -> WebSocketDisconnect:
    """Receive messages until the connection is closed. Return the reason."""
    while (message := socket.receive())["type"] != "websocket.close":
        pass
    return WebSocketDisconnect(message["code"], message.get("reason"))


@pytest.fixture
def game(api: Api, run: int) -> int:
    """Return a live game that a worker has claimed."""
    number: int = ask(api, run)["id"]
    claimed = api.claim_job()
    assert (claimed["job_id"], claimed["kind"], claimed["parameters"]) == (number, "live", {"follows": True})
    api.send_of_job(number, 1, started(1))
    return number


def test_viewers_see_the_game_and_can_send_orders(client: TestClient, game: int) -> None:
    with watching(client, game) as early, playing(client, game) as player:
        player.send_text(SCENE)
        player.send_bytes(b"picture")
        reported(early, "scene")
        await_picture(early, b"picture")
        with watching(client, game) as late:
            assert reported(late, "audience")["viewers"] == 2
            early.send_json({"order": "pause", "id": "x"})
            assert player.receive_json()["order"] == {"id": "x", "order": "pause"}


@pytest.mark.nightly
def test_a_newer_checkpoint_is_sent_to_the_process(api: Api, client: TestClient, run: int, game: int) -> None:
    attempt = api.run(run)["attempt"]
    with playing(client, game) as player:
        api.save(run, attempt, 3, 200)
        newer = player.receive_json()
        assert (newer["kind"], newer["checkpoint"]["file"]) == ("newer", checkpoint_path(200))
        assert player.receive_bytes() == b"weights of attempt 1 at step 200"


def test_a_chosen_checkpoint_is_kept(api: Api, client: TestClient, run: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sockets, "CHECKPOINT_POLL_SECONDS", 0.01)
    (checkpoint,) = api.user.get(f"/api/v1/runs/{run}/checkpoints").json()
    number = ask(api, run, checkpoint=checkpoint["id"])["id"]
    assert api.claim_job()["parameters"] == {"follows": False}
    with playing(client, number) as player, watching(client, number) as viewer:
        api.save(run, 1, 3, 200)
        appear(player, viewer)
        for turn in range(3):
            viewer.send_json({"order": "ping", "id": str(turn)})
            assert player.receive_json()["order"]["id"] == str(turn), "no newer checkpoint arrives"


def test_a_repeated_request_joins_the_existing_game(api: Api, run: int) -> None:
    first = ask(api, run)
    assert first["state"] == "queued"
    assert "start one with" in first["reason"]
    assert ask(api, run)["id"] == first["id"]
    (checkpoint,) = api.user.get(f"/api/v1/runs/{run}/checkpoints").json()
    other = ask(api, run, checkpoint=checkpoint["id"])
    assert other["id"] != first["id"]
    assert ask(api, run, checkpoint=checkpoint["id"])["id"] == other["id"]
    assert [each["id"] for each in api.user.get(f"/api/v1/runs/{run}/live").json()] == [first["id"], other["id"]]


def test_the_best_checkpoint_can_be_requested_by_name(api: Api, run: int) -> None:
    api.save(run, 1, 3, 200, return_mean=5.0)
    api.save(run, 1, 4, 300, return_mean=1.0)
    game = ask(api, run, checkpoint="best")
    assert (game["step"], game["follows"]) == (200, False)
    refused = ask(api, run, 422, checkpoint="oldest")
    assert refused["detail"] == "checkpoint: there is no alias 'oldest': use newest, best or the id of a checkpoint"


def test_games_beyond_the_limit_are_refused_with_the_reason(api: Api, run: int, app: FastAPI) -> None:
    app.state.settings = app.state.settings.model_copy(update={"max_live_games": 1})
    number = ask(api, run)["id"]
    (checkpoint,) = api.user.get(f"/api/v1/runs/{run}/checkpoints").json()
    refused = ask(api, run, 409, checkpoint=checkpoint["id"])["detail"]
    assert "The limit of live games (1, ARCADIA_MAX_LIVE_GAMES) is reached" in refused
    assert "ARCADIA_MAX_LIVE_GAMES" in refused
    assert api.user.post(f"/api/v1/live/{number}/end").json()["state"] == "cancelled"
    ask(api, run, checkpoint=checkpoint["id"])


def test_a_finished_game_is_deleted_with_the_next_request(api: Api, run: int, game: int) -> None:
    api.send_of_job(game, 1, event(2, "finished"))
    assert api.release_job(game, 1, "finished").json() == {"state": "done"}
    assert api.user.get(f"/api/v1/runs/{run}/live").json() == []
    ask(api, run)
    assert api.user.get(f"/api/v1/live/{game}").status_code == 404


@pytest.mark.parametrize("asked", ["runs/1/live", "games/pong/play"], ids=["of an agent", "of a person"])
@pytest.mark.usefixtures("run")
def test_a_game_with_a_killed_process_restarts_with_a_reason(api: Api, client: TestClient, asked: str) -> None:
    number: int = api.user.post(f"/api/v1/{asked}", json={}).json()["id"]
    assert api.claim_job()["job_id"] == number
    api.send_of_job(number, 1, started(1))
    with watching(client, number) as viewer:
        with playing(client, number) as player:
            appear(player, viewer)
        reported(viewer, "away")
        api.release_job(number, 1, "lost", message="The job's process was killed by SIGKILL.")
        address = f"{asked}/{number}" if asked.startswith("games") else f"live/{number}"
        shown = api.user.get(f"/api/v1/{address}").json()
        assert shown["state"] == "queued"
        assert shown["reason"].startswith("The job's process was killed by SIGKILL. Back in the queue, 1 of at most 5")
        assert api.claim_job()["attempt"] == 2
        with playing(client, number) as late:
            assert closing(late).code == STALE
        with playing(client, number, attempt=2) as player:
            appear(player, viewer)


def test_a_game_without_viewers_ends(client: TestClient, game: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("arcadia_backend.live_games.stage.BEAT_SECONDS", 0.05)
    assert ALONE_SECONDS > BEAT_SECONDS
    with playing(client, game) as player:
        with watching(client, game) as viewer:
            player.send_bytes(b"picture")
            await_picture(viewer, b"picture")
            monkeypatch.setattr("arcadia_backend.live_games.stage.ALONE_SECONDS", 0.2)
        ended = closing(player)
        assert (ended.code, "No one has watched" in (ended.reason or "")) == (4000, True)


def test_an_invalid_message_closes_the_connection_with_a_reason(client: TestClient, game: int) -> None:
    for sent, code, why in (("garbage", 4422, "not an order"), ("x" * 2_000_000, 1009, "too large")):
        with watching(client, game) as viewer:
            viewer.send_text(sent)
            closed = closing(viewer)
            assert (closed.code, why in (closed.reason or "")) == (code, True)


def test_only_live_games_that_are_not_over_can_be_joined(api: Api, client: TestClient, run: int) -> None:
    evaluation = api.evaluate(run)["id"]
    for number in (99, evaluation):
        with watching(client, number) as viewer:
            assert closing(viewer).code == NO_SUCH_GAME
    over = ask(api, run)["id"]
    api.user.post(f"/api/v1/live/{over}/end")
    with watching(client, over) as viewer:
        assert "over" in (closing(viewer).reason or "")
    claimed = api.claim_job()
    with playing(client, evaluation, claimed["attempt"]) as player:
        assert closing(player).code == NO_SUCH_GAME


def test_foreign_origins_and_hosts_are_refused(client: TestClient, game: int) -> None:
    foreign = (
        ({"origin": "https://evil.example"}, 403),
        ({"origin": "null"}, 403),
        ({"origin": "http://localhost:9"}, 403),
        ({"sec-fetch-site": "cross-site"}, 403),
        ({"host": "evil.example"}, 421),
    )
    for headers, status in foreign:
        for path in (f"{ADDRESS}/live/{game}", f"{ADDRESS}/worker/jobs/{game}/live?attempt=1"):
            with pytest.raises(WebSocketDenialResponse) as refused, client.websocket_connect(path, headers=headers):
                pass
            assert refused.value.status_code == status, headers
            assert refused.value.headers["content-type"] == "application/problem+json"
    with watching(client, game, origin="http://localhost") as viewer:
        reported(viewer, "away")


def test_only_the_process_of_the_attempt_may_play(client: TestClient, database: Database, game: int) -> None:
    with database.write() as session:
        other = tokens.new_attempt_token(session, 1, job_id=game + 1)
        later = tokens.new_attempt_token(session, 2, job_id=game)
        own = tokens.create(session, "own", ["worker"])
        own.token.job_id, own.token.attempt = game, 1
    for token, status in (("", 401), ("guess", 401), (other, 403)):
        with pytest.raises(WebSocketDenialResponse) as refused, playing(client, game, token=token):
            pass
        assert refused.value.status_code == status
    with playing(client, game, token=later) as player:
        assert closing(player).code == STALE
    with playing(client, game, token=own.secret), watching(client, game) as viewer:
        reported(viewer, "audience")


def test_an_impossible_job_number_is_refused_like_any_other(client: TestClient) -> None:
    path = f"{ADDRESS}/worker/jobs/{'9' * 5_000}/live?attempt=1"
    with pytest.raises(WebSocketDenialResponse) as refused, client.websocket_connect(path):
        pass
    assert refused.value.status_code == 401


@pytest.fixture
def guarded(settings: Settings) -> Iterator[TestClient]:
    """Yield a client of an installation that requires a token from users."""
    app = create_app(settings.model_copy(update={"token": Settings(token="user-secret").token}))
    with TestClient(app, base_url="http://localhost") as client:
        yield client


def test_viewers_must_be_signed_in(guarded: TestClient) -> None:
    for shown in ({}, {"Authorization": "Bearer guess"}, {"Authorization": f"Bearer {WORKER_TOKEN}"}):
        with pytest.raises(WebSocketDenialResponse) as refused, watching(guarded, 1, **shown):
            pass
        assert refused.value.status_code == 401
    with watching(guarded, 1, Authorization="Bearer user-secret") as viewer:
        assert closing(viewer).code == NO_SUCH_GAME
    guarded.post("/api/v1/session", json={"token": "user-secret"}).raise_for_status()
    with watching(guarded, 1) as viewer:
        assert closing(viewer).code == NO_SUCH_GAME
