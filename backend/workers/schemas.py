"""What the worker API takes and gives, and workers as users see them."""

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from backend.models import Desired, Outcome, QueueName, State
from workers.trainer.events import CheckpointFile, Event

WorkerName = Annotated[str, StringConstraints(min_length=1, max_length=100, pattern=r"^[A-Za-z0-9][A-Za-z0-9._@:-]*$")]
AttemptNumber = Annotated[int, Field(ge=1, le=2**31 - 1)]


class Worker(BaseModel):
    """A worker as the browser shows it."""

    name: str
    host: str
    queue: QueueName
    state: Literal["idle", "busy", "gone"]
    run_id: int | None
    last_seen_at: datetime
    version: str
    device: str
    cores: int
    memory_bytes: int
    pid: int


class _Request(BaseModel):
    model_config = ConfigDict(extra="forbid")


class HeldRun(_Request):
    """The run a worker has in hand."""

    id: int = Field(ge=1, le=2**53)
    attempt: AttemptNumber


class Heartbeat(_Request):
    """A worker reports that it lives, and what it does."""

    name: WorkerName
    host: str = Field(max_length=255)
    queue: QueueName
    pid: int = Field(ge=0, le=2**31 - 1)
    version: str = Field(max_length=50)
    device: str = Field(max_length=255)
    cores: int = Field(ge=0, le=1_000_000)
    memory_bytes: int = Field(ge=0, le=2**53)
    run: HeldRun | None = None


class HeartbeatAnswer(BaseModel):
    """What is wanted of the run in hand."""

    desired: Desired | None
    lease_seconds: float


class ClaimRequest(_Request):
    """A worker asks for the best waiting run of its queue."""

    name: WorkerName
    queue: QueueName


class OfferedCheckpoint(CheckpointFile):
    """A checkpoint that the trainer may go on from; `id` is the file to download."""

    id: int


class Claim(BaseModel):
    """A run handed to a worker; its checkpoints newest first."""

    run_id: int
    attempt: int
    config: dict[str, Any]
    lease_seconds: float
    checkpoints: list[OfferedCheckpoint]


class EventBatch(_Request):
    """Events of one attempt, in order."""

    attempt: AttemptNumber
    events: Annotated[list[Event], Field(min_length=1, max_length=1_000)]


class Acknowledged(BaseModel):
    """The last event that is stored for good."""

    acknowledged: int


class Release(_Request):
    """A worker gives a run back and says how its trainer ended."""

    attempt: AttemptNumber
    outcome: Outcome
    message: str | None = Field(default=None, max_length=10_000)
    traceback: str | None = Field(default=None, max_length=100_000)


class Released(BaseModel):
    """Where the run went."""

    state: State


class Goodbye(_Request):
    """A worker leaves."""

    name: WorkerName
