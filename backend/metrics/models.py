"""Tables of the metric store: series, chunks of points, pages of summaries, and clocks."""

from sqlalchemy import BigInteger, ForeignKey, LargeBinary, String, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from backend.database.tables import Base, Id


class MetricSeries(Base):
    """One metric of one run. Its statistics leave out superseded points."""

    __tablename__ = "metric_series"
    __table_args__ = (UniqueConstraint("run_id", "name"),)

    id: Mapped[int] = mapped_column(Id, primary_key=True)
    run_id: Mapped[int] = mapped_column(ForeignKey("runs.id", ondelete="CASCADE"))
    name: Mapped[str] = mapped_column(String(200))

    count: Mapped[int] = mapped_column(BigInteger, default=0)
    last: Mapped[float | None]
    min: Mapped[float | None]
    max: Mapped[float | None]
    # Mean and values of the last 100 points.
    recent_mean: Mapped[float | None]
    recent: Mapped[bytes] = mapped_column(LargeBinary, default=b"")

    # Stored points and chunks, and how many of the points are in an unfinished last chunk.
    stored: Mapped[int] = mapped_column(BigInteger, default=0)
    chunks: Mapped[int] = mapped_column(default=0)
    tail: Mapped[int] = mapped_column(default=0)


class MetricChunk(Base):
    """Up to 256 points of one attempt, packed."""

    __tablename__ = "metric_chunks"

    series_id: Mapped[int] = mapped_column(ForeignKey("metric_series.id", ondelete="CASCADE"), primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True)
    attempt: Mapped[int]
    data: Mapped[bytes] = mapped_column(LargeBinary)


class MetricPage(Base):
    """Summaries of up to 64 finished chunks, packed, in the order of the chunks."""

    __tablename__ = "metric_pages"

    series_id: Mapped[int] = mapped_column(ForeignKey("metric_series.id", ondelete="CASCADE"), primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True)
    data: Mapped[bytes] = mapped_column(LargeBinary)


class MetricClock(Base):
    """The first and last event time of an attempt, in Unix seconds by its trainer's clock."""

    __tablename__ = "metric_clocks"

    run_id: Mapped[int] = mapped_column(ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True)
    attempt: Mapped[int] = mapped_column(primary_key=True)
    first: Mapped[float]
    last: Mapped[float]
