"""Base class of all tables, and shared column types."""

from datetime import datetime
from typing import Any, Literal

from sqlalchemy import BigInteger, Index, Integer, MetaData, String, text
from sqlalchemy.orm import DeclarativeBase, Mapped

from arcadia_backend.database.columns import Json, Number, Numbers, UtcDateTime
from arcadia_backend.database.scope import current
from arcadia_workers.contract.events import FileKind, LogLevel
from arcadia_workers.contract.jobs import JobKind
from arcadia_workers.contract.protocols.protocol import StartPlayer
from arcadia_workers.contract.worker_api import (
    Desired,
    JobDesired,
    JobState,
    Outcome,
    QueueName,
    State,
)

# Who requested an evaluation: the run's schedule or a user.
Origin = Literal["schedule", "asked"]
StudyState = Literal["running", "paused", "stopped", "finished"]
# A bulk action is done when every run is done or skipped.
BulkState = Literal["running", "done", "cancelled"]
# How a person's game ended. It may be kept before its end.
GameEnd = Literal["over", "cut off", "unfinished"]

# A trainer of Arcadia trained it, a script reported it, it was read from files of another tool, or from an agent file.
RunOrigin = Literal["trained", "reported", "imported", "agent"]
MediaKind = Literal["image", "video", "histogram", "table"]
# Workers upload the other kinds.
StoredKind = Literal[FileKind, "media", "artifact"]
ArtifactRole = Literal["made", "used"]

AlertRuleKind = Literal[
    "run_finished",
    "run_failed",
    "run_diverged",
    "run_stalled",
    "score_passed",
    "study_verdict",
    "no_worker",
    "disk_almost_full",
    "script",
]
# A user sends a test alert to one channel.
AlertKind = Literal[AlertRuleKind, "test"]
ChannelKind = Literal["webhook", "apprise"]
DeliveryState = Literal["waiting", "delivered", "failed"]
# The use of a one-time link: the first administrator, a new person, or a new password.
LinkPurpose = Literal["first", "invite", "reset", "join"]
# A login of the command line is confirmed or refused in a browser. Then a token is collected once.
LoginState = Literal["waiting", "confirmed", "refused", "used"]
# A submission is cancelling until its scheduler confirms the end of the job.
SubmissionState = Literal["submitting", "waiting", "running", "cancelling", "ended"]


def is_editable(project_id: int | None) -> bool:
    """Return True if the caller may change the content of a project."""
    return current().can_edit(project_id)


class InProject:
    """Mixin of tables whose rows have a project."""

    project_id: Mapped[int]

    @property
    def may_edit(self) -> bool:
        """True if the caller may change or delete the row."""
        return is_editable(self.project_id)


# SQLite only assigns increasing ids to a column that is declared exactly INTEGER.
Id = BigInteger().with_variant(Integer(), "sqlite")


def unique_where(name: str, *columns: str, where: str) -> Index:
    """Return a unique index over the rows that match a condition."""
    return Index(name, *columns, unique=True, sqlite_where=text(where), postgresql_where=text(where))


class Base(DeclarativeBase):
    """Base class of all tables. Constraints have the same names on both databases, for use in migrations."""

    metadata = MetaData(
        naming_convention={
            "ix": "ix_%(table_name)s_%(column_0_N_name)s",
            "uq": "uq_%(table_name)s_%(column_0_N_name)s",
            "fk": "fk_%(table_name)s_%(column_0_N_name)s",
            "pk": "pk_%(table_name)s",
        }
    )
    type_annotation_map = {  # noqa: RUF012 - SQLAlchemy reads it as a plain class attribute
        datetime: UtcDateTime,
        float: Number,
        dict[str, Any]: Json,
        dict[str, str]: Json,
        list[dict[str, Any]]: Json,
        list[str]: Json,
        list[int]: Json,
        list[list[Any]]: Json,
        list[float]: Numbers,
        State: String(16),
        Desired: String(16),
        QueueName: String(8),
        StoredKind: String(16),
        LogLevel: String(16),
        Outcome: String(16),
        JobKind: String(16),
        JobState: String(16),
        JobDesired: String(16),
        Origin: String(16),
        StartPlayer: String(8),
        StudyState: String(16),
        BulkState: String(16),
        GameEnd: String(16),
        RunOrigin: String(16),
        MediaKind: String(16),
        ArtifactRole: String(8),
        AlertKind: String(24),
        ChannelKind: String(16),
        DeliveryState: String(16),
        LinkPurpose: String(8),
        LoginState: String(12),
        SubmissionState: String(16),
    }
