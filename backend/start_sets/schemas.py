"""Schemas of the start sets API."""

from datetime import datetime
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from workers.contract.protocols.protocol import StartPlayer
from workers.contract.values import STORABLE

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


class UsedStarts(BaseModel):
    """The start set of an evaluation, as it was when the evaluation was requested."""

    id: int
    name: str
    player: StartPlayer
    source: str
    points: int
    sha256: str
    kept: bool = Field(description="False if it was deleted.")
