"""What the runs API takes and gives."""

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from backend.models import Desired, QueueName, State
from workers.trainer.events import RolePlace

Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)]
Tag = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=50)]
Tags = Annotated[list[Tag], Field(max_length=20)]
Notes = Annotated[str, Field(max_length=20_000)]
Priority = Annotated[int, Field(ge=-1_000, le=1_000, description="Higher starts first; equal ones start oldest first.")]
Overrides = Annotated[dict[str, Any], Field(max_length=200, description="Configuration fields to change.")]
Action = Literal["stop", "pause", "resume", "archive", "restore", "purge"]


class Parent(BaseModel):
    """Where a fork began."""

    run_id: int
    checkpoint_id: int | None
    step: int | None


class Failure(BaseModel):
    """Why a run failed."""

    message: str
    traceback: str | None


class MetricExtent(BaseModel):
    """The last, least and greatest value of a metric; NaN and the infinities are strings."""

    model_config = ConfigDict(from_attributes=True, ser_json_inf_nan="strings")

    last: float | None
    min: float | None
    max: float | None


class Run(BaseModel):
    """A run as the browser shows it."""

    id: int
    name: str
    state: State
    desired: Desired
    algorithm: str
    method: str = Field(description="The algorithm as people write it.")
    env: str
    queue: QueueName
    attempt: int
    priority: int
    tags: list[str]
    notes: str
    config: dict[str, Any]
    parent: Parent | None
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    archived_at: datetime | None
    state_reason: str | None = Field(description="In plain words, why the run is in this state.")
    failure: Failure | None
    worker: str | None
    step: int = Field(description="Agent decisions so far.")
    frames: int = Field(description="Emulator frames so far.")
    total_steps: int
    steps_per_second: float | None
    seconds_left: float | None
    last_return: float | None = Field(description="Mean return of the last 100 training episodes.")
    best_return: float | None = Field(description="The best such mean.")
    episodes: int
    poster_file_id: int | None
    versions: dict[str, str] | None
    command: list[str] | None
    color: str = Field(pattern="^#[0-9a-f]{6}$")
    metrics: dict[str, MetricExtent] = Field(description="Of the metrics that a list was asked for with.")
    roles: list[RolePlace] = Field(
        description="Which role of the latest attempt runs where, or did at last; lists leave it out."
    )


class RunPage(BaseModel):
    """One page of the list."""

    items: list[Run]
    next_cursor: str | None
    total: int


class _Request(BaseModel):
    model_config = ConfigDict(extra="forbid")


class CreateRun(_Request):
    """Launch a run of a full configuration, or of a preset with some fields changed."""

    name: Name | None = None
    config: dict[str, Any] | None = Field(default=None, max_length=200)
    preset: str | None = Field(default=None, max_length=100)
    overrides: Overrides | None = None
    tags: Tags = []
    notes: Notes = ""
    priority: Priority = 0
    queue: QueueName | None = Field(default=None, description="By default gpu when the device is cuda, else cpu.")


class EditRun(_Request):
    """Change what the user wrote about a run; a field left out stays."""

    name: Name | None = None
    tags: Tags | None = None
    notes: Notes | None = None
    priority: Priority | None = None


class CloneRun(_Request):
    """Launch the same configuration again, with some fields changed."""

    name: Name | None = None
    overrides: Overrides = {}


class ForkRun(_Request):
    """Launch a run that goes on from another's checkpoint, with some fields changed."""

    checkpoint_id: int = Field(ge=1, le=2**53)
    name: Name | None = None
    overrides: Overrides = {}


class BulkRequest(_Request):
    """The same action on many runs."""

    action: Action
    ids: Annotated[list[Annotated[int, Field(ge=1, le=2**53)]], Field(min_length=1, max_length=1_000)]


class Skipped(BaseModel):
    """A run that a bulk action left as it was."""

    id: int
    reason: str


class BulkResult(BaseModel):
    """What a bulk action did."""

    done: list[int]
    skipped: list[Skipped]
