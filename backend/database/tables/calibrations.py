"""Table of calibrations."""

from typing import Any

from sqlalchemy import BigInteger, ForeignKey, Index, String
from sqlalchemy.orm import Mapped, mapped_column

from backend.database.tables.base import Base, Id, Origin


class Calibration(Base):
    """A calibration of a checkpoint's critic. It has a result when its job is done."""

    __tablename__ = "calibrations"
    __table_args__ = (Index("ix_calibrations_run_id_id", "run_id", "id"), {"sqlite_autoincrement": True})

    id: Mapped[int] = mapped_column(Id, primary_key=True)
    run_id: Mapped[int] = mapped_column(ForeignKey("runs.id", ondelete="CASCADE"))
    job_id: Mapped[int] = mapped_column(ForeignKey("jobs.id", ondelete="CASCADE"), unique=True)
    checkpoint_id: Mapped[int] = mapped_column(ForeignKey("checkpoints.id", ondelete="CASCADE"), index=True)
    step: Mapped[int] = mapped_column(BigInteger)
    frames: Mapped[int] = mapped_column(BigInteger)
    sha256: Mapped[str] = mapped_column(String(64))
    protocol: Mapped[str] = mapped_column(String(50))
    seed: Mapped[int] = mapped_column(BigInteger)
    origin: Mapped[Origin]
    # As contract.calibrations.CalibrationOptions and CalibrationDocument.
    options: Mapped[dict[str, Any]]
    document: Mapped[dict[str, Any] | None]
