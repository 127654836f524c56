"""Answers of the kept games API."""

from datetime import datetime
from typing import Literal

from pydantic import BaseModel, Field

from backend.web.json_numbers import JsonNumber
from workers.contract.worker_api import JobState


class KeptGame(BaseModel):
    """A game that a person has played and keeps, and where its film stands."""

    id: int
    env: str
    score: JsonNumber
    frames: int
    ended: Literal["over", "cut off", "unfinished"] = Field(description="unfinished: it was kept before its end.")
    start_points: int = Field(description="How many start points can be made of it.")
    created_at: datetime
    film: JobState
    reason: str | None = Field(description="In plain words, why the film is not there.")
    traceback: str | None = Field(description="Of a film that has failed by a bug.")
    file_id: int | None = Field(description="Of the film, an mp4; null until it is made.")
    poster_file_id: int | None
