"""Registry of evaluation protocols: one file and one line each. docs/extending.md explains how to add one."""

from arcadia_workers.contract.environment_families import EnvironmentFamily
from arcadia_workers.contract.protocols.protocol import (
    AGENT_STARTS,
    EPISODES,
    HUMAN_STARTS,
    NO_OP_5MIN,
    NO_OP_30MIN,
    STICKY_30MIN,
)
from arcadia_workers.contract.protocols.protocol import EvaluationProtocol as EvaluationProtocol

PROTOCOLS: dict[str, EvaluationProtocol] = {
    protocol.name: protocol
    for protocol in (NO_OP_5MIN, NO_OP_30MIN, STICKY_30MIN, HUMAN_STARTS, AGENT_STARTS, EPISODES)
}


def fitting_protocols(family: EnvironmentFamily) -> list[str]:
    """Return the names of the protocols for an environment family, the default first."""
    return [protocol.name for protocol in PROTOCOLS.values() if protocol.fits(family)]
