"""Requests and answers of the start points API."""

from datetime import datetime
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from workers.contract.protocols.protocol import StartPlayer
from workers.contract.values import STORABLE

Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=100), STORABLE]


class StartSet(BaseModel):
    """A stored set of start points, without the points."""

    model_config = ConfigDict(from_attributes=True)

    id: int
    env: str
    name: str
    player: StartPlayer = Field(description="Whose play the points are cut from.")
    protocol: str = Field(description="The protocol that it is for.")
    source: str = Field(description="Who played, and when or by what command.")
    emulator: str = Field(description="The emulator that the screens are of.")
    points: int
    sha256: str = Field(description="What tells it from other sets; documents of evaluations name it.")
    bytes: int = Field(description="As a file.")
    created_at: datetime


class UsedStarts(BaseModel):
    """The set that an evaluation begins at, as it was when the evaluation was asked for."""

    id: int
    name: str
    player: StartPlayer
    source: str
    points: int
    sha256: str
    kept: bool = Field(description="Whether it is still stored.")
