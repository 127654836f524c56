"""Requests and responses of the live game API."""

from datetime import datetime

from pydantic import BaseModel, ConfigDict, Field

from backend.checkpoints.choice import CheckpointChoice
from workers.contract.values import SmallCount
from workers.contract.worker_api import JobState


class AskLive(BaseModel):
    """A request to play a run's agent in real time."""

    model_config = ConfigDict(extra="forbid")

    checkpoint: CheckpointChoice = Field(
        default="newest", description="With `newest`, the game switches to each newer checkpoint while it continues."
    )


class ContinueReplay(BaseModel):
    """A request to continue a replay as a person."""

    model_config = ConfigDict(extra="forbid")

    decision: SmallCount = Field(description="The decision to continue from, counted from 0.")


class LiveGame(BaseModel):
    """A live game with the state of its job. Watch it at the WebSocket /api/v1/live/{id}."""

    id: int
    run_id: int
    state: JobState
    reason: str | None = Field(description="Why the job waits, restarts or failed, as a sentence.")
    traceback: str | None = Field(description="Traceback of a failure that is a bug.")
    checkpoint_id: int = Field(description="The checkpoint that the game started with.")
    step: int = Field(description="Step of that checkpoint.")
    follows: bool = Field(description="Whether the game switches to newer checkpoints.")
    worker: str | None
    created_at: datetime
    started_at: datetime | None


class PlayedGame(BaseModel):
    """A game that people play, with the state of its job. Play it at the WebSocket /api/v1/live/{id}."""

    id: int
    env: str
    replay_id: int | None = Field(description="The replay that it continues. Null if it begins at its own start.")
    run_id: int | None = Field(description="The run of the replay.")
    decision: int | None = Field(description="The decision of the replay at which it begins.")
    state: JobState
    reason: str | None = Field(description="Why the job waits, restarts or failed, as a sentence.")
    traceback: str | None = Field(description="Traceback of a failure that is a bug.")
    worker: str | None
    created_at: datetime
    started_at: datetime | None
