"""A live game: what its process, the backend and the pages that watch it say to each other, each over one WebSocket.

The process sends pictures as binary messages (`packed`): four bytes with the length of the head, big endian, the head
as JSON (`PictureHead`), and the picture as PNG. All else is JSON text. What stands on the stage, a `Scene`, is sent
whole whenever something in it changes. The backend hands both to every page, and hands the pages' orders to the
process. A checkpoint that is newer comes to the process as `newer`, and then as binary messages, until all its bytes
are there.
"""

import hashlib
import hmac
import json
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from workers.contract.events import CheckpointFile
from workers.contract.games import EnvironmentId
from workers.contract.orders import Order
from workers.contract.tracks import Numbers
from workers.contract.values import Count

LENGTH_BYTES = 4
# The largest message that the process sends.
LARGEST_PICTURE = 4_000_000
# A part of a checkpoint.
PART_BYTES = 256_000
# A game that nobody watches ends after this time.
ALONE_SECONDS = 10.0

# Why a connection ends, where the WebSocket protocol has no number for it.
ENDED, NO_SUCH_GAME, STALE, WRONG_ORDER, TOO_SLOW, TOO_MANY = 4000, 4404, 4409, 4422, 4408, 4429


class PlayParameters(BaseModel):
    """Which Atari game a person plays."""

    model_config = ConfigDict(extra="forbid")

    env: EnvironmentId


class LiveParameters(BaseModel):
    """What a live job plays: the newest parameters of the run whenever there are newer, or one checkpoint."""

    model_config = ConfigDict(extra="forbid")

    follows: bool


class LiveAddress(BaseModel):
    """Where a live game's process reaches the backend; the ticket opens this one attempt's connection and no more."""

    model_config = ConfigDict(extra="forbid")

    url: str
    ticket: str


def ticket(worker_token: str, job: int, attempt: int) -> str:
    """Return what proves that a worker gave an attempt to a process, which does not learn the worker's token."""
    named = f"arcadia live job {job} attempt {attempt}"
    return hmac.new(worker_token.encode(), named.encode(), hashlib.sha256).hexdigest()


class AgentOnStage(BaseModel):
    """The agent of a live game, as it acts now."""

    algorithm: str
    learnt: Numbers
    step: int
    frames: int
    loaded: int = Field(description="How many checkpoints this process has loaded.")
    temperature: float
    sampled: str = Field(description="What the temperature means: policy, random or noise.")


class Scene(BaseModel):
    """What stands on the stage."""

    kind: Literal["scene"] = "scene"
    env: str
    action_names: tuple[str, ...]
    scale: int
    pictures_per_second: int
    game: int = Field(description="Counts the games, from 1.")
    paused: bool
    over: bool = Field(description="Whether the game has ended and a person decides when the next one begins.")
    agent: AgentOnStage | None = Field(description="None where only people play.")
    takes_hands: bool = Field(description="Whether a person can play it.")
    hands: str | None = Field(description="The viewer who plays, instead of the agent if there is one.")


class PictureHead(BaseModel):
    """What goes with a picture; `time` is the process's clock when the emulator had drawn it."""

    picture: int
    time: float
    game: int
    frames: int
    score: float
    lives: int
    action: int | list[float] | None
    value: float | None
    numbers: list[float]
    heard: list[str] = Field(description="The orders that were heeded since the picture before.")


def packed(head: PictureHead, picture: bytes) -> bytes:
    """Return a picture as one message."""
    told = head.model_dump_json().encode()
    return len(told).to_bytes(LENGTH_BYTES, "big") + told + picture


def unpacked(message: bytes) -> tuple[PictureHead, bytes]:
    """Read a picture's message."""
    end = LENGTH_BYTES + int.from_bytes(message[:LENGTH_BYTES], "big")
    return PictureHead.model_validate_json(message[LENGTH_BYTES:end]), message[end:]


class Ordered(BaseModel):
    """An order on its way to the process, and who gave it."""

    kind: Literal["ordered"] = "ordered"
    viewer: str
    order: Order


class Newer(BaseModel):
    """A newer checkpoint follows, in parts."""

    kind: Literal["newer"] = "newer"
    checkpoint: CheckpointFile


Told = Annotated[Ordered | Newer, Field(discriminator="kind")]
told_adapter: TypeAdapter[Told] = TypeAdapter(Told)


class Audience(BaseModel):
    """How many watch, and which of them the page is."""

    kind: Literal["audience"] = "audience"
    viewers: Count
    you: str


# The process is gone, or not there yet; it is started again while the game goes on.
AWAY = json.dumps({"kind": "away"})
