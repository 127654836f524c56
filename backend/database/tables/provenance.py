"""Table of the large parts of provenances."""

from sqlalchemy import String, Text
from sqlalchemy.orm import Mapped, mapped_column

from backend.database.tables.base import Base


class ProvenanceDocument(Base):
    """A diff, or a list of packages as JSON. Attempts with the same content share it."""

    __tablename__ = "provenance_documents"

    sha256: Mapped[str] = mapped_column(String(64), primary_key=True)
    content: Mapped[str] = mapped_column(Text)
