"""Start sets as JSON files. docs/evaluation.md describes the format."""

import hashlib
from collections.abc import Iterable, Sequence
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from arcadia_workers.contract.games import ENVIRONMENTS, EnvironmentId
from arcadia_workers.contract.protocols.protocol import StartPlayer
from arcadia_workers.contract.values import Text

# The emulator takes seeds below this.
SEEDS = 2**31 - 1
# Where the protocols end an episode, counting the frames before the agent took over.
CAP_FRAMES = 108_000
# The protocols need 100. An evaluation plays one episode from each.
MOST_STARTS = 1_000

# The last action of the full set.
MAX_ACTION = 17

# Strict, so that true is not accepted as a number.
_Action = Annotated[int, Field(strict=True, ge=0, le=MAX_ACTION)]
_Frames = Annotated[int, Field(strict=True, ge=1, le=CAP_FRAMES)]

HeldAction = tuple[_Action, _Frames]
"""An action's number in the emulator's full set (0 is no action, 1 is FIRE, …), and its duration in frames."""


class Start(BaseModel):
    """A start point: the actions that lead to it from a reset, and the hash of its screen."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    seed: int = Field(strict=True, ge=0, lt=SEEDS, description="The emulator's random seed.")
    actions: tuple[HeldAction, ...] = Field(
        min_length=1, max_length=CAP_FRAMES, description="Actions since the reset, in order."
    )
    screen: str = Field(
        pattern="^[0-9a-f]{64}$",
        description="SHA-256 of the screen at this point: all rows of 160 bytes, as palette numbers.",
    )

    @model_validator(mode="after")
    def leaves_the_agent_something(self) -> "Start":
        """Reject play that leaves no frames for the agent."""
        if self.frames >= CAP_FRAMES:
            raise ValueError(f"its actions last {self.frames:,} frames; an episode ends after {CAP_FRAMES:,} in all")
        return self

    @property
    def frames(self) -> int:
        """Frames from the reset to the start point."""
        return sum(frames for _, frames in self.actions)


class StartSetFile(BaseModel):
    """Start points of one game, cut from one kind of play."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    format: Literal["arcadia-starts"] = "arcadia-starts"
    version: Literal[1] = 1
    env: EnvironmentId = Field(description="The game, such as ALE/Pong-v5.")
    player: StartPlayer = Field(description="The player whose play contains the points.")
    source: Text = Field(max_length=1_000, description="Who played, and when or by what command.")
    emulator: Text = Field(max_length=100, description="The emulator that drew the screens, such as ale-py 0.12.1.")
    starts: tuple[Start, ...] = Field(min_length=1, max_length=MOST_STARTS)

    @field_validator("env")
    @classmethod
    def env_is_an_atari_game(cls, env: str) -> str:
        """Reject environments without start points."""
        if not ENVIRONMENTS[env].family.has_start_points:
            raise ValueError(f"{env} is not an Atari game; only Atari games have start points")
        return env

    @field_validator("starts")
    @classmethod
    def starts_differ(cls, starts: tuple[Start, ...]) -> tuple[Start, ...]:
        """Reject duplicate points, whose episodes would count as several points."""
        numbers: dict[tuple[int, tuple[HeldAction, ...]], int] = {}
        for number, start in enumerate(starts):
            first = numbers.setdefault((start.seed, start.actions), number)
            if first != number:
                raise ValueError(f"starts.{first} and starts.{number} have the same seed and actions; leave one out")
        return starts

    @property
    def content(self) -> bytes:
        """The set as it is stored and sent, always in the same layout."""
        return self.model_dump_json().encode()

    @property
    def sha256(self) -> str:
        """The hash of the set. It does not depend on the layout of a file."""
        return hashlib.sha256(self.content).hexdigest()


def starts_at(seed: int, actions: Sequence[HeldAction], screens: Iterable[Sequence[Any]]) -> tuple[Start, ...]:
    """Return the start points of one game at these frames, each with the hash of its screen."""
    return tuple(Start(seed=seed, actions=before(actions, frame), screen=screen) for frame, screen in screens)


def after(actions: Sequence[HeldAction], frame: int) -> tuple[HeldAction, ...]:
    """Return the actions after a frame."""
    kept: list[HeldAction] = []
    for action, frames in actions:
        if frames > frame:
            kept.append((action, frames - max(frame, 0)))
        frame -= frames
    return tuple(kept)


def before(actions: Sequence[HeldAction], frame: int) -> tuple[HeldAction, ...]:
    """Return the actions before a frame."""
    kept: list[HeldAction] = []
    for action, frames in actions:
        if frame <= 0:
            break
        kept.append((action, min(frames, frame)))
        frame -= frames
    return tuple(kept)
