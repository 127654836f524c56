"""Tracks of recordings and saliencies of their decisions, as files.

A NumPy .npz file without pickled objects. Its array `head` is the JSON text of a `TrackHead`. Every other array has
one row per decision:

picture       index of the video picture at the decision, from 0
action        index of the action, or numbers of a continuous one
numbers       action probabilities (numbers_kind is "policy"), action values ("values"), or a Gaussian's means and,
              last, its variance or variances ("gaussian")
value         the agent's estimate V(s), or its largest action value
reward        raw reward of the action
obtained      discounted return from this decision, of the rewards as training counts them
score         score before the decision
lives         lives left, or −1 if the game has none
life_lost     True if the action cost a life
observation   readings that the agent saw, unless it saw pictures
"""

import io
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, ValidationError

from arcadia_workers.contract import archives
from arcadia_workers.contract.archives import ArchiveError, Column
from arcadia_workers.contract.protocols.document import Acting

# Configuration fields, a value of the field `optimizer`, and a field of recordings. Files in data folders and archives
# keep their names, also those that older versions wrote, since rows refer to them by their hashes.
RENAMED = {
    "centred_inputs": "centered_inputs",
    "centred_rmsprop": "centered_rmsprop",
    "initialisation": "initialization",
    "prioritised_replay": "prioritized_replay",
    "learnt": "numbers_kind",
}


def with_current_names(document: dict[str, Any]) -> dict[str, Any]:
    """Return the configuration of a checkpoint or the head of a recording with the current names."""
    return {
        RENAMED.get(name, name): RENAMED.get(value, value) if isinstance(value, str) else value
        for name, value in document.items()
    }


VERSION = 1
# The columns that every track has, with their kinds of NumPy types and numbers of dimensions.
_COLUMNS: dict[str, tuple[str, tuple[int, ...]]] = {
    **dict.fromkeys(("picture", "lives"), ("iu", (1,))),
    **dict.fromkeys(("value", "reward", "obtained", "score"), ("fiu", (1,))),
    "life_lost": ("b", (1,)),
    "action": ("fiu", (1, 2)),
    "numbers": ("fiu", (2,)),
}

# The content of the column `numbers`.
Numbers = Literal["policy", "values", "gaussian"]


class TrackError(Exception):
    """A file is not a track that this version can read."""


class TrackHead(BaseModel):
    """The recording of a track, and how to read its columns."""

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
    # True if returns in training are bootstrapped at a cut. Older tracks lack this field, and were always bootstrapped.
    bootstraps: bool = True
    numbers_kind: Numbers
    action_names: tuple[str, ...]
    pictures: int
    pictures_per_second: int
    frames_per_action: int
    # over: the episode ended. cut off: by the protocol's cap or a time limit. unfinished: the recording ended first.
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
    """Return the bytes of the file. Equal tracks give equal bytes."""
    return archives.packed(track.head, track.columns)


def read(file: Path | io.BytesIO) -> Track:
    """Read a track from its file."""
    return _read(file, only_head=False)


def read_head(file: Path) -> TrackHead:
    """Read the head of a track, without its decisions."""
    return _read(file, only_head=True).head


def _read(file: Path | io.BytesIO, *, only_head: bool) -> Track:
    try:
        head, columns = archives.unpacked(file, only_head=only_head)
    except ArchiveError as error:
        raise TrackError(f"this is not a track file: {error}") from error
    if head.get("version") != VERSION:
        raise TrackError(f"the track has version {head.get('version')}; this version of Arcadia reads {VERSION}")
    try:
        validated = TrackHead.model_validate(with_current_names(head))
    except ValidationError as error:
        raise TrackError(f"its head is not valid: {error.errors()[0]['msg']}") from error
    if not only_head:
        _check(validated, columns)
    return Track(validated, columns)


def _check(head: TrackHead, columns: dict[str, Column]) -> None:
    """Raise TrackError if a column is missing or odd, since the track may come from a stranger's archive."""
    for name, (kinds, dimensions) in _COLUMNS.items():
        if name not in columns or columns[name].ndim not in dimensions or columns[name].dtype.kind not in kinds:
            raise TrackError(f"its column {name} is missing, or has another form")
    if len({len(column) if column.ndim else None for column in columns.values()}) != 1:
        raise TrackError("its columns do not have the same length")
    action = columns["action"]
    if action.ndim == 2:
        is_possible = head.numbers_kind == "gaussian" and bool(np.isfinite(action).all())
    else:
        is_possible = action.dtype.kind in "iu" and bool(((action >= 0) & (action < 2**31)).all())
    if not is_possible:
        raise TrackError("it has actions that no agent can choose")


# The columns, with their numbers of dimensions.
_DIMENSIONS = {"policy": 3, "policy_peak": 1, "value": 3, "value_peak": 1}


class SaliencyError(Exception):
    """A file is not a saliency that this version can read."""


class SaliencyHead(BaseModel):
    """The recording of a saliency, and how the saliency was computed."""

    model_config = ConfigDict(extra="forbid")

    format: Literal["arcadia-saliency"] = "arcadia-saliency"
    version: Literal[1] = 1
    env: str
    algorithm: str
    checkpoint_step: int
    checkpoint_sha256: str
    # The network's numbers: logits of a policy, action values, or the numbers of a Gaussian.
    numbers_kind: Numbers
    side: int
    first: int
    spacing: int
    sigma: float
    blur_sigma: float


@dataclass(frozen=True)
class Saliency:
    """A saliency in memory."""

    head: SaliencyHead
    columns: dict[str, Column]

    def __len__(self) -> int:
        return len(self.columns["policy"])


def packed_saliency(saliency: Saliency) -> bytes:
    """Return the bytes of the file. Equal saliencies give equal bytes."""
    return archives.packed(saliency.head, saliency.columns)


def read_saliency(file: Path | io.BytesIO) -> Saliency:
    """Read a saliency from its file."""
    try:
        head, columns = archives.unpacked(file)
    except ArchiveError as error:
        raise SaliencyError(f"this is not a saliency file: {error}") from error
    if head.get("version") != VERSION:
        raise SaliencyError(f"the saliency has version {head.get('version')}; this version of Arcadia reads {VERSION}")
    try:
        validated = SaliencyHead.model_validate(with_current_names(head))
    except ValidationError as error:
        raise SaliencyError(f"its head is not valid: {error.errors()[0]['msg']}") from error
    for name, dimensions in _DIMENSIONS.items():
        if name not in columns or columns[name].ndim != dimensions or columns[name].dtype.kind not in "biuf":
            raise SaliencyError(f"its column {name} is missing, or is not a list of numbers")
    if len({len(columns[name]) for name in _DIMENSIONS}) != 1:
        raise SaliencyError("its columns do not have the same length")
    return Saliency(validated, columns)
