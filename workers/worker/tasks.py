"""The one Celery task: the doorbell."""

from celery import Celery

from workers.contract.worker_api import LOOK_TASK
from workers.worker.supervisor import Supervisor


def register(app: Celery, supervisor: Supervisor) -> None:
    """Have the app look for waiting runs when the doorbell rings."""

    @app.task(name=LOOK_TASK, shared=False)  # type: ignore[untyped-decorator]
    def look(run_id: int) -> None:  # noqa: ARG001 - the worker claims the best waiting run, not this one
        supervisor.look()
