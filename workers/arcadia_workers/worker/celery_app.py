"""The Celery app and its tasks, which only receive the doorbell."""

from collections.abc import Sequence

from celery import Celery
from kombu.entity import Exchange, Queue

from arcadia_workers.contract.worker_api import LOOK_FOR_JOBS_TASK, LOOK_TASK
from arcadia_workers.worker.supervisor import Supervisor

SOCKET_TIMEOUT_SECONDS = 5.0
HEALTH_CHECK_SECONDS = 15


def make_app(broker_url: str, queues: Sequence[str]) -> Celery:
    """Return an app for these queues that reconnects forever and has a timeout on every call."""
    app = Celery("arcadia", broker=broker_url, set_as_current=False)
    app.conf.update(
        task_serializer="json",
        accept_content=["json"],
        task_ignore_result=True,
        # Acknowledge early: claims decide which worker trains, so messages need no redelivery.
        task_acks_late=False,
        # The default exchange routes by queue name, so it works after Redis has lost its bindings.
        task_queues=[_queue(name) for name in queues],
        worker_prefetch_multiplier=1,
        worker_disable_prefetch=True,
        worker_hijack_root_logger=False,
        worker_enable_remote_control=False,
        worker_cancel_long_running_tasks_on_connection_loss=False,
        broker_connection_retry_on_startup=True,
        broker_connection_max_retries=None,
        broker_transport_options={
            "socket_timeout": SOCKET_TIMEOUT_SECONDS,
            "socket_connect_timeout": SOCKET_TIMEOUT_SECONDS,
            "socket_keepalive": True,
            "health_check_interval": HEALTH_CHECK_SECONDS,
        },
    )
    return app


def _queue(name: str) -> Queue:
    return Queue(name, Exchange(""), routing_key=name)  # type: ignore[no-untyped-call]


def register(app: Celery, training: Supervisor, jobs: Supervisor) -> None:
    """Register the tasks. They claim the best waiting run or job, not the one in the message."""

    @app.task(name=LOOK_TASK, shared=False)  # type: ignore[untyped-decorator]
    def look(run_id: int) -> None:  # noqa: ARG001
        training.work_until_idle()

    @app.task(name=LOOK_FOR_JOBS_TASK, shared=False)  # type: ignore[untyped-decorator]
    def look_for_jobs(job_id: int) -> None:  # noqa: ARG001
        jobs.work_until_idle()
