"""Settings of the Atari emulator. Other environments ignore them."""

from typing import Annotated, Literal

from pydantic import Field

_ENVIRONMENT = {"group": "Environment"}

MaxNoops = Annotated[
    int,
    Field(
        ge=0,
        le=1000,
        title="Maximum no-ops",
        description="Atari games start with a random number of no-op actions. This is the upper end of the range; "
        "Minimum no-ops sets the lower end.",
        json_schema_extra=_ENVIRONMENT,
    ),
]
MinNoops = Annotated[
    int,
    Field(
        ge=0,
        le=1,
        title="Minimum no-ops",
        description="1: draw from 1 to Maximum no-ops, as in the papers. 0: draw from 0 to one less than that, which "
        "is the emulator's default.",
        json_schema_extra=_ENVIRONMENT,
    ),
]
FireAtReset = Annotated[
    bool,
    Field(
        title="Fire at reset",
        description="Press FIRE in the first frame of Atari games that have this action; it counts as a no-op. The "
        "papers and evaluations do not press it: the agent has to learn to.",
        json_schema_extra=_ENVIRONMENT,
    ),
]
RepeatActionProbability = Annotated[
    float,
    Field(
        ge=0,
        lt=1,
        title="Repeat-action probability",
        description="Probability that the Atari emulator repeats the action of the previous frame; 0 in the papers. "
        "In gymnasium an id that ends in -v5 implies 0.25; here only this field counts.",
        json_schema_extra=_ENVIRONMENT,
    ),
]
ActionSet = Annotated[
    Literal["minimal", "full"],
    Field(
        title="Action set",
        description="minimal: only the actions that have an effect in the Atari game, as in the papers; full: all 18 "
        "joystick actions.",
        json_schema_extra=_ENVIRONMENT,
    ),
]
CapFrames = Annotated[
    int,
    Field(
        ge=4,
        le=100_000_000,
        title="Frame limit",
        description="Cut off an Atari game after this many frames, not counting no-ops; 108,000 frames are half an "
        "hour. Returns continue past the cut.",
        json_schema_extra=_ENVIRONMENT,
    ),
]
