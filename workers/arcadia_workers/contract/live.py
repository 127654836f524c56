"""Messages of live games: keys, orders, and what viewers receive.

The process sends pictures as binary messages (`packed`): four bytes with the length of the head, big endian, the head
as JSON (`PictureHead`), and the picture as PNG. All other messages are JSON text. The process sends the `Scene`
whenever it changes. The backend passes both to every page, and passes the pages' orders to the process. It announces a
newer checkpoint with `newer`, followed by its bytes in binary messages.
"""

import json
from collections.abc import Collection, Sequence
from typing import Annotated, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, TypeAdapter

from arcadia_workers.contract.events import CheckpointFile
from arcadia_workers.contract.games import EnvironmentId
from arcadia_workers.contract.protocols.starts import MAX_ACTION, HeldAction
from arcadia_workers.contract.tracks import Numbers
from arcadia_workers.contract.values import NO_BOOLEAN, Count, Id

# The largest message of a page.
LARGEST_ORDER = 1_000
# Number of pictures per acknowledgment. Pictures stop while too many are unacknowledged.
SEEN_EVERY = 8

# The keys of a person who plays.
Key = Literal["up", "down", "left", "right", "fire"]
KEYS: tuple[Key, ...] = get_args(Key)
# A person who is silent for this long has left. Pages send a message every second.
SILENT_HANDS_SECONDS = 5.0


class _Order(BaseModel):
    model_config = ConfigDict(extra="forbid")

    # Returned with the first picture after the order was applied, so that the page can measure the delay.
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


class TakeOver(_Order):
    """Play instead of the agent. Only one viewer can play."""

    order: Literal["take over"] = "take over"


class HandBack(_Order):
    """Stop playing."""

    order: Literal["hand back"] = "hand back"


class LetAgentPlay(_Order):
    """Stop playing, and let the agent continue a game that waits for a person."""

    order: Literal["let agent play"] = "let agent play"


class Keys(_Order):
    """Hold exactly these keys down. Only the viewer who plays may send this."""

    order: Literal["keys"] = "keys"
    held: Annotated[list[Key], Field(max_length=len(KEYS))]


class Keep(_Order):
    """Save this game as far as it is played. An agent may only have played it if it continues a replay."""

    order: Literal["keep"] = "keep"


class Seen(_Order):
    """Acknowledge SEEN_EVERY pictures. The backend does not pass this on."""

    order: Literal["seen"]


Order = Annotated[
    Ping | Pause | Go | Step | NewGame | SetTemperature | TakeOver | HandBack | LetAgentPlay | Keys | Keep | Seen,
    Field(discriminator="order"),
]

order_adapter: TypeAdapter[Order] = TypeAdapter(Order)


NO_ACTION = "NOOP"

Meaning = tuple[int, int, int]
"""Joystick state: right (1) or left (−1), up (1) or down (−1), and fire (1)."""

NO_KEY: Meaning = (0, 0, 0)

# Parts of action names for each key. The torque belongs to Acrobot.
_WORDS: dict[Key, tuple[str, ...]] = {
    "right": ("right", "torque +1"),
    "left": ("left", "torque −1"),
    "up": ("up", "forward", "main engine", "gas"),
    "down": ("down", "backward", "brake"),
    "fire": ("fire", "step "),
}


def meaning(name: str) -> Meaning:
    """Return the joystick state that an action's name describes."""
    meant = {key for key, words in _WORDS.items() if any(word in name.lower() for word in words)}
    return ("right" in meant) - ("left" in meant), ("up" in meant) - ("down" in meant), int("fire" in meant)


def are_playable(names: Sequence[str]) -> bool:
    """Return True if each of these actions has its own combination of keys."""
    return len(names) <= MAX_ACTION + 1 and len({meaning(name) for name in names}) == len(names) > 1


def allow_rest(names: Sequence[str]) -> bool:
    """Return True if one of these actions needs no key, so that a person can do nothing."""
    return any(meaning(name) == NO_KEY for name in names)


def use_fire(names: Sequence[str]) -> bool:
    """Return True if one of these actions needs the fire key."""
    return any(meaning(name)[2] for name in names)


def nearest(held: Collection[Key], names: Sequence[str]) -> str:
    """Return the action that is closest to the held keys; the first one if several are.

    A person can always do nothing. If the action set has no such action, the result is NO_ACTION.
    """
    across, up = ("right" in held) - ("left" in held), ("up" in held) - ("down" in held)
    meant = {name: meaning(name) for name in names}
    # Pong's paddle moves up with RIGHT. If a game uses one axis only, the keys of the other axis work too.
    if not any(each[1] for each in meant.values()):
        across, up = across or up, 0
    elif not any(each[0] for each in meant.values()):
        across, up = 0, up or across
    wish = (across, up, int("fire" in held))
    choices = meant if allow_rest(names) else {NO_ACTION: NO_KEY} | meant
    return min(choices, key=lambda name: sum(abs(a - b) for a, b in zip(choices[name], wish, strict=True)))


LENGTH_BYTES = 4
# The largest message of the process.
LARGEST_PICTURE = 4_000_000
# The size of a checkpoint's parts.
PART_BYTES = 256_000
# A game without viewers ends after this time.
ALONE_SECONDS = 10.0

# Close codes for reasons that the WebSocket protocol does not define.
ENDED, NO_SUCH_GAME, STALE, WRONG_ORDER, TOO_SLOW, TOO_MANY = 4000, 4404, 4409, 4422, 4408, 4429


class ReplayOrigin(BaseModel):
    """The decision of a replay from which a person continues it, with the actions and the score before it."""

    model_config = ConfigDict(extra="forbid")

    replay_id: Id
    decision: Count
    protocol: str
    seed: Count
    episode: Count
    actions: list[int]
    score: float


class PlayParameters(BaseModel):
    """The environment that people play, from its start or from a decision of a replay."""

    model_config = ConfigDict(extra="forbid")

    env: EnvironmentId
    origin: ReplayOrigin | None = Field(default=None, exclude_if=lambda origin: origin is None)


class KeptActions(BaseModel):
    """A kept game as its seed and its actions, with the expected result."""

    model_config = ConfigDict(extra="forbid")

    env: EnvironmentId
    seed: Count
    actions: list[HeldAction] = Field(
        description="Each action with the number of frames for which it was held. Those of Atari games are of the full "
        "set."
    )
    played: Count = Field(description="Frames of the game.")
    score: float


class LiveParameters(BaseModel):
    """Whether a live game switches to newer checkpoints of the run, or keeps one."""

    model_config = ConfigDict(extra="forbid")

    follows: bool


class LiveAddress(BaseModel):
    """The address of the backend for the process of a live game. The ticket is the token of this attempt."""

    model_config = ConfigDict(extra="forbid")

    url: str
    ticket: str


class AgentOnStage(BaseModel):
    """The current agent of a live game."""

    algorithm: str
    numbers_kind: Numbers
    step: int
    frames: int
    loaded: int = Field(description="Number of checkpoints that this process has loaded.")
    temperature: float
    sampled: str = Field(description="Meaning of the temperature: policy, random or noise.")


class OriginOnStage(BaseModel):
    """The decision of a replay at which a game begins, with the score and frames before it."""

    decision: int
    score: float
    frames: int


class Scene(BaseModel):
    """The state of a live game."""

    kind: Literal["scene"] = "scene"
    env: str
    action_names: tuple[str, ...]
    scale: int
    pictures_per_second: int
    game: int = Field(description="Number of the game, from 1.")
    paused: bool
    over: bool = Field(description="Whether the game has ended and waits for a person to start the next.")
    waiting: bool = Field(description="Whether the game waits for a person, at the start or without a player.")
    origin: OriginOnStage | None = Field(description="None if the game begins at its own start.")
    agent: AgentOnStage | None = Field(description="None if only people play.")
    takes_hands: bool = Field(description="Whether a person can play it.")
    can_rest: bool = Field(
        description="Whether a person can do nothing. If not, the game only advances while a key is held."
    )
    has_fire: bool = Field(description="Whether the fire key does something.")
    hands: str | None = Field(description="The viewer who plays instead of the agent.")


class PictureHead(BaseModel):
    """The data of a picture. `time` is the clock of the process when the emulator drew it."""

    picture: int
    time: float
    game: int
    frames: int
    score: float
    lives: int
    action: int | list[float] | None
    value: float | None
    numbers: list[float]
    heard: list[str] = Field(description="Ids of the orders applied since the previous picture.")


def packed(head: PictureHead, picture: bytes) -> bytes:
    """Return a picture as one message."""
    document = head.model_dump_json().encode()
    return len(document).to_bytes(LENGTH_BYTES, "big") + document + picture


def unpacked(message: bytes) -> tuple[PictureHead, bytes]:
    """Parse the message of a picture."""
    end = LENGTH_BYTES + int.from_bytes(message[:LENGTH_BYTES], "big")
    return PictureHead.model_validate_json(message[LENGTH_BYTES:end]), message[end:]


class Ordered(BaseModel):
    """An order for the process, with the viewer who gave it."""

    kind: Literal["ordered"] = "ordered"
    viewer: str
    order: Order


class Newer(BaseModel):
    """An announcement of a newer checkpoint, which follows in parts."""

    kind: Literal["newer"] = "newer"
    checkpoint: CheckpointFile


StageMessage = Annotated[Ordered | Newer, Field(discriminator="kind")]
stage_message_adapter: TypeAdapter[StageMessage] = TypeAdapter(StageMessage)


class Audience(BaseModel):
    """The number of viewers, and the name of the receiving viewer."""

    kind: Literal["audience"] = "audience"
    viewers: Count
    you: str


# The process is gone or has not connected yet. It is restarted while the game continues.
AWAY = json.dumps({"kind": "away"})
