"""Request and response models of the futures API."""

from datetime import datetime
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from backend.checkpoints.choice import CheckpointChoice
from workers.contract.futures import FuturesDocument, FuturesOptions, Interval
from workers.contract.values import Id
from workers.contract.worker_api import JobState


class ActingAgent(BaseModel):
    """The agent of another checkpoint."""

    model_config = ConfigDict(extra="forbid")

    run_id: Id
    checkpoint: CheckpointChoice = "best"


class SimulateFutures(FuturesOptions):
    """A request to simulate the futures of a decision."""

    agent: ActingAgent | None = Field(
        default=None,
        description="The agent that acts in the futures. Default: the agent of the replay. It needs the same "
        "environment and actions.",
    )


class FuturesSummary(FuturesOptions):
    """Futures of a decision of a replay, and the main numbers of their result."""

    # NaN and infinity are values. JSON has them as the strings "NaN", "Infinity" and "-Infinity".
    model_config = ConfigDict(extra="forbid", ser_json_inf_nan="strings")

    id: int
    replay_id: int
    run_id: int = Field(description="The run of the replay.")
    agent_run_id: int = Field(description="The run whose agent acts in the futures.")
    agent_step: int = Field(description="The step of the checkpoint that acts in them.")
    state: JobState
    reason: str | None = Field(description="Why they are waiting or have failed.")
    traceback: str | None = Field(description="The traceback if they failed because of a bug.")
    done: int = Field(description="Progress in decisions. Ended futures skip the rest of theirs.")
    total: int
    value: float | None = Field(description="V(s), or the highest Q(s, a), at the decision. Null until they are done.")
    mean: float | None = Field(description="Mean discounted return. Null until they are done.")
    interval: Interval | None = Field(description="The 95 % t-interval of the mean.")
    created_at: datetime
    finished_at: datetime | None


class StoredVideo(BaseModel):
    """Video that begins with the picture of the decision. GET /files/{file_id} downloads it."""

    shows: Literal["best", "median", "worst", "ghosts"]
    file_id: int


class Futures(FuturesSummary):
    """Futures of a decision of a replay, and their result when they are done."""

    videos: list[StoredVideo] = Field(description="Videos of the best, median and worst future, and of all blended.")

    document: FuturesDocument | None = Field(description="The result. Null until they are done.")
