"""Table of workers."""

from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, String
from sqlalchemy.orm import Mapped, mapped_column

from backend.database.columns import utc_now
from backend.database.tables.base import Base
from workers.contract.worker_api import QueueName


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
    job_slots: Mapped[int] = mapped_column(default=0, server_default="0")
    last_seen_at: Mapped[datetime] = mapped_column(default=utc_now)
    # As worker_api.ReportedPlugin.
    plugins: Mapped[list[dict[str, Any]]] = mapped_column(default=list, server_default="[]")
    left: Mapped[bool] = mapped_column(default=False)
