"""Settings of the Atari emulator and of evaluations, and which fields may change while a run trains."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field

from arcadia_workers.contract.games import ENVIRONMENTS
from arcadia_workers.contract.protocols import PROTOCOLS, fitting_protocols
from arcadia_workers.contract.protocols.document import Acting
from arcadia_workers.contract.protocols.protocol import EPISODES


def changeable(reason: str) -> dict[str, Any]:
    """Return the JSON schema entry of a field that a live run can change, with the reason why that is safe."""
    return {"changeable": reason}


# The next update uses the new value, and no stored state depends on the old one.
NEXT_UPDATE = changeable("The next update uses it.")
DECAYING = changeable("Its value depends on the step and the total steps, so the next update uses the new one.")
SCHEDULE = changeable("It does not affect what the agent learns.")
LENGTH = changeable("Training ends at the new step. Decays over all steps follow the new total from the next update.")


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


def choosable_protocols() -> list[str]:
    """Return the names of the protocols that need no start set."""
    return [name for name, protocol in PROTOCOLS.items() if protocol.starts_from is None]


def usual_protocol(env: str) -> str:
    """Return the default protocol of an environment. The environment may belong to a missing plug-in."""
    environment = ENVIRONMENTS.get(env)
    return fitting_protocols(environment.family)[0] if environment else EPISODES.name


def protocol_of(config: Mapping[str, Any]) -> str:
    """Return the protocol of a run's configuration, which may come from an earlier version."""
    chosen = str(config.get("evaluation_protocol", "auto"))
    return usual_protocol(config["env"]) if chosen == "auto" else chosen


def unfit_because(protocol: str, env: str) -> str | None:
    """Return why a protocol does not fit an environment and which one does, or None if it fits."""
    fit = fitting_protocols(ENVIRONMENTS[env].family)
    if protocol in fit:
        return None
    choice = " or ".join(name for name in fit if name in choosable_protocols())
    if protocol not in PROTOCOLS:
        return f"there is no protocol {protocol[:80]!r}: use {choice}"
    return f"{protocol} is not for {env}: use {choice}"


def unfit_without_starts_because(protocol: str, env: str) -> str | None:
    """Return why a protocol does not fit where no start set can be chosen, or None if it fits."""
    if (refusal := unfit_because(protocol, env)) is not None or protocol in choosable_protocols():
        return refusal
    choice = " or ".join(name for name in fitting_protocols(ENVIRONMENTS[env].family) if name in choosable_protocols())
    return f"{protocol} begins at a set of start points, which cannot be chosen here: use {choice}"


def acting_unfit_because(acting: Acting, usual: Acting, env: str) -> str | None:
    """Return why an agent whose default acting is `usual` cannot use `acting`, or None if it can."""
    if acting.name == "random":
        return "random plays without an agent: use sampled, greedy or epsilon-greedy"
    if acting.name == "sampled" and usual.name == "epsilon-greedy":
        return "sampled needs a policy, but this method learns action values: use epsilon-greedy or greedy"
    if acting.name == "epsilon-greedy" and ENVIRONMENTS[env].actions == "continuous":
        return "epsilon-greedy needs discrete actions, but these are continuous: use sampled or greedy"
    return None
