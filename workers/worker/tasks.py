"""The Celery tasks: the doorbells."""

from celery import Celery

from workers.contract.worker_api import LOOK_FOR_JOBS_TASK, LOOK_TASK
from workers.worker.supervisor import Supervisor


def register(app: Celery, training: Supervisor, jobs: Supervisor) -> None:
    """Have the app look for what waits when a doorbell rings; the worker claims the best, not what the bell names."""

    @app.task(name=LOOK_TASK, shared=False)  # type: ignore[untyped-decorator]
    def look(run_id: int) -> None:  # noqa: ARG001
        training.look()

    @app.task(name=LOOK_FOR_JOBS_TASK, shared=False)  # type: ignore[untyped-decorator]
    def look_for_jobs(job_id: int) -> None:  # noqa: ARG001
        jobs.look()
