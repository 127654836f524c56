"""Requests and answers of the recordings API."""

from datetime import datetime
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from backend.checkpoints.choice import CheckpointChoice
from workers.contract.values import NO_BOOLEAN, Seed, ShortText
from workers.contract.worker_api import JobState

MOST_EPISODES = 1_000_000


class AskRecording(BaseModel):
    """Have a worker record an episode of a checkpoint."""

    model_config = ConfigDict(extra="forbid")

    checkpoint: CheckpointChoice = "newest"
    protocol: ShortText | None = Field(
        default=None, description="How it begins and ends, as no-op-5min; the run's own protocol unless told otherwise."
    )
    seed: Seed = Field(default=1, description="The same seed gives the same episode.")
    episode: Annotated[int, Field(ge=0, lt=MOST_EPISODES), NO_BOOLEAN] = Field(
        default=0, description="Which episode of an evaluation with this protocol and seed, from 0."
    )


class Recording(BaseModel):
    """A recording that was asked for: where it stands, and once it is done, which replay it is."""

    id: int
    run_id: int
    state: JobState
    reason: str | None = Field(description="In plain words, why it waits, has failed, or shows a part of its episode.")
    traceback: str | None = Field(description="Of a failure that is a bug.")
    checkpoint_id: int
    step: int = Field(description="Of the checkpoint.")
    protocol: str
    seed: int
    episode: int
    replay_id: int | None = Field(description="Its replay, once it is done.")
    worker: str | None
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
