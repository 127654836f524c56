"""Table of sign-in sessions."""

from datetime import datetime

from sqlalchemy import String
from sqlalchemy.orm import Mapped, mapped_column

from backend.database.tables.base import Base


class SignInSession(Base):
    """A cookie that is let in; backend/web/sessions.py says what the proof is."""

    __tablename__ = "signed_in"

    proof: Mapped[str] = mapped_column(String(64), primary_key=True)
    ends_at: Mapped[datetime]
