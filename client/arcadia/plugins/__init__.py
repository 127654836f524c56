"""The interface for plug-ins: packages that add environments, methods, networks, protocols, presets and papers.

An entry point in one of these groups names a `Plugin`, which lists the parts that it provides:

    arcadia.environments    Environment
    arcadia.networks        Network
    arcadia.protocols       EvaluationProtocol
    arcadia.methods         Method
    arcadia.presets         Preset
    arcadia.papers          Paper, from arcadia.plugins.papers

The backend and the workers import these entry points, so they must not import PyTorch or an environment. A part names
its other half by a string, which only the trainer imports. `arcadia.plugins.training` has the pieces for that half.

The module needs the server's package, because the classes are those of the built-in methods and environments.
"""

from __future__ import annotations

try:
    import arcadia_workers  # noqa: F401
except ModuleNotFoundError as error:
    raise ImportError(
        "arcadia.plugins needs Arcadia's server package, and only the client is installed here. "
        "Install the server's wheel too, which `make wheel` builds in a copy of Arcadia's repository."
    ) from error

# isort: split
from arcadia_workers.contract.config import CONFIGURATIONS, METHODS, Method, TrainingConfig, config_adapter
from arcadia_workers.contract.config.emulator import DECAYING, LENGTH, NEXT_UPDATE, SCHEDULE, changeable
from arcadia_workers.contract.config.fields import (
    DECAY,
    ENVIRONMENT,
    ESSENTIAL,
    EXPLORATION,
    NETWORK,
    OPTIMIZATION,
    REPLAY,
    ROLES,
    ROLLOUT,
    RUN,
    Decay,
    Device,
    grouped,
)
from arcadia_workers.contract.config.shared import (
    ActionValueConfig,
    ActorCriticFields,
    AdamFields,
    AgentFields,
    CeilingFields,
    CenteredFields,
    RmsPropFields,
    Stepping,
    ValueBasedFields,
)
from arcadia_workers.contract.config.synchronous import LockstepFields, SynchronousFields
from arcadia_workers.contract.environment_families import (
    BOX2D,
    CLASSIC_CONTROL,
    FIRST_STEPS,
    MUJOCO,
    EnvironmentFamily,
)
from arcadia_workers.contract.games import ENVIRONMENTS, NETWORKS, ActionKind, Environment, Network, ObservationKind
from arcadia_workers.contract.metrics import Metric
from arcadia_workers.contract.plugins.discovery import VERSION, Plugin
from arcadia_workers.contract.plugins.loading import PLUGINS, load
from arcadia_workers.contract.presets import PRESETS, Preset
from arcadia_workers.contract.protocols import PROTOCOLS, EvaluationProtocol
from arcadia_workers.contract.protocols.document import EPSILON_GREEDY, GREEDY, SAMPLED, Acting

__all__ = [
    "BOX2D",
    "CLASSIC_CONTROL",
    "CONFIGURATIONS",
    "DECAY",
    "DECAYING",
    "ENVIRONMENT",
    "ENVIRONMENTS",
    "EPSILON_GREEDY",
    "ESSENTIAL",
    "EXPLORATION",
    "FIRST_STEPS",
    "GREEDY",
    "LENGTH",
    "METHODS",
    "MUJOCO",
    "NETWORK",
    "NETWORKS",
    "NEXT_UPDATE",
    "OPTIMIZATION",
    "PLUGINS",
    "PRESETS",
    "PROTOCOLS",
    "REPLAY",
    "ROLES",
    "ROLLOUT",
    "RUN",
    "SAMPLED",
    "SCHEDULE",
    "VERSION",
    "Acting",
    "ActionKind",
    "ActionValueConfig",
    "ActorCriticFields",
    "AdamFields",
    "AgentFields",
    "CeilingFields",
    "CenteredFields",
    "Decay",
    "Device",
    "Environment",
    "EnvironmentFamily",
    "EvaluationProtocol",
    "LockstepFields",
    "Method",
    "Metric",
    "Network",
    "ObservationKind",
    "Plugin",
    "Preset",
    "RmsPropFields",
    "Stepping",
    "SynchronousFields",
    "TrainingConfig",
    "ValueBasedFields",
    "changeable",
    "config_adapter",
    "grouped",
    "load",
]
