"""The queue of jobs: its order, and why a job still waits."""

from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy import case, select
from sqlalchemy.orm import Session

from backend.database.columns import utc_now
from backend.database.tables import Job, Worker
from backend.workers.plugins import missing_reason
from backend.workers.presence import connected_workers, count_free_job_slots
from workers.contract.worker_api import JobKind

# A free worker that has not claimed a job after this time is probably slowed down by other work.
EXPECTED_CLAIM_TIME = timedelta(seconds=15)
LIVE_GAMES: tuple[JobKind, ...] = ("live", "play")
# A person waits for live games, futures and start points, so they go first. Calibrations take minutes, so they go last.
_PRIORITY = case((Job.kind.in_([*LIVE_GAMES, "futures", "start_points"]), 0), (Job.kind == "calibration", 2), else_=1)
ORDER = (_PRIORITY, Job.created_at, Job.id)


@dataclass(frozen=True)
class JobQueue:
    """The ids of the waiting jobs in order, the number of free job slots, and the workers that take jobs.

    The number is None if no worker takes jobs.
    """

    free_slots: int | None
    waiting: tuple[int, ...]
    workers: tuple[Worker, ...] = ()

    def wait_reason(self, job: Job) -> str:
        """Return a sentence that says what a job waits for."""
        if self.free_slots is None:
            return "No worker that takes jobs is connected: start one with `arcadia worker --jobs 1`."
        if missing := missing_reason(self.workers, job.needed_plugins, "worker that takes jobs"):
            return missing
        ahead = self.waiting.index(job.id) if job.id in self.waiting else 0
        if ahead < self.free_slots and utc_now() - job.created_at < EXPECTED_CLAIM_TIME:
            return "A worker is about to take it."
        if ahead < self.free_slots:
            return "Next in the queue. A free worker has not taken it yet. A busy host may need minutes."
        if not ahead:
            return "All workers are busy with other jobs. It starts when one of them is done."
        others = "1 other job is" if ahead == 1 else f"{ahead} other jobs are"
        return f"All workers are busy with other jobs, and {others} ahead of it in the queue."


def read_queue(session: Session) -> JobQueue:
    """Return the current job queue."""
    waiting = session.scalars(select(Job.id).where(Job.state == "queued").order_by(*ORDER)).all()
    workers = connected_workers(session, utc_now())
    takers = tuple(worker for worker in workers if worker.job_slots)
    return JobQueue(count_free_job_slots(session, takers), tuple(waiting), takers)
