"""Table of idempotency keys."""

from datetime import datetime

from sqlalchemy import String, Text
from sqlalchemy.orm import Mapped, mapped_column

from backend.database.columns import utc_now
from backend.database.tables.base import Base


class IdempotencyKey(Base):
    """A key of a request that created something, stored in the same transaction."""

    __tablename__ = "idempotency_keys"

    key: Mapped[str] = mapped_column(String(200), primary_key=True)
    # Hash of the method, the path with its query, and the body.
    fingerprint: Mapped[str] = mapped_column(String(64))
    created_at: Mapped[datetime] = mapped_column(default=utc_now, index=True)
    # The response body. Null only inside the transaction that creates the object.
    response: Mapped[str | None] = mapped_column(Text)
