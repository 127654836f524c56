"""Settings of the Atari emulator. Other environments ignore them."""

from typing import Annotated, Literal

from pydantic import Field

_ENVIRONMENT = {"group": "Environment"}

MaxNoops = Annotated[
    int,
    Field(
        ge=0,
        le=1000,
        title="No-op starts",
        description="An Atari game opens with a random number of no-op actions, at most this many; Fewest no-ops says "
        "where the range begins.",
        json_schema_extra=_ENVIRONMENT,
    ),
]
MinNoops = Annotated[
    int,
    Field(
        ge=0,
        le=1,
        title="Fewest no-ops",
        description="1: no-op starts of 1 to the number above, as in the papers. 0: of 0 to one fewer than that, which "
        "is the emulator's default.",
        json_schema_extra=_ENVIRONMENT,
    ),
]
FireAtReset = Annotated[
    bool,
    Field(
        title="Fire at reset",
        description="Press FIRE in the first frame of an Atari game that knows it; it counts as a no-op. The papers do "
        "not, and evaluations do not either: their agents learn to.",
        json_schema_extra=_ENVIRONMENT,
    ),
]
RepeatActionProbability = Annotated[
    float,
    Field(
        ge=0,
        lt=1,
        title="Repeat-action probability",
        description="Probability that an Atari emulator repeats the action of the frame before: 0 in the papers. "
        "Elsewhere, as in gymnasium, an id that ends in -v5 means 0.25; here it means what this field says.",
        json_schema_extra=_ENVIRONMENT,
    ),
]
ActionSet = Annotated[
    Literal["minimal", "full"],
    Field(
        title="Action set",
        description="minimal: the actions that have an effect in the Atari game, as in the papers; full: all 18 of the "
        "joystick.",
        json_schema_extra=_ENVIRONMENT,
    ),
]
CapFrames = Annotated[
    int,
    Field(
        ge=4,
        le=100_000_000,
        title="Episode cap, frames",
        description="Frames after which an Atari game is cut off, not counting no-ops: 108,000 are half an hour. "
        "Returns go on behind the cut.",
        json_schema_extra=_ENVIRONMENT,
    ),
]
