"""Schemas of the start sets API."""

from datetime import datetime
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from workers.contract.events import MOST_SCREENS
from workers.contract.protocols.protocol import StartPlayer
from workers.contract.values import STORABLE, Count, Ordinal
from workers.contract.worker_api import JobState

Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=100), STORABLE]


class StartSet(BaseModel):
    """A start set without its points."""

    model_config = ConfigDict(from_attributes=True)

    id: int
    env: str
    name: str
    player: StartPlayer = Field(description="Who played the games from which the points were taken.")
    protocol: str = Field(description="Protocol that uses it.")
    source: str = Field(description="Who played, and when or with which command.")
    emulator: str = Field(description="Emulator that made the screens.")
    points: int
    sha256: str = Field(description="Hash of the points. Evaluation results contain it.")
    bytes: int = Field(description="Size of the exported file.")
    created_at: datetime


class SaveStartPoints(BaseModel):
    """Request to save start points from a replay: one of its decisions, or many."""

    model_config = ConfigDict(extra="forbid")

    name: Name = Field(description="Name of the start set, unique for the game.")
    decision: Count = Field(description="The decision, from 0. The point is the screen before it.")
    every: Ordinal | None = Field(
        default=None,
        description="Save this decision and every k-th one before and after it, for example every 100th. "
        f"At most {MOST_SCREENS} points. Null saves only the decision.",
    )


class SavedStartPoints(BaseModel):
    """The state of saving start points from a replay."""

    id: int
    replay_id: int
    name: str
    state: JobState
    reason: str | None = Field(description="Why it is waiting or has failed.")
    traceback: str | None = Field(description="The traceback if it failed because of a bug.")
    done: int = Field(description="The number of points reached so far.")
    total: int
    start_set_id: int | None = Field(description="The start set. Null until it is stored, and if it was deleted.")


class UsedStarts(BaseModel):
    """The start set of an evaluation, as it was when the evaluation was requested."""

    id: int
    name: str
    player: StartPlayer
    source: str
    points: int
    sha256: str
    kept: bool = Field(description="False if it was deleted.")
