"""WebSockets of live games: of the pages that watch one, and of the process that plays it."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass
from typing import Annotated, Any

import anyio
from fastapi import APIRouter, Query, WebSocket, WebSocketDisconnect
from fastapi.concurrency import run_in_threadpool

from arcadia_backend.accounts import audit
from arcadia_backend.database.engine import Database
from arcadia_backend.database.rights import may_change, projects_of
from arcadia_backend.database.scope import acting_as
from arcadia_backend.errors import NotFound, Problem
from arcadia_backend.files.service import find_file
from arcadia_backend.files.storage import stored_path
from arcadia_backend.jobs import UNFINISHED
from arcadia_backend.live.notices import RIGHTS_CHANGED, Topic, current_hub
from arcadia_backend.live.watches import Credentials
from arcadia_backend.live_games import service
from arcadia_backend.live_games.stage import EndError, Outbox, Stage, Stages, Viewer
from arcadia_backend.web.credentials import CallerCredentials
from arcadia_backend.web.lookup import PathId
from arcadia_backend.web.security import Unauthorized
from arcadia_backend.worker_api.attempts import StaleAttempt, offer
from arcadia_backend.worker_api.jobs import JOBS
from arcadia_workers.contract.events import CheckpointFile
from arcadia_workers.contract.jobs import LIVE_GAMES
from arcadia_workers.contract.live import ENDED, NO_SUCH_GAME, PART_BYTES, STALE, TOO_MANY, TOO_SLOW, Newer
from arcadia_workers.contract.worker_api import AttemptNumber

router = APIRouter()

MAX_VIEWERS = 500
# Connections end after this time, and pages reconnect.
MAX_CONNECTION_SECONDS = 3_600.0
# The longest time between two checks of rights. Each change of rights is checked at once.
RIGHTS_SECONDS = 2.0
# A connection that accepts nothing for this long is gone.
SEND_TIMEOUT_SECONDS = 20.0
CHECKPOINT_POLL_SECONDS = 2.0


@router.websocket("/live/{live_id}")
async def watch(socket: WebSocket, live_id: PathId) -> None:
    """Send a live game to a page, and accept the page's orders."""
    await socket.accept()
    stages: Stages = socket.app.state.stages

    async def talk() -> None:
        rights = WatchRights(await run_in_threadpool(_require_unfinished, socket.app.state.database, live_id))
        if stages.viewers >= MAX_VIEWERS:
            raise EndError(TOO_MANY, f"The limit of {MAX_VIEWERS} pages that watch live games is reached. Close some.")
        with stages.on(live_id) as stage, stage.watched() as viewer:
            async with asyncio.timeout(MAX_CONNECTION_SECONDS):
                orders = _receive_orders(socket, viewer, stage, rights)
                await _run_together(_send(socket, viewer), orders, _check_rights(socket, live_id, rights))

    await _run_until_closed(socket, talk)


@router.websocket("/worker/jobs/{job_id}/live")
async def play(socket: WebSocket, job_id: PathId, attempt: Annotated[AttemptNumber, Query()]) -> None:
    """Receive pictures from the process that plays, and send it orders and newer checkpoints."""
    db: Database = socket.app.state.database
    stages: Stages = socket.app.state.stages
    await socket.accept()

    async def talk() -> None:
        checkpoint = await run_in_threadpool(_read_checkpoint_id, db, job_id, attempt)
        with stages.on(job_id) as stage, stage.played() as player:
            follow = _follow(db, player, job_id, attempt, checkpoint)
            await _run_together(_send(socket, player), _receive_pictures(socket, stage), follow)

    await _run_until_closed(socket, talk)


async def _run_until_closed(socket: WebSocket, talk: Callable[[], Awaitable[None]]) -> None:
    """Run a conversation until the other side disconnects. On an error, close the connection with the reason."""
    try:
        await talk()
    except WebSocketDisconnect:
        return
    except EndError as end:
        await socket.close(end.code, end.reason)
    except TimeoutError:
        await socket.close(TOO_SLOW, "This connection was open or idle for too long.")
    except StaleAttempt as problem:
        await socket.close(STALE, problem.detail[:120])
    except Problem as problem:
        await socket.close(NO_SUCH_GAME, problem.detail[:120])


async def _run_together(*work: Coroutine[Any, Any, None]) -> None:
    """Run coroutines concurrently until one ends. Raise its error, if any."""
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


async def _send(socket: WebSocket, outbox: Outbox) -> None:
    while True:
        message = await outbox.next()
        async with asyncio.timeout(SEND_TIMEOUT_SECONDS):
            if isinstance(message, bytes):
                await socket.send_bytes(message)
            else:
                await socket.send_text(message)


async def _receive(socket: WebSocket) -> str | bytes | None:
    message = await socket.receive()
    if message["type"] == "websocket.disconnect":
        raise WebSocketDisconnect(message.get("code", 1005))
    text = message.get("text")
    return text if text is not None else message.get("bytes")


@dataclass
class WatchRights:
    """The present rights of a page that watches a game."""

    may_order: bool


async def _receive_orders(socket: WebSocket, viewer: Viewer, stage: Stage, rights: WatchRights) -> None:
    """Pass the orders of a page on to the stage, if it may give any."""
    while True:
        if (ordered := viewer.receive(await _receive(socket))) is not None and rights.may_order:
            stage.order(ordered)


async def _check_rights(socket: WebSocket, live_id: int, rights: WatchRights) -> None:
    """End the connection once its person may no longer watch. Check at each notice that rights have changed."""
    credentials: CallerCredentials = socket.app.state.credentials
    page = Credentials.of(socket)
    with current_hub().wait() as waiter:
        waiter.topic = Topic(frozenset({RIGHTS_CHANGED}), {})
        while True:
            # A notice may be lost, and a token may expire.
            await waiter.next(RIGHTS_SECONDS)
            try:
                with acting_as(await credentials.present(socket.app, page)):
                    rights.may_order = await run_in_threadpool(_may_order, socket.app.state.database, live_id)
            except (Unauthorized, NotFound):
                await run_in_threadpool(_record_end, socket.app.state.database, live_id)
                raise


def _record_end(db: Database, live_id: int) -> None:
    """Record that a connection ends because its person may no longer watch, unless the game was deleted."""
    after = {"reason": "The role or the session has ended, or the account is disabled."}
    with db.write() as session:
        for project_id in projects_of(session, "jobs", [live_id]):
            audit.record(session, "end watching", "live game", live_id, project_id=project_id, after=after)


async def _receive_pictures(socket: WebSocket, stage: Stage) -> None:
    while True:
        stage.take(await _receive(socket))


async def _follow(db: Database, player: Outbox, job_id: int, attempt: int, played: int | None) -> None:
    """Send each newer checkpoint of the run to the player until the attempt is over."""
    while True:
        newer = await run_in_threadpool(_read_newer, db, job_id, attempt, played)
        if newer is not None:
            played, announcement, content = newer
            player.send(announcement.model_dump_json())
            for begin in range(0, len(content), PART_BYTES):
                await player.wait_until_empty()
                player.send(content[begin : begin + PART_BYTES])
        await asyncio.sleep(CHECKPOINT_POLL_SECONDS)


def _require_unfinished(db: Database, live_id: int) -> bool:
    """Return True if the caller may give orders to a live game. Raise EndError if it is over."""
    with db.read() as session:
        job = service.find_live_job(session, live_id, *LIVE_GAMES)
        if job.state not in UNFINISHED:
            raise EndError(ENDED, "This game is over.")
    return _may_order(db, live_id)


def _may_order(db: Database, live_id: int) -> bool:
    """Return True if the caller may give orders to a live game. Raise NotFound if they may not see it."""
    with db.read() as session:
        return may_change(session, "jobs", service.find_live_job(session, live_id, *LIVE_GAMES).id)


def _read_checkpoint_id(db: Database, job_id: int, attempt: int) -> int | None:
    """Return the id of the checkpoint that a live game started with, or None if a person plays."""
    with db.read() as session:
        job = JOBS.current(session, job_id, attempt)
        if job.kind not in LIVE_GAMES:
            raise NotFound(f"Job {job_id} is not a live game.")
        return job.checkpoint_id


def _read_newer(db: Database, job_id: int, attempt: int, played: int | None) -> tuple[int, Newer, bytes] | None:
    """Return the id, announcement and bytes of a newer checkpoint, or None."""
    with db.read() as session:
        newer = service.find_newer(session, JOBS.current(session, job_id, attempt), played)
        if newer is None or newer.file_id is None:
            return None
        path = stored_path(db.files_dir, find_file(session, newer.file_id).stored_path)
    file = offer(newer).model_dump(include=set(CheckpointFile.model_fields))
    try:
        return newer.id, Newer(checkpoint=CheckpointFile.model_validate(file)), path.read_bytes()
    except FileNotFoundError:
        return None  # pruned after the read, so a newer one exists
