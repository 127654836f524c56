"""What a job asks of its process: REQUEST.json, which the worker writes and the trainer's side reads."""

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from workers.contract.games import EnvironmentId
from workers.contract.live import LiveAddress
from workers.contract.protocols.acting import Acting
from workers.contract.protocols.starts import Held
from workers.contract.values import Count
from workers.contract.worker_api import JobKind


class JobRequest(BaseModel):
    """A kind of job, the step of the checkpoint beside the request if it has one, and what else the kind needs."""

    model_config = ConfigDict(extra="forbid")

    kind: JobKind
    step: Count | None
    parameters: dict[str, Any]
    live: LiveAddress | None = Field(default=None, description="Where a game that is watched reaches the backend.")


class EvaluationParameters(BaseModel):
    """How an evaluation is played."""

    model_config = ConfigDict(extra="forbid")

    protocol: str
    acting: Acting
    seed: Count
    episodes: Count = Field(ge=1)


class RecordingParameters(BaseModel):
    """Which episode is recorded."""

    model_config = ConfigDict(extra="forbid")

    protocol: str
    seed: Count
    episode: Count


class FilmParameters(BaseModel):
    """Which kept game is played again to be filmed, and what it must come to."""

    model_config = ConfigDict(extra="forbid")

    env: EnvironmentId
    seed: Count
    actions: list[Held]
    played: Count
    score: float


class SaliencyParameters(BaseModel):
    """Which recorded episode is played again, by its actions, and what it must come to."""

    model_config = ConfigDict(extra="forbid")

    protocol: str
    seed: Count
    episode: Count
    actions: list[int] | list[list[float]]
    score: float
