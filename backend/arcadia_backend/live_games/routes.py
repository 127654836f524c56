"""Routes of live games: /runs/…/live and /live for games of agents, /games/…/play and /replays/…/play for people."""

from typing import Annotated

from fastapi import APIRouter, Query

from arcadia_backend import jobs
from arcadia_backend.config import CurrentSettings
from arcadia_backend.database.engine import Db
from arcadia_backend.doorbell import Bell
from arcadia_backend.games.service import Slug
from arcadia_backend.live_games import service
from arcadia_backend.live_games.service import AskLive, ContinueReplay, LiveGame, PlayedGame
from arcadia_backend.projects.schemas import ProjectName
from arcadia_backend.web.idempotency import Idempotent
from arcadia_backend.web.lookup import PathId, PathRun, find_run

router = APIRouter(tags=["live"])


@router.post("/runs/{run_id}/live", status_code=201)
def watch_live(
    db: Db, bell: Bell, settings: CurrentSettings, once: Idempotent, run_id: PathId, wanted: AskLive
) -> LiveGame:
    """Start a live game of a run's agent, or join the one in progress.

    The game ends when no one watches it.
    """
    with once.write(db) as session:
        # The lock keeps the checkpoint from being deleted, and a second game from starting.
        job = service.start_live(session, settings, find_run(session, run_id, lock=True), wanted)
        bell.ring_after_commit(session, job)
        return once.store(session, service.to_schema(session, job))


@router.get("/runs/{run_id}/live")
def list_live(db: Db, run: PathRun) -> list[LiveGame]:
    """List the unfinished live games of a run."""
    with db.read() as session:
        return service.list_unfinished(session, run)


@router.get("/live/{live_id}")
def read_live(db: Db, live_id: PathId) -> LiveGame:
    """Return the state of a live game."""
    with db.read() as session:
        return service.to_schema(session, service.find_live_job(session, live_id, "live"))


@router.post("/live/{live_id}/end")
def end_live(db: Db, live_id: PathId) -> LiveGame:
    """End a live game for all viewers."""
    with db.write() as session:
        job = service.find_live_job(session, live_id, "live", lock=True)
        jobs.cancel(session, job)
        return service.to_schema(session, job)


@router.post("/games/{slug}/play", status_code=201)
def play_game(
    db: Db,
    bell: Bell,
    settings: CurrentSettings,
    once: Idempotent,
    slug: Slug,
    project: Annotated[ProjectName | None, Query(description="Project of the game. Default: Main.")] = None,
) -> PlayedGame:
    """Start an Atari game for people to play.

    It ends when no one watches it, and is not saved.
    """
    with once.write(db) as session:
        job = service.start_play(session, settings, slug, project)
        bell.ring_after_commit(session, job)
        return once.store(session, service.played_to_schema(session, job))


@router.get("/games/{slug}/play/{play_id}")
def read_play(db: Db, slug: Slug, play_id: PathId) -> PlayedGame:
    """Return the state of a game that people play.

    The WebSocket /api/v1/live/{id} sends its pictures and accepts orders.
    """
    with db.read() as session:
        return service.played_to_schema(session, service.find_play(session, slug, play_id))


@router.post("/games/{slug}/play/{play_id}/end")
def end_play(db: Db, slug: Slug, play_id: PathId) -> PlayedGame:
    """End a game that people play, for all viewers."""
    with db.write() as session:
        job = service.find_play(session, slug, play_id, lock=True)
        jobs.cancel(session, job)
        return service.played_to_schema(session, job)


@router.post("/replays/{replay_id}/play", status_code=201)
def play_from_replay(
    db: Db, bell: Bell, settings: CurrentSettings, once: Idempotent, replay_id: PathId, wanted: ContinueReplay
) -> PlayedGame:
    """Start a game in which a person continues a replay from one of its decisions.

    The game waits there for a key. The agent of the replay watches and can take over.
    """
    with once.write(db) as session:
        job = service.continue_replay(session, settings, replay_id, wanted.decision)
        bell.ring_after_commit(session, job)
        return once.store(session, service.played_to_schema(session, job))


@router.get("/replays/{replay_id}/play/{play_id}")
def read_play_from_replay(db: Db, replay_id: PathId, play_id: PathId) -> PlayedGame:
    """Return the state of a game that continues a replay.

    The WebSocket /api/v1/live/{id} sends its pictures and accepts orders.
    """
    with db.read() as session:
        return service.played_to_schema(session, service.find_continuation(session, replay_id, play_id))


@router.post("/replays/{replay_id}/play/{play_id}/end")
def end_play_from_replay(db: Db, replay_id: PathId, play_id: PathId) -> PlayedGame:
    """End a game that continues a replay, for all viewers."""
    with db.write() as session:
        job = service.find_continuation(session, replay_id, play_id, lock=True)
        jobs.cancel(session, job)
        return service.played_to_schema(session, job)
