"""Table of sign-in sessions."""

from datetime import datetime

from sqlalchemy import String
from sqlalchemy.orm import Mapped, mapped_column

from backend.database.tables.base import Base


class SignInSession(Base):
    """A session of a signed-in browser. backend/web/sessions.py explains the proof."""

    __tablename__ = "signed_in"

    proof: Mapped[str] = mapped_column(String(64), primary_key=True)
    ends_at: Mapped[datetime]
