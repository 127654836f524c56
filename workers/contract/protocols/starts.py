"""Sets of start points, as they are stored: a JSON file that docs/evaluation.md describes."""

import hashlib
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from workers.contract.games import EnvironmentId
from workers.contract.protocols.protocol import StartPlayer
from workers.contract.values import Text

# The emulator takes seeds below this.
SEEDS = 2**31 - 1

Held = tuple[Annotated[int, Field(ge=0, le=17)], Annotated[int, Field(ge=1, le=108_000)]]
"""An action of the emulator's full set by its number (0 is no action, 1 is FIRE, …), and for how many frames."""


class Start(BaseModel):
    """One start point: how to reach it from a reset, and what the screen then shows."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    seed: int = Field(ge=0, lt=SEEDS, description="The emulator's random seed.")
    actions: tuple[Held, ...] = Field(min_length=1, description="What is done since the reset, in order.")
    screen: str = Field(
        pattern="^[0-9a-f]{64}$", description="SHA-256 of the screen there: 210 × 160 bytes, palette numbers by rows."
    )

    @property
    def frames(self) -> int:
        """Frames from the reset to the start point."""
        return sum(frames for _, frames in self.actions)


class StartSet(BaseModel):
    """Start points of one game, cut from one kind of play."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    format: Literal["arcadia-starts"] = "arcadia-starts"
    version: Literal[1] = 1
    env: EnvironmentId = Field(description="The game, as ALE/Pong-v5.")
    player: StartPlayer = Field(description="Whose play the points are cut from.")
    source: Text = Field(description="Who played, and when or by what command.")
    emulator: Text = Field(description="The emulator that the screens are of, as ale-py 0.12.1.")
    starts: tuple[Start, ...] = Field(min_length=1, max_length=10_000)

    @property
    def sha256(self) -> str:
        """What tells this set from others, however its file is laid out."""
        return hashlib.sha256(self.model_dump_json().encode()).hexdigest()
