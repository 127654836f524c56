"""The track of a recording: what the agent saw, thought and got at each decision, beside the video.

A track is a NumPy .npz file without pickled objects. Its array `head` is the JSON text of a `TrackHead`; every other
array has a row for each decision:

picture       the video's picture that was shown when the agent decided, from 0
action        the number of the action, or the numbers of a continuous one
numbers       action probabilities (learnt is "policy"), action values ("values"), or a Gaussian's means and, last,
              its variance ("gaussian")
value         the agent's estimate V(s), or the greatest of its action values
reward        the raw reward that the action brought, points of a game
obtained      the discounted return of the rewards that training counts, from this decision on
score         the points before the decision
lives         the lives left, −1 where there are none
life_lost     whether the action cost a life
observation   the readings that the agent saw; only where these are no pictures
"""

import io
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict

from workers.contract import archives
from workers.contract.archives import ArchiveError, Column
from workers.contract.protocols.acting import Acting

VERSION = 1

# What the column `numbers` holds.
Numbers = Literal["policy", "values", "gaussian"]


class TrackError(Exception):
    """A file is no track that this version can read."""


class TrackHead(BaseModel):
    """What the recording is of, and how to read its columns."""

    model_config = ConfigDict(extra="forbid")

    format: Literal["arcadia-track"] = "arcadia-track"
    version: Literal[1] = 1
    env: str
    algorithm: str
    checkpoint_step: int
    checkpoint_sha256: str
    protocol: str
    acting: Acting
    seed: int
    episode: int
    gamma: float
    clip_rewards: bool
    life_loss_ends_episode: bool
    # Whether training's returns go on behind a cut. Older tracks do not say; all of theirs go on.
    bootstraps: bool = True
    learnt: Numbers
    action_names: tuple[str, ...]
    pictures: int
    pictures_per_second: int
    frames_per_action: int
    # over: the episode ended. cut off: by the protocol's cap or a limit of time. unfinished: the recording ended first.
    ended: Literal["over", "cut off", "unfinished"]
    score: float


@dataclass(frozen=True)
class Track:
    """A track in memory."""

    head: TrackHead
    columns: dict[str, Column]

    def __len__(self) -> int:
        return len(self.columns["picture"])


def packed(track: Track) -> bytes:
    """Return the file's bytes; equal tracks have equal bytes."""
    return archives.packed(track.head, track.columns)


def read(file: Path | io.BytesIO) -> Track:
    """Read a track from its file."""
    try:
        head, columns = archives.unpacked(file)
    except ArchiveError as error:
        raise TrackError(f"this is not the file of a track: {error}") from error
    if head.get("version") != VERSION:
        raise TrackError(f"the track has version {head.get('version')}; this version of Arcadia reads {VERSION}")
    return Track(TrackHead.model_validate(head), columns)
