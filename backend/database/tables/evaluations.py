"""Tables of evaluations and their episodes."""

from typing import Any

from sqlalchemy import BigInteger, ForeignKey, Index, String
from sqlalchemy.orm import Mapped, mapped_column

from backend.database.tables.base import Base, Id, Origin


class Evaluation(Base):
    """An evaluation of a checkpoint by a protocol. It has a result when its job is done."""

    __tablename__ = "evaluations"
    __table_args__ = (Index("ix_evaluations_run_id_id", "run_id", "id"), {"sqlite_autoincrement": True})

    id: Mapped[int] = mapped_column(Id, primary_key=True)
    run_id: Mapped[int] = mapped_column(ForeignKey("runs.id", ondelete="CASCADE"))
    job_id: Mapped[int] = mapped_column(ForeignKey("jobs.id", ondelete="CASCADE"), unique=True)
    checkpoint_id: Mapped[int] = mapped_column(ForeignKey("checkpoints.id", ondelete="CASCADE"), index=True)
    step: Mapped[int] = mapped_column(BigInteger)
    frames: Mapped[int] = mapped_column(BigInteger)
    sha256: Mapped[str] = mapped_column(String(64))
    protocol: Mapped[str] = mapped_column(String(50))
    acting: Mapped[dict[str, Any]]
    seed: Mapped[int] = mapped_column(BigInteger)
    origin: Mapped[Origin]

    # The start set, with a copy of its description, since it may be deleted after the evaluation.
    start_set_id: Mapped[int | None] = mapped_column(BigInteger)
    starts: Mapped[dict[str, Any] | None]

    # The result, as contract.protocols.EvaluationDocument, with a copy of its mean to sort by.
    document: Mapped[dict[str, Any] | None]
    mean: Mapped[float | None]


class EvaluationEpisode(Base):
    """A finished episode of a running evaluation. The final document contains all episodes."""

    __tablename__ = "evaluation_episodes"

    evaluation_id: Mapped[int] = mapped_column(ForeignKey("evaluations.id", ondelete="CASCADE"), primary_key=True)
    number: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    score: Mapped[float]
    frames: Mapped[int] = mapped_column(BigInteger)
    frames_before: Mapped[int] = mapped_column(BigInteger)
    length: Mapped[int] = mapped_column(BigInteger)
    ended: Mapped[str] = mapped_column(String(16))
