"""Live games as users ask for them; a user who asks for one that is being played joins it."""

from collections.abc import Sequence

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from backend.checkpoints.keeping import resumable
from backend.checkpoints.wanted import wanted_checkpoint
from backend.config import Settings
from backend.database.tables import Checkpoint, Errand, Run
from backend.errands import service as errands
from backend.errands.queue import WATCHED, line
from backend.errors import Conflict, NotFound
from backend.live_games.schemas import AskLive, LiveGame
from backend.web.lookup import find_errand
from workers.contract.live import LiveParameters
from workers.contract.worker_api import ErrandKind


def ask(session: Session, settings: Settings, run: Run, wanted: AskLive) -> Errand:
    """The run's live game of that checkpoint, begun if there is none; the run is locked."""
    follows = wanted.checkpoint == "newest"
    checkpoint = wanted_checkpoint(session, run, wanted.checkpoint)
    under_way = [errand for errand in _of_run(session, run) if errand.state in errands.UNDER_WAY]
    for errand in under_way:
        same = errand.parameters == {"follows": True} if follows else errand.checkpoint_id == checkpoint.id
        if same and errand.parameters["follows"] == follows and errand.desired == "run":
            return errand
    check_room(session, settings)
    _forget_ended(session, run)
    told = LiveParameters(follows=follows)
    return errands.ask(session, run, checkpoint, "live", told.model_dump(mode="json"), total=1)


def find_shown(session: Session, number: int, *kinds: ErrandKind, lock: bool = False) -> Errand:
    """A game's errand, or a problem that says there is none; a locked one has its run locked first, if it has one."""
    if session.scalar(select(Errand.kind).where(Errand.id == number)) not in kinds:
        raise NotFound(f"There is no live game {number}.")
    return find_errand(session, number, lock=lock)


def shown(session: Session, errand: Errand) -> LiveGame:
    """A live game as the API shows it."""
    queue = line(session) if errand.state == "queued" else None
    same = ("id", "run_id", "state", "traceback", "checkpoint_id", "worker", "created_at", "started_at")
    return LiveGame.model_validate(
        {name: getattr(errand, name) for name in same}
        | {
            "reason": errands.reason(errand, queue),
            "step": session.get_one(Checkpoint, errand.checkpoint_id).step,
            "follows": LiveParameters.model_validate(errand.parameters).follows,
        }
    )


def of_run(session: Session, run: Run) -> list[LiveGame]:
    """A run's live games that are under way."""
    return [shown(session, errand) for errand in _of_run(session, run) if errand.state in errands.UNDER_WAY]


def newer(session: Session, errand: Errand, than: int | None) -> Checkpoint | None:
    """The run's newest checkpoint, if it is another than the one that is played and the game follows the run."""
    if errand.kind != "live" or not LiveParameters.model_validate(errand.parameters).follows:
        return None
    newest = next(iter(resumable(session, session.get_one(Run, errand.run_id))), None)
    return newest if newest is not None and newest.id != than else None


def _of_run(session: Session, run: Run) -> Sequence[Errand]:
    query = select(Errand).where(Errand.run_id == run.id, Errand.kind == "live").order_by(Errand.id)
    return session.scalars(query).all()


def check_room(session: Session, settings: Settings) -> None:
    """Refuse one live game more than are allowed; games of agents and of people count alike."""
    query = select(func.count()).where(Errand.kind.in_(WATCHED), Errand.state.in_(errands.UNDER_WAY))
    if (session.scalar(query) or 0) >= settings.max_live_games:
        one = settings.max_live_games == 1
        games = "live game is being played or waits" if one else "live games are being played or wait"
        raise Conflict(
            f"{settings.max_live_games} {games} for a worker already, the most allowed here "
            "(ARCADIA_MAX_LIVE_GAMES). Watch one of them, or wait until one is over."
        )


def _forget_ended(session: Session, run: Run) -> None:
    """Remove the run's earlier live games: nothing is kept of them."""
    for errand in _of_run(session, run):
        if errand.state not in errands.UNDER_WAY:
            errands.remove(session, errand)
