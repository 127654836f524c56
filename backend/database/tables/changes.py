"""Table of the changes of runs' configurations."""

from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, ForeignKey, String
from sqlalchemy.orm import Mapped, mapped_column

from backend.database.columns import utc_now
from backend.database.tables.base import Base


class RunChange(Base):
    """A change of fields of a run's configuration. It waits until a trainer reports that it was applied."""

    __tablename__ = "run_changes"

    run_id: Mapped[int] = mapped_column(ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    fields: Mapped[dict[str, Any]]
    # The values before: as expected at the request, then as the trainer reported them.
    previous: Mapped[dict[str, Any]]
    requested_at: Mapped[datetime] = mapped_column(default=utc_now)
    # As the request claims, so it proves nothing.
    requested_by: Mapped[str | None] = mapped_column(String(100))
    applied_at: Mapped[datetime | None]
    applied_step: Mapped[int | None] = mapped_column(BigInteger)
    attempt: Mapped[int | None]
