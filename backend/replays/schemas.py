"""Requests and responses of the replay API."""

from datetime import datetime

from pydantic import BaseModel, ConfigDict, Field

from backend.web.json_numbers import JsonNumber
from workers.contract.tracks import TrackHead
from workers.contract.values import Truth


class ReplayActions(BaseModel):
    """For each action, the reason why it is not possible now, or null if it is. The server rejects others with 409."""

    simulate: str | None = Field(description="Simulate futures with its own agent.")
    play: str | None = Field(description="Continue it as a person.")
    saliency: str | None = Field(description="Compute its saliency.")
    start_points: str | None = Field(description="Save its decisions as start points.")


class Replay(BaseModel):
    """A replay: one episode played from a checkpoint. NaN and infinities are strings."""

    model_config = ConfigDict(from_attributes=True, ser_json_inf_nan="strings")

    id: int
    run_id: int
    step: int
    frames: int
    attempt: int
    file_id: int | None
    poster_file_id: int | None
    seen_file_id: int | None = Field(description="A video of what the network saw, in step with the file.")
    track_file_id: int | None = Field(description="The track, as an .npz file.")
    saliency_asked: bool = Field(description="Whether its saliency exists or is being computed.")
    pinned: bool = Field(description="Whether pruning keeps it in any case.")
    episode_return: JsonNumber
    length: int
    seconds: float
    created_at: datetime
    actions: ReplayActions


class EditReplay(BaseModel):
    """A change of a replay."""

    model_config = ConfigDict(extra="forbid")

    pinned: Truth = Field(description="Whether pruning keeps it in any case.")


class Track(BaseModel):
    """The track of a replay. Every list has one entry per decision, in order."""

    model_config = ConfigDict(ser_json_inf_nan="strings")

    head: TrackHead
    picture: list[int] = Field(description="Index of the video picture at the decision, from 0.")
    action: list[int] | list[list[JsonNumber]] = Field(
        description="Index of the action, or numbers of a continuous one."
    )
    numbers: list[list[JsonNumber]] = Field(
        description="Action probabilities, action values, or means and variance, depending on the head."
    )
    value: list[JsonNumber] = Field(description="V(s), or the largest action value.")
    obtained: list[JsonNumber] = Field(description="Discounted return of the rewards as training counts them.")
    reward: list[JsonNumber] = Field(description="The raw reward of the action.")
    score: list[JsonNumber] = Field(description="The score before the decision.")
    lives: list[int] = Field(description="Lives left before the decision, or -1 if the game has none.")
    life_lost: list[bool]
