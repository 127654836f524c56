"""Tables of alerts, their rules, and the channels that deliver them."""

from datetime import datetime

from sqlalchemy import ForeignKey, Index, String, Text, select
from sqlalchemy.orm import Mapped, column_property, mapped_column

from arcadia_backend.database.columns import utc_now
from arcadia_backend.database.tables.base import AlertKind, Base, ChannelKind, DeliveryState, Id, InProject
from arcadia_backend.database.tables.workspace import Project
from arcadia_workers.contract.events import LogLevel


class Alert(Base):
    """Something that a person should know, such as a failed run."""

    __tablename__ = "alerts"
    __table_args__ = ({"sqlite_autoincrement": True},)

    id: Mapped[int] = mapped_column(Id, primary_key=True)
    # Of a condition that is checked repeatedly, so that it raises one alert. Cleared when a lasting condition ends.
    key: Mapped[str | None] = mapped_column(String(200), unique=True)
    kind: Mapped[AlertKind]
    level: Mapped[LogLevel]
    title: Mapped[str] = mapped_column(String(300))
    text: Mapped[str] = mapped_column(Text)
    run_id: Mapped[int | None] = mapped_column(ForeignKey("runs.id", ondelete="SET NULL"), index=True)
    study_id: Mapped[int | None] = mapped_column(ForeignKey("studies.id", ondelete="SET NULL"), index=True)
    created_at: Mapped[datetime] = mapped_column(default=utc_now, index=True)
    read_at: Mapped[datetime | None]
    # When a lasting condition ended, such as a full disk.
    ended_at: Mapped[datetime | None]


class AlertRule(Base):
    """A change of the default rule of a kind of alert: switched off, another threshold, or whether it rings."""

    __tablename__ = "alert_rules"

    kind: Mapped[AlertKind] = mapped_column(primary_key=True)
    enabled: Mapped[bool]
    threshold: Mapped[float | None]
    # Empty for the default of the kind.
    rings: Mapped[bool | None]


class ScoreRule(InProject, Base):
    """A mean return that raises an alert when a run of a project passes it, in one environment or in all."""

    __tablename__ = "score_rules"
    __table_args__ = ({"sqlite_autoincrement": True},)

    id: Mapped[int] = mapped_column(Id, primary_key=True)
    project_id: Mapped[int] = mapped_column(Id, ForeignKey("projects.id", ondelete="CASCADE"), index=True)
    project: Mapped[str] = column_property(select(Project.name).where(Project.id == project_id).scalar_subquery())
    env: Mapped[str | None] = mapped_column(String(100))
    score: Mapped[float]
    created_at: Mapped[datetime] = mapped_column(default=utc_now)


class AlertChannel(Base):
    """A place that alerts are sent to. Its address and its secret never leave the server."""

    __tablename__ = "alert_channels"
    __table_args__ = ({"sqlite_autoincrement": True},)

    id: Mapped[int] = mapped_column(Id, primary_key=True)
    kind: Mapped[ChannelKind]
    name: Mapped[str] = mapped_column(String(100))
    url: Mapped[str] = mapped_column(Text)
    # Signs the requests of a webhook.
    secret: Mapped[str | None] = mapped_column(String(100))
    # The kinds of alerts that it gets. None means all.
    kinds: Mapped[list[str] | None]
    enabled: Mapped[bool] = mapped_column(default=True)
    created_at: Mapped[datetime] = mapped_column(default=utc_now)


class AlertDelivery(Base):
    """An alert on its way to a channel."""

    __tablename__ = "alert_deliveries"
    __table_args__ = (
        Index("ix_alert_deliveries_due", "state", "next_try_at"),
        {"sqlite_autoincrement": True},
    )

    id: Mapped[int] = mapped_column(Id, primary_key=True)
    # Sent with every try, so that a receiver recognizes a repetition.
    key: Mapped[str] = mapped_column(String(32), unique=True)
    alert_id: Mapped[int] = mapped_column(ForeignKey("alerts.id", ondelete="CASCADE"), index=True)
    channel_id: Mapped[int] = mapped_column(ForeignKey("alert_channels.id", ondelete="CASCADE"), index=True)
    state: Mapped[DeliveryState] = mapped_column(default="waiting")
    tries: Mapped[int] = mapped_column(default=0)
    created_at: Mapped[datetime] = mapped_column(default=utc_now)
    # Also the time until which a try may last. Another one follows if the backend died during it.
    next_try_at: Mapped[datetime | None] = mapped_column(default=utc_now)
    ended_at: Mapped[datetime | None]
    # Of the last try: the status of the response, its beginning, and why the try failed.
    status: Mapped[int | None]
    response: Mapped[str | None] = mapped_column(Text)
    error: Mapped[str | None] = mapped_column(Text)
