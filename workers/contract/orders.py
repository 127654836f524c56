"""The orders that pages give to a live game, each as one JSON message."""

from typing import Annotated, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, TypeAdapter

from workers.contract.values import NO_BOOLEAN

# The largest message that a page may send.
LARGEST_ORDER = 1_000
# A page says that it has got so many pictures, and is sent no more while this many times as many are unheard of.
SEEN_EVERY = 8

# What a person may hold down.
Key = Literal["up", "down", "left", "right", "fire"]
KEYS: tuple[Key, ...] = get_args(Key)
# A person who has said nothing for so long has left: pages say something each second.
SILENT_HANDS_SECONDS = 5.0


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


class TakeOver(_Order):
    """Play, instead of the agent if there is one; one viewer at a time does."""

    order: Literal["take over"] = "take over"


class HandBack(_Order):
    """Play no longer."""

    order: Literal["hand back"] = "hand back"


class Keys(_Order):
    """Hold these keys down from now on, and no others; of the viewer who plays."""

    order: Literal["keys"] = "keys"
    held: Annotated[list[Key], Field(max_length=len(KEYS))]


class Keep(_Order):
    """Keep what has been played of this game, which only people have played."""

    order: Literal["keep"] = "keep"


class Seen(_Order):
    """A page has got SEEN_EVERY more pictures; the process never hears of it."""

    order: Literal["seen"]


Order = Annotated[
    Ping | Pause | Go | Step | NewGame | SetTemperature | TakeOver | HandBack | Keys | Keep | Seen,
    Field(discriminator="order"),
]

order_adapter: TypeAdapter[Order] = TypeAdapter(Order)
