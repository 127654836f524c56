"""The line in which errands wait for a worker."""

from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy import case, select
from sqlalchemy.orm import Session

from backend.database.columns import utc_now
from backend.database.tables import Errand
from backend.workers.presence import places_for_errands
from workers.contract.worker_api import ErrandKind

# A free worker that has not taken an errand after this long is held up.
SOON = timedelta(seconds=15)
# Somebody sits before these and waits; all else is done in the order in which it was asked for.
WATCHED: tuple[ErrandKind, ...] = ("live", "play")
ORDER = (case((Errand.kind.in_(WATCHED), 0), else_=1), Errand.created_at, Errand.id)


@dataclass(frozen=True)
class Line:
    """How many errands could begin now, None where no worker takes any, and the waiting ones in their order."""

    free: int | None
    waiting: tuple[int, ...]

    def words(self, errand: Errand) -> str:
        """Say in a sentence what one of them waits for."""
        if self.free is None:
            return "No worker that takes errands is connected: start one with `arcadia worker --errands 1`."
        before = self.waiting.index(errand.id) if errand.id in self.waiting else 0
        if before < self.free and utc_now() - errand.created_at < SOON:
            return "A worker is about to take it."
        if before < self.free:
            return "Next in line. A free worker has not taken it yet: a busy host may need minutes."
        if not before:
            return "Every worker is busy with other errands; it begins once one of them is done."
        others = "another one" if before == 1 else f"{before} others"
        return f"Every worker is busy with other errands, and {others} will be taken before it."


def line(session: Session) -> Line:
    """Look who waits, and for how many there is a place."""
    waiting = session.scalars(select(Errand.id).where(Errand.state == "queued").order_by(*ORDER)).all()
    return Line(places_for_errands(session), tuple(waiting))
