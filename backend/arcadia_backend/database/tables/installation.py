"""Tables of the installation: its identity, idempotency keys and workers."""

from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, String, Text
from sqlalchemy.orm import Mapped, mapped_column

from arcadia_backend.database.columns import utc_now
from arcadia_backend.database.tables.base import Base
from arcadia_workers.contract.worker_api import WORKERS, QueueName, WorkerDesired


class Installation(Base):
    """The identity of this installation, in a single row. Its files folder has the same identity."""

    __tablename__ = "installation"

    id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    identity: Mapped[str] = mapped_column(String(32))
    # Where runs train by default. Null means on workers.
    executor: Mapped[str | None] = mapped_column(String(16))


class IdempotencyKey(Base):
    """A key of a request that created something, stored in the same transaction."""

    __tablename__ = "idempotency_keys"

    key: Mapped[str] = mapped_column(String(200), primary_key=True)
    # Hash of the method, the path with its query, and the body.
    fingerprint: Mapped[str] = mapped_column(String(64))
    created_at: Mapped[datetime] = mapped_column(default=utc_now, index=True)
    # The response body. Null only inside the transaction that creates the object.
    response: Mapped[str | None] = mapped_column(Text)


class Worker(Base):
    """A worker as it last reported itself."""

    __tablename__ = "workers"

    name: Mapped[str] = mapped_column(String(100), primary_key=True)
    host: Mapped[str] = mapped_column(String(255))
    queue: Mapped[QueueName]
    pid: Mapped[int]
    version: Mapped[str] = mapped_column(String(50))
    device: Mapped[str] = mapped_column(String(255))
    cores: Mapped[int]
    memory_bytes: Mapped[int] = mapped_column(BigInteger)
    run_id: Mapped[int | None] = mapped_column(BigInteger)
    # Whether it takes new work, or also gives back what it holds. People choose it.
    desired: Mapped[WorkerDesired] = mapped_column(default="work", server_default="work")
    # The scheduler whose job it is. Such a worker trains only one run.
    executor: Mapped[str] = mapped_column(String(16), default=WORKERS, server_default=WORKERS)
    job_slots: Mapped[int] = mapped_column(default=0, server_default="0")
    # The free megabytes of its disk if that is almost full.
    low_disk_megabytes: Mapped[int | None]
    last_seen_at: Mapped[datetime] = mapped_column(default=utc_now)
    # As worker_api.ReportedPlugin.
    plugins: Mapped[list[dict[str, Any]]] = mapped_column(default=list, server_default="[]")
    # As worker_api.ReportedGpu.
    gpus: Mapped[list[dict[str, Any]]] = mapped_column(default=list, server_default="[]")
    # Labels of its host. People choose them.
    labels: Mapped[list[str]] = mapped_column(default=list, server_default="[]")
    # The name that people gave its host. Empty without one.
    host_name: Mapped[str] = mapped_column(String(100), default="", server_default="")
    left: Mapped[bool] = mapped_column(default=False)
