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

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, TypeAdapter

from workers.contract.events import CheckpointFile
from workers.contract.tracks import Numbers
from workers.contract.values import NO_BOOLEAN, Count

LENGTH_BYTES = 4
# The largest message that the process sends, and the largest that a page may.
LARGEST_PICTURE = 4_000_000
LARGEST_ORDER = 1_000
# A part of a checkpoint.
PART_BYTES = 256_000
# A page says that it has got so many pictures, and is sent no more while this many times as many are unheard of.
SEEN_EVERY = 8
# A game that nobody watches ends after this time.
ALONE_SECONDS = 10.0

# Why a connection ends, where the WebSocket protocol has no number for it.
ENDED, NO_SUCH_GAME, STALE, WRONG_ORDER, TOO_SLOW, TOO_MANY = 4000, 4404, 4409, 4422, 4408, 4429


class LiveParameters(BaseModel):
    """What a live errand plays: the newest parameters of the run whenever there are newer, or one checkpoint."""

    model_config = ConfigDict(extra="forbid")

    follows: bool


class LiveAddress(BaseModel):
    """Where a live game's process reaches the backend; the ticket opens this one attempt's connection and no more."""

    model_config = ConfigDict(extra="forbid")

    url: str
    ticket: str


def ticket(worker_token: str, errand: int, attempt: int) -> str:
    """Return what proves that a worker gave an attempt to a process, which does not learn the worker's token."""
    named = f"arcadia live errand {errand} attempt {attempt}"
    return hmac.new(worker_token.encode(), named.encode(), hashlib.sha256).hexdigest()


class Scene(BaseModel):
    """What stands on the stage; `hands` is the viewer who plays instead of the agent."""

    kind: Literal["scene"] = "scene"
    env: str
    algorithm: str
    action_names: tuple[str, ...]
    learnt: Numbers
    scale: int
    pictures_per_second: int
    step: int
    frames: int
    loaded: int = Field(description="How many checkpoints this process has loaded.")
    game: int = Field(description="Counts the games, from 1.")
    paused: bool
    temperature: float
    sampled: str = Field(description="What the temperature means: policy, random or noise.")
    hands: str | None


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


class _Order(BaseModel):
    model_config = ConfigDict(extra="forbid")

    # Told back with the first picture after it was heeded, so that a page knows how long that took.
    id: Annotated[str, StringConstraints(max_length=20)] = ""


class Ping(_Order):
    order: Literal["ping"]


class Pause(_Order):
    order: Literal["pause"]


class Go(_Order):
    order: Literal["go"]


class Step(_Order):
    """Take one decision, and pause."""

    order: Literal["step"]


class NewGame(_Order):
    order: Literal["new game"]


class SetTemperature(_Order):
    order: Literal["temperature"]
    value: Annotated[float, Field(ge=0, le=1), NO_BOOLEAN]


class Seen(_Order):
    """A page has got SEEN_EVERY more pictures; the process never hears of it."""

    order: Literal["seen"]


Order = Annotated[
    Ping | Pause | Go | Step | NewGame | SetTemperature | Seen,
    Field(discriminator="order"),
]

order_adapter: TypeAdapter[Order] = TypeAdapter(Order)


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
