"""Games that people play, as users ask for them: each is an errand of no run."""

from collections.abc import Sequence

from sqlalchemy import select
from sqlalchemy.orm import Session

from backend.config import Settings
from backend.database.tables import Errand
from backend.errands import service as errands
from backend.errands.queue import line
from backend.errors import NotFound
from backend.games.catalogue import find_game
from backend.live_games.schemas import PlayedGame
from backend.live_games.service import check_room, find_shown
from workers.contract.live import PlayParameters


def ask(session: Session, settings: Settings, slug: str) -> Errand:
    """Begin a game that people play."""
    check_room(session, settings)
    told = PlayParameters(env=find_game(slug).id).model_dump(mode="json")
    for earlier in _of_people(session):
        # Nothing is kept of them.
        if earlier.parameters == told and earlier.state not in errands.UNDER_WAY:
            errands.remove(session, earlier)
    return errands.ask(session, None, None, "play", told, total=1)


def find_play(session: Session, slug: str, number: int, *, lock: bool = False) -> Errand:
    """The errand of a game that people play, or a problem that says there is none."""
    errand = find_shown(session, number, "play", lock=lock)
    if errand.parameters["env"] != find_game(slug).id:
        raise NotFound(f"Live game {number} is of {errand.parameters['env']}.")
    return errand


def shown(session: Session, errand: Errand) -> PlayedGame:
    """A game that people play, as the API shows it."""
    queue = line(session) if errand.state == "queued" else None
    same = ("id", "state", "traceback", "worker", "created_at", "started_at")
    told = {name: getattr(errand, name) for name in same}
    return PlayedGame.model_validate(told | {"env": errand.parameters["env"], "reason": errands.reason(errand, queue)})


def _of_people(session: Session) -> Sequence[Errand]:
    return session.scalars(select(Errand).where(Errand.kind == "play").order_by(Errand.id)).all()
