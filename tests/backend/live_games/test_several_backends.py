"""A live game whose player and viewers are connected to different backend processes over a real Redis."""

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from pydantic import SecretStr
from redis.asyncio.client import PubSub
from starlette.testclient import WebSocketTestSession

from arcadia_backend.app import create_app
from arcadia_backend.config import Settings
from tests.backend.live_games.test_live_games import SCENE, ask, await_picture, playing, watching
from tests.factories import Api, event, started
from tests.workers.redis_server import RedisServer

# With SQLite, there is only one backend process.
pytestmark = pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)

subscribe = PubSub.subscribe
REPOSITORY = Path(__file__).parents[3]
# The part of a backend process that a viewer is connected to. It prints a line when it has received a picture.
VIEWERS_BACKEND = """
import asyncio, sys
from arcadia_backend.live_games.stage import Stages

async def watch():
    with Stages(sys.argv[1]).on(int(sys.argv[2])) as stage, stage.watched() as viewer:
        while not isinstance(await viewer.next(), bytes):
            pass
        print("seen", flush=True)
        await asyncio.Event().wait()

asyncio.run(watch())
"""


@pytest.fixture
def redis_server(tmp_path: Path) -> Iterator[RedisServer]:
    """Yield a running Redis server."""
    server = RedisServer(tmp_path)
    server.start()
    yield server
    server.kill()


@pytest.fixture
def settings(settings: Settings, redis_server: RedisServer) -> Settings:
    """Return settings of backend processes that share a Redis server."""
    return settings.model_copy(update={"broker_url": SecretStr(redis_server.url)})


@pytest.fixture
def game(api: Api) -> int:
    """Return a live game that a worker has claimed."""
    run_id, attempt = api.running()
    api.save(run_id, attempt, 2, 100)
    number: int = ask(api, run_id)["id"]
    assert api.claim_job()["job_id"] == number
    api.send_of_job(number, 1, started(1))
    return number


def wait_for_report(viewer: WebSocketTestSession, **wanted: object) -> None:
    """Receive messages until a notice with these values arrives."""
    while True:
        text = viewer.receive().get("text")
        if text is not None and wanted.items() <= json.loads(text).items():
            return


async def subscribe_late(self: PubSub, *channels: str) -> None:
    """Subscribe with a delay, as on a busy host."""
    await asyncio.sleep(0.5)
    await subscribe(self, *channels)


def test_viewers_at_another_backend_see_the_same_game_and_can_send_orders(
    app: FastAPI, client: TestClient, settings: Settings, game: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = create_app(settings)
    assert other is not app
    with TestClient(other, base_url="http://localhost") as elsewhere:
        with playing(client, game) as player, watching(client, game) as near:
            player.send_text(SCENE)
            player.send_bytes(b"paused here")
            await_picture(near, b"paused here")
            monkeypatch.setattr(PubSub, "subscribe", subscribe_late)
            with watching(elsewhere, game) as far:
                wait_for_report(far, kind="scene")
                await_picture(far, b"paused here")
                wait_for_report(near, kind="audience", viewers=2)
                player.send_bytes(b"next")
                for viewer in (near, far):
                    await_picture(viewer, b"next")
                far.send_json({"order": "pause", "id": "x"})
                assert player.receive_json()["order"] == {"id": "x", "order": "pause"}
        # The next attempt's process may be connected to the other backend.
        with playing(elsewhere, game) as player, watching(client, game) as near:
            player.send_text(SCENE)
            player.send_bytes(b"first again")
            await_picture(near, b"first again")


def test_a_killed_backend_loses_only_its_own_viewers(
    client: TestClient, api: Api, game: int, redis_server: RedisServer
) -> None:
    command = [sys.executable, "-c", VIEWERS_BACKEND, redis_server.url, str(game)]
    killed = subprocess.Popen(command, cwd=REPOSITORY, stdout=subprocess.PIPE)
    try:
        with playing(client, game) as player, watching(client, game) as viewer:
            player.send_text(SCENE)
            player.send_bytes(b"first")
            assert killed.stdout is not None
            assert killed.stdout.readline() == b"seen\n"
            wait_for_report(viewer, kind="audience", viewers=2)
            killed.kill()
            wait_for_report(viewer, kind="audience", viewers=1)
            player.send_bytes(b"second")
            await_picture(viewer, b"second")
    finally:
        killed.kill()
        killed.communicate()
    api.send_of_job(game, 1, event(2, "finished"))
    assert api.release_job(game, 1, "finished").json() == {"state": "done"}
