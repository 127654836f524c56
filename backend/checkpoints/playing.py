"""Default protocol and acting of a run's agent. Agents of other libraries have no configuration of Arcadia."""

from backend.database.tables import Run
from workers.contract.config import CONFIGURATIONS
from workers.contract.config.evaluation import protocol_of
from workers.contract.protocols.acting import EPSILON_GREEDY, SAMPLED, Acting


def usual_protocol_of(run: Run) -> str:
    """Return the protocol of a run's evaluations and recordings."""
    return protocol_of({"env": run.env, **run.config})


def usual_acting_of(run: Run) -> Acting:
    """Return how the agent of a run chooses actions, as in the paper of its method."""
    configuration = CONFIGURATIONS.get(run.algorithm)
    if configuration is not None:
        return configuration.usual_acting
    return EPSILON_GREEDY if run.config.get("learns") == "values" else SAMPLED
