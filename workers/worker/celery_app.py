"""The Celery app, which only receives the doorbell."""

from collections.abc import Sequence

from celery import Celery
from kombu.entity import Exchange, Queue

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
