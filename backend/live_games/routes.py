"""/runs/…/live and /live: begin or join a live game, list them, read where one stands, and end it.

/games/…/play: the same of a game that people play.
"""

from fastapi import APIRouter

from backend.config import CurrentSettings
from backend.database.engine import Db
from backend.doorbell import Bell
from backend.games.catalogue import Slug
from backend.jobs import service as jobs
from backend.live_games import playing, service
from backend.live_games.schemas import AskLive, LiveGame, PlayedGame
from backend.web.lookup import PathId, PathRun, find_run

router = APIRouter(tags=["live"])


@router.post("/runs/{run_id}/live", status_code=201)
def watch_live(db: Db, bell: Bell, settings: CurrentSettings, run_id: PathId, wanted: AskLive) -> LiveGame:
    """Begin a live game of a run's agent, or join the one that others watch; it ends when nobody watches it."""
    with db.write() as session:
        # Locked, so that the checkpoint is not thinned out meanwhile, and one game begins.
        job = service.ask(session, settings, find_run(session, run_id, lock=True), wanted)
        bell.ring_after_commit(session, job)
        return service.shown(session, job)


@router.get("/runs/{run_id}/live")
def list_live(db: Db, run: PathRun) -> list[LiveGame]:
    """The live games of a run that are under way."""
    with db.read() as session:
        return service.of_run(session, run)


@router.get("/live/{live_id}")
def read_live(db: Db, live_id: PathId) -> LiveGame:
    """Where a live game stands."""
    with db.read() as session:
        return service.shown(session, service.find_shown(session, live_id, "live"))


@router.post("/live/{live_id}/end")
def end_live(db: Db, live_id: PathId) -> LiveGame:
    """End a live game for all who watch it."""
    with db.write() as session:
        job = service.find_shown(session, live_id, "live", lock=True)
        jobs.cancel(session, job)
        return service.shown(session, job)


@router.post("/games/{slug}/play", status_code=201)
def play_game(db: Db, bell: Bell, settings: CurrentSettings, slug: Slug) -> PlayedGame:
    """Begin an Atari game that people play; it ends when nobody watches it, and nothing is kept of it."""
    with db.write() as session:
        job = playing.ask(session, settings, slug)
        bell.ring_after_commit(session, job)
        return playing.shown(session, job)


@router.get("/games/{slug}/play/{play_id}")
def read_play(db: Db, slug: Slug, play_id: PathId) -> PlayedGame:
    """Where a game that people play stands; it is shown, and takes orders, at the WebSocket /api/v1/live/{id}."""
    with db.read() as session:
        return playing.shown(session, playing.find_play(session, slug, play_id))


@router.post("/games/{slug}/play/{play_id}/end")
def end_play(db: Db, slug: Slug, play_id: PathId) -> PlayedGame:
    """End a game that people play, for all who watch it."""
    with db.write() as session:
        job = playing.find_play(session, slug, play_id, lock=True)
        jobs.cancel(session, job)
        return playing.shown(session, job)
