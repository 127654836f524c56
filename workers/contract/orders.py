"""Orders from pages to a live game, each one JSON message."""

from typing import Annotated, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, TypeAdapter

from workers.contract.values import NO_BOOLEAN

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
