"""Answers about replays."""

from datetime import datetime

from pydantic import BaseModel, ConfigDict, Field

from backend.web.json_numbers import JsonNumber
from workers.contract.tracks import TrackHead
from workers.contract.values import Truth


class Replay(BaseModel):
    """A replay: one episode played from a checkpoint. NaN and the infinities are strings."""

    model_config = ConfigDict(from_attributes=True, ser_json_inf_nan="strings")

    id: int
    run_id: int
    step: int
    frames: int
    attempt: int
    file_id: int | None
    poster_file_id: int | None
    seen_file_id: int | None = Field(description="A video of what the network saw, in step with the file.")
    track_file_id: int | None = Field(description="What the agent thought, as an .npz file.")
    saliency_asked: bool = Field(description="Whether its saliency is there, or is being computed.")
    pinned: bool = Field(description="Whether it stays whatever the rule of thinning says.")
    episode_return: JsonNumber
    length: int
    seconds: float
    created_at: datetime


class EditReplay(BaseModel):
    """What can be changed of a replay."""

    model_config = ConfigDict(extra="forbid")

    pinned: Truth = Field(description="Whether it stays whatever the rule of thinning says.")


class Track(BaseModel):
    """What the agent thought in a replay; every list has an entry for each decision, in order."""

    model_config = ConfigDict(ser_json_inf_nan="strings")

    head: TrackHead
    picture: list[int] = Field(description="The video's picture that was shown when the agent decided, from 0.")
    action: list[int] | list[list[JsonNumber]] = Field(description="Its number, or the numbers of a continuous one.")
    numbers: list[list[JsonNumber]] = Field(
        description="Action probabilities, action values, or the means and the variance, as the head says."
    )
    value: list[JsonNumber] = Field(description="V(s), or the greatest action value.")
    obtained: list[JsonNumber] = Field(description="The discounted return of the rewards as training counts them.")
    reward: list[JsonNumber] = Field(description="The raw reward of the action.")
    score: list[JsonNumber] = Field(description="The points before the decision.")
    lives: list[int] = Field(description="The lives left before the decision; -1 where there are none.")
    life_lost: list[bool]
