"""Requests and answers of the live games' API."""

from datetime import datetime

from pydantic import BaseModel, ConfigDict, Field

from backend.checkpoints.choice import CheckpointChoice
from workers.contract.worker_api import JobState


class AskLive(BaseModel):
    """Have a worker play a run's agent in real time."""

    model_config = ConfigDict(extra="forbid")

    checkpoint: CheckpointChoice = Field(
        default="newest", description="With `newest`, each newer checkpoint is taken over while the game goes on."
    )


class LiveGame(BaseModel):
    """A live game, and where its job stands; it is watched at the WebSocket /api/v1/live/{id}."""

    id: int
    run_id: int
    state: JobState
    reason: str | None = Field(description="In plain words, why it waits, begins again or has failed.")
    traceback: str | None = Field(description="Of a failure that is a bug.")
    checkpoint_id: int = Field(description="The one that it began with.")
    step: int = Field(description="Of that checkpoint.")
    follows: bool = Field(description="Whether it takes newer checkpoints over.")
    worker: str | None
    created_at: datetime
    started_at: datetime | None


class PlayedGame(BaseModel):
    """An Atari game that people play, and where its job stands; it is played at the WebSocket /api/v1/live/{id}."""

    id: int
    env: str
    state: JobState
    reason: str | None = Field(description="In plain words, why it waits, begins again or has failed.")
    traceback: str | None = Field(description="Of a failure that is a bug.")
    worker: str | None
    created_at: datetime
    started_at: datetime | None
