"""The line in which jobs wait for a worker."""

from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy import case, select
from sqlalchemy.orm import Session

from backend.database.columns import utc_now
from backend.database.tables import Job
from backend.workers.presence import places_for_jobs
from workers.contract.worker_api import JobKind

# A free worker that has not taken a job after this long is held up.
SOON = timedelta(seconds=15)
# Somebody sits before these and waits; all else is done in the order in which it was asked for.
WATCHED: tuple[JobKind, ...] = ("live", "play")
ORDER = (case((Job.kind.in_(WATCHED), 0), else_=1), Job.created_at, Job.id)


@dataclass(frozen=True)
class Line:
    """How many jobs could begin now, None where no worker takes any, and the waiting ones in their order."""

    free: int | None
    waiting: tuple[int, ...]

    def words(self, job: Job) -> str:
        """Say in a sentence what one of them waits for."""
        if self.free is None:
            return "No worker that takes jobs is connected: start one with `arcadia worker --jobs 1`."
        before = self.waiting.index(job.id) if job.id in self.waiting else 0
        if before < self.free and utc_now() - job.created_at < SOON:
            return "A worker is about to take it."
        if before < self.free:
            return "Next in line. A free worker has not taken it yet: a busy host may need minutes."
        if not before:
            return "Every worker is busy with other jobs; it begins once one of them is done."
        others = "another one" if before == 1 else f"{before} others"
        return f"Every worker is busy with other jobs, and {others} will be taken before it."


def line(session: Session) -> Line:
    """Look who waits, and for how many there is a place."""
    waiting = session.scalars(select(Job.id).where(Job.state == "queued").order_by(*ORDER)).all()
    return Line(places_for_jobs(session), tuple(waiting))
