"""Response models of the kept games API."""

from datetime import datetime
from typing import Literal

from pydantic import BaseModel, Field

from backend.web.json_numbers import JsonNumber
from workers.contract.worker_api import JobState


class ContinuedGame(BaseModel):
    """The part of a kept game that follows a decision of a replay."""

    replay_id: int | None = Field(description="Null if the replay was deleted.")
    decision: int
    score: JsonNumber = Field(description="Score from the decision on.")
    frames: int = Field(description="Frames from the decision on.")
    agent_frames: int = Field(description="How many of these frames the agent played.")


class KeptGame(BaseModel):
    """A game that a person played and saved, with the state of its video."""

    id: int
    env: str
    score: JsonNumber
    frames: int
    ended: Literal["over", "cut off", "unfinished"] = Field(description="`unfinished` if it was kept before its end.")
    continued: ContinuedGame | None = Field(description="Null if it was played from the start of the game.")
    start_points: int = Field(description="The number of start points that can be made from it.")
    why_no_start_points: str | None = Field(description="Why they cannot be made, or null if they can.")
    created_at: datetime
    film: JobState
    reason: str | None = Field(description="Why the video is missing.")
    traceback: str | None = Field(description="The traceback if the video failed because of a bug.")
    file_id: int | None = Field(description="The mp4 file of the video. Null until it is ready.")
    poster_file_id: int | None
