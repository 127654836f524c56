"""Registry of evaluation protocols: one file and one line each. docs/extending.md explains how to add one."""

from workers.contract.environment_families import EnvironmentFamily
from workers.contract.protocols.agent_starts import AGENT_STARTS
from workers.contract.protocols.episodes import EPISODES
from workers.contract.protocols.human_starts import HUMAN_STARTS
from workers.contract.protocols.no_op_5min import NO_OP_5MIN
from workers.contract.protocols.no_op_30min import NO_OP_30MIN
from workers.contract.protocols.protocol import EvaluationProtocol as EvaluationProtocol
from workers.contract.protocols.sticky_30min import STICKY_30MIN

PROTOCOLS: dict[str, EvaluationProtocol] = {
    protocol.name: protocol
    for protocol in (NO_OP_5MIN, NO_OP_30MIN, STICKY_30MIN, HUMAN_STARTS, AGENT_STARTS, EPISODES)
}


def fitting_protocols(family: EnvironmentFamily) -> list[str]:
    """Return the names of the protocols for an environment family, the default first."""
    return [protocol.name for protocol in PROTOCOLS.values() if protocol.fits(family)]
