"""Requests and answers of the runs API."""

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from backend.web.json_numbers import JsonNumber
from workers.contract.events import RolePlace
from workers.contract.values import NO_BOOLEAN, STORABLE, Id
from workers.contract.worker_api import Desired, QueueName, State

Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200), STORABLE]
Tag = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=50), STORABLE]
Tags = Annotated[list[Tag], Field(max_length=20)]
Notes = Annotated[str, Field(max_length=20_000), STORABLE]
Priority = Annotated[
    int, Field(ge=-1_000, le=1_000, description="Higher starts first; equal ones start oldest first."), NO_BOOLEAN
]
Overrides = Annotated[dict[str, Any], Field(max_length=200, description="Configuration fields to change.")]
Action = Literal["stop", "pause", "resume", "archive", "restore", "purge"]


class Parent(BaseModel):
    """Where a fork began."""

    run_id: int
    checkpoint_id: int | None
    step: int | None


class StudyOfRun(BaseModel):
    """The study that made a run, and the run's place in it."""

    id: int
    name: str
    point: int
    seed: int


class Failure(BaseModel):
    """Why a run failed."""

    message: str
    traceback: str | None


class RunStartStep(BaseModel):
    """A step between the queue and the first update of an attempt."""

    name: str
    began_at: datetime
    ended_at: datetime | None = Field(description="Null for the current step.")


class MetricExtent(BaseModel):
    """The last, min and max value of a metric; NaN and the infinities are strings."""

    model_config = ConfigDict(from_attributes=True, ser_json_inf_nan="strings")

    last: JsonNumber | None
    min: JsonNumber | None
    max: JsonNumber | None


class RunActions(BaseModel):
    """For each action, why it is not possible for the run now, or null if it is.

    The server refuses an impossible action with 409 and the same sentence. It accepts four that would change nothing:
    archive when archived, restore when not archived, stop while stopping, pause while pausing.
    """

    stop: str | None
    pause: str | None
    resume: str | None
    archive: str | None
    restore: str | None
    purge: str | None


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
    study: StudyOfRun | None
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
    trained_seconds: float = Field(description="Time in training: without waiting, pauses and gaps between attempts.")
    steps_per_second: float | None
    seconds_left: float | None = Field(description="Of training; null once the last step is done.")
    last_return: float | None = Field(description="Mean return of the last 100 training episodes.")
    best_return: float | None = Field(description="The best such mean.")
    episodes: int
    poster_file_id: int | None
    versions: dict[str, str] | None
    command: list[str] | None
    color: str = Field(pattern="^#[0-9a-f]{6}$")
    actions: RunActions
    # Generators name the type of an inline object by its title, and there is a type RunMetrics.
    metrics: dict[str, MetricExtent] = Field(
        title="Metric extents", description="Of the metrics that a list was asked for with."
    )
    roles: list[RolePlace] = Field(
        description="Which role of the latest attempt runs where, or did at last; lists leave it out."
    )
    start_steps: list[RunStartStep] = Field(
        description="Steps from the queue to the first update of an active or queued run; lists leave them out."
    )
    warnings: list[str] = Field(
        description="The newest warnings in the log of the latest attempt, oldest first; lists leave them out."
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

    checkpoint_id: Id
    name: Name | None = None
    overrides: Overrides = {}


class BulkRequest(_Request):
    """The same action on many runs."""

    action: Action
    ids: Annotated[list[Id], Field(min_length=1, max_length=1_000)]


class Skipped(BaseModel):
    """A run that a bulk action left as it was."""

    id: int
    reason: str


class BulkResult(BaseModel):
    """What a bulk action did."""

    done: list[int]
    skipped: list[Skipped]
