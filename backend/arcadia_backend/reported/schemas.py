"""Requests and responses of reported runs and their media.

Logging must never block a script, so long texts are cut and unknown fields are ignored.
"""

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, SkipValidation, StringConstraints

from arcadia_backend.database.tables import MediaKind
from arcadia_backend.reported.events import MAX_NOTES, LoggedEvent
from arcadia_workers.contract.values import LARGEST, STORABLE
from arcadia_workers.contract.worker_api import MOST_EVENTS, Desired

Key = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$")]


def _cut(length: int) -> AfterValidator:
    return AfterValidator(lambda text: text.strip()[:length].strip())


LongText = Annotated[str, STORABLE]


class _ScriptRequest(BaseModel):
    model_config = ConfigDict(extra="ignore")


class ReportRun(_ScriptRequest):
    """A run that a script logs, and the writer that logs it."""

    key: Key = Field(description="Id of the run, chosen by the client. A script resumes the run by it.")
    writer: Key = Field(description="Id of the process that logs. Its events are numbered from 1.")
    joins: bool = Field(
        default=False,
        description="True if the writer logs beside the others, as a forked process. Its end does not end the run.",
    )
    resume: Literal["allow", "must", "never"] = Field(
        default="allow", description="Whether a run with this key must exist, or must not."
    )
    name: Annotated[LongText, _cut(200)] | None = None
    project: Annotated[LongText, _cut(100)] | None = Field(
        default=None, description="Name of the project, which is created if there is none. Default: Main."
    )
    method: Annotated[LongText, _cut(100)] | None = Field(default=None, description="Any text, such as PPO.")
    env: Annotated[LongText, _cut(100)] | None = Field(default=None, description="Any text, such as CartPole-v1.")
    config: dict[str, Any] = {}
    tags: list[LongText] = []
    notes: Annotated[LongText, _cut(MAX_NOTES)] | None = None
    total_steps: Annotated[int, Field(ge=1, le=LARGEST)] | None = None
    origin: Literal["reported", "imported"] = "reported"
    origin_label: Annotated[LongText, _cut(50)] | None = Field(
        default=None, description="Program that logs the run, such as Python or TensorBoard, as pages show it."
    )
    host: Annotated[LongText, _cut(255)] | None = None
    command: Annotated[list[LongText], AfterValidator(lambda parts: parts[:1_000])] | None = None
    started_at: datetime | None = None


class ScriptAnswer(BaseModel):
    """The last stored event of a writer, and what its script should do."""

    acknowledged: int = Field(description="Number of the writer's last stored event.")
    conflicts: int = Field(
        description="How many events of the writer had the number of another stored event. They are stored too."
    )
    desired: Desired


class ReportedRun(ScriptAnswer):
    """A reported run, and the attempt of its writer."""

    run_id: int
    attempt: int
    path: str = Field(description="Path of the run's page.")


class LoggedEvents(_ScriptRequest):
    """Events of one writer, in order. An empty list only says that the script is alive."""

    writer: Key
    # Validated in backend/arcadia_backend/reported/ingest.py, which is faster and leaves out what it cannot store.
    events: Annotated[list[SkipValidation[LoggedEvent]], Field(max_length=MOST_EVENTS)]
    killed_at: float | None = Field(
        default=None,
        description="Unix time at which the script ended, if it ended without an `end` event and these are its last "
        "events. The run fails. It continues if more events of the writer arrive.",
    )


class MediaItem(BaseModel):
    """An image, a video, a histogram or a table that a run logged."""

    id: int
    name: str
    kind: MediaKind
    step: int
    time: datetime
    attempt: int
    file_id: int | None = Field(description="The file of an image or a video.")
    media_type: str | None = Field(description="Media type of the file, such as image/png.")
    data: dict[str, Any] | None = Field(
        description="A histogram has edges and counts, a table columns and rows. NaN and infinities are strings."
    )
    caption: str | None


class MediaPage(BaseModel):
    """One page of media, in the order of their steps."""

    items: list[MediaItem]
    next_cursor: str | None


class MediaSeries(BaseModel):
    """All media of one name and kind."""

    name: str
    kind: MediaKind
    count: int
    first_step: int
    last_step: int
