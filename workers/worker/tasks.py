"""Celery tasks that the doorbell starts."""

from celery import Celery

from workers.contract.worker_api import LOOK_FOR_JOBS_TASK, LOOK_TASK
from workers.worker.supervisor import Supervisor


def register(app: Celery, training: Supervisor, jobs: Supervisor) -> None:
    """Register the tasks. They claim the best waiting run or job, not the one in the message."""

    @app.task(name=LOOK_TASK, shared=False)  # type: ignore[untyped-decorator]
    def look(run_id: int) -> None:  # noqa: ARG001
        training.work_until_idle()

    @app.task(name=LOOK_FOR_JOBS_TASK, shared=False)  # type: ignore[untyped-decorator]
    def look_for_jobs(job_id: int) -> None:  # noqa: ARG001
        jobs.work_until_idle()
