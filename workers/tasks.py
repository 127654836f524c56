"""The one task: a doorbell."""

from celery import Celery

from workers.supervisor import Supervisor


def register(app: Celery, supervisor: Supervisor) -> None:
    """Have the app answer the doorbell with a look at what waits."""

    @app.task(name="workers.look", shared=False)  # type: ignore[untyped-decorator]
    def look(run_id: int) -> None:  # noqa: ARG001 - whoever hears of one run takes the best that waits
        supervisor.look()
