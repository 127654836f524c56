"""Choice of the evaluation protocol of a run."""

from collections.abc import Mapping
from typing import Any

from workers.contract.games import ENVIRONMENTS
from workers.contract.protocols import PROTOCOLS, fitting_protocols
from workers.contract.protocols.acting import Acting
from workers.contract.protocols.episodes import EPISODES


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
