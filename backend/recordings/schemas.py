"""Request and response models of the recordings API."""

from datetime import datetime
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from backend.checkpoints.choice import CheckpointChoice
from workers.contract.values import NO_BOOLEAN, Seed, ShortText
from workers.contract.worker_api import JobState

MAX_EPISODE_INDEX = 1_000_000


class RecordingRequest(BaseModel):
    """A request to record an episode of a checkpoint."""

    model_config = ConfigDict(extra="forbid")

    checkpoint: CheckpointChoice = "newest"
    protocol: ShortText | None = Field(
        default=None,
        description="How it starts and ends, such as no-op-5min. Default: the run's evaluation protocol.",
    )
    seed: Seed = Field(default=1, description="The same seed gives the same episode.")
    episode: Annotated[int, Field(ge=0, lt=MAX_EPISODE_INDEX), NO_BOOLEAN] = Field(
        default=0, description="The index of the episode in an evaluation with this protocol and seed, from 0."
    )


class Recording(BaseModel):
    """A requested recording: its state, and its replay when it is done."""

    id: int
    run_id: int
    state: JobState
    reason: str | None = Field(description="Why it is waiting, has failed, or shows only part of the episode.")
    traceback: str | None = Field(description="The traceback if it failed because of a bug.")
    checkpoint_id: int
    step: int = Field(description="The step of the checkpoint.")
    protocol: str
    seed: int
    episode: int
    replay_id: int | None = Field(description="The replay. Null until it is done.")
    worker: str | None
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
