"""The WebSockets of live games: /live/… for pages that watch, /worker/jobs/…/live for the process that plays."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Annotated, Any

import anyio
from fastapi import APIRouter, Query, WebSocket, WebSocketDisconnect
from fastapi.concurrency import run_in_threadpool

from backend.database.engine import Database
from backend.errors import NotFound, Problem
from backend.files.service import find_file
from backend.files.storage import stored_path
from backend.jobs.queue import INTERACTIVE
from backend.jobs.service import UNFINISHED
from backend.live_games import service
from backend.live_games.stage import Stage
from backend.live_games.stages import Stages
from backend.live_games.viewer import EndError, Post, Viewer
from backend.web.lookup import PathId
from backend.worker_api.assignments import StaleAttempt, offer
from backend.worker_api.jobs import current_job
from workers.contract.events import CheckpointFile
from workers.contract.live import ENDED, NO_SUCH_GAME, PART_BYTES, STALE, TOO_MANY, TOO_SLOW, Newer
from workers.contract.worker_api import AttemptNumber

router = APIRouter()

MOST_VIEWERS = 500
# The sign-in is checked when a connection opens. Connections end after this time, and pages reconnect by themselves.
LIFE_SECONDS = 3_600.0
# A connection that takes nothing for so long is gone.
SEND_SECONDS = 20.0
LOOK_SECONDS = 2.0


@router.websocket("/live/{live_id}")
async def watch(socket: WebSocket, live_id: PathId) -> None:
    """Show a live game to a page, and take the page's orders."""
    await socket.accept()
    stages: Stages = socket.app.state.stages

    async def talk() -> None:
        await run_in_threadpool(_refuse_what_is_over, socket.app.state.database, live_id)
        if stages.viewers >= MOST_VIEWERS:
            raise EndError(TOO_MANY, f"{MOST_VIEWERS} pages watch live games already; close some.")
        with stages.on(live_id) as stage, stage.watched() as viewer:
            async with asyncio.timeout(LIFE_SECONDS):
                await _together(_send(socket, viewer), _hear_viewer(socket, viewer, stage))

    await _until_it_ends(socket, talk)


@router.websocket("/worker/jobs/{job_id}/live")
async def play(socket: WebSocket, job_id: PathId, attempt: Annotated[AttemptNumber, Query()]) -> None:
    """Take the pictures of the process that plays, and hand it orders and newer checkpoints."""
    db: Database = socket.app.state.database
    stages: Stages = socket.app.state.stages
    await socket.accept()

    async def talk() -> None:
        checkpoint = await run_in_threadpool(_checkpoint_of, db, job_id, attempt)
        with stages.on(job_id) as stage, stage.played() as player:
            follow = _follow(db, player, job_id, attempt, checkpoint)
            await _together(_send(socket, player), _hear_player(socket, stage), follow)

    await _until_it_ends(socket, talk)


async def _until_it_ends(socket: WebSocket, talk: Callable[[], Awaitable[None]]) -> None:
    """Talk until the other side leaves, or close the connection with the reason."""
    try:
        await talk()
    except WebSocketDisconnect:
        return
    except EndError as end:
        await socket.close(end.code, end.reason)
    except TimeoutError:
        await socket.close(TOO_SLOW, "This connection has been open, or has stood still, for too long.")
    except StaleAttempt as problem:
        await socket.close(STALE, problem.detail[:120])
    except Problem as problem:
        await socket.close(NO_SUCH_GAME, problem.detail[:120])


async def _together(*work: Coroutine[Any, Any, None]) -> None:
    """Do several things at once until one of them ends; raise what ended it."""
    ended: list[Exception] = []

    async def until_one_ends(each: Coroutine[Any, Any, None]) -> None:
        try:
            await each
        except Exception as error:
            ended.append(error)
        group.cancel_scope.cancel()

    async with anyio.create_task_group() as group:
        for each in work:
            group.start_soon(until_one_ends, each)
    if ended:
        raise ended[0]


async def _send(socket: WebSocket, post: Post) -> None:
    while True:
        message = await post.next()
        async with asyncio.timeout(SEND_SECONDS):
            if isinstance(message, bytes):
                await socket.send_bytes(message)
            else:
                await socket.send_text(message)


async def _received(socket: WebSocket) -> str | bytes | None:
    message = await socket.receive()
    if message["type"] == "websocket.disconnect":
        raise WebSocketDisconnect(message.get("code", 1005))
    text = message.get("text")
    return text if text is not None else message.get("bytes")


async def _hear_viewer(socket: WebSocket, viewer: Viewer, stage: Stage) -> None:
    while True:
        if (ordered := viewer.hear(await _received(socket))) is not None:
            stage.order(ordered)


async def _hear_player(socket: WebSocket, stage: Stage) -> None:
    while True:
        stage.take(await _received(socket))


async def _follow(db: Database, player: Post, job_id: int, attempt: int, played: int | None) -> None:
    """Send each newer checkpoint of the run; end when the attempt is over."""
    while True:
        newer = await run_in_threadpool(_newer, db, job_id, attempt, played)
        if newer is not None:
            played, told, content = newer
            player.tell(told.model_dump_json())
            for begin in range(0, len(content), PART_BYTES):
                await player.emptied()
                player.tell(content[begin : begin + PART_BYTES])
        await asyncio.sleep(LOOK_SECONDS)


def _refuse_what_is_over(db: Database, live_id: int) -> None:
    with db.read() as session:
        job = service.find_shown(session, live_id, *INTERACTIVE)
        if job.state not in UNFINISHED:
            raise EndError(ENDED, "This game is over.")


def _checkpoint_of(db: Database, job_id: int, attempt: int) -> int | None:
    """The checkpoint that an attempt at a live game began with, if an agent plays."""
    with db.read() as session:
        job = current_job(session, job_id, attempt)
        if job.kind not in INTERACTIVE:
            raise NotFound(f"Job {job_id} is no live game.")
        return job.checkpoint_id


def _newer(db: Database, job_id: int, attempt: int, played: int | None) -> tuple[int, Newer, bytes] | None:
    """A newer checkpoint of the run with its bytes."""
    with db.read() as session:
        found = service.newer(session, current_job(session, job_id, attempt), played)
        if found is None or found.file_id is None:
            return None
        path = stored_path(db.files_dir, find_file(session, found.file_id).stored_path)
    told = offer(found).model_dump(include=set(CheckpointFile.model_fields))
    try:
        return found.id, Newer(checkpoint=CheckpointFile.model_validate(told)), path.read_bytes()
    except FileNotFoundError:
        return None  # thinned out meanwhile; there is a newer one
