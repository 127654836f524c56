"""The configuration of a run: one model for each method, selected by `algorithm`."""

from workers.contract.config.asynchronous import (
    A3cConfig,
    AsynchronousFields,
    NStepQConfig,
    OneStepQConfig,
    OneStepSarsaConfig,
)
from workers.contract.config.fields import Activation, Device, Precision, TrainingConfig
from workers.contract.config.ga3c import Ga3cConfig
from workers.contract.config.gorila import GorilaConfig
from workers.contract.config.methods import CONFIGURATIONS, METHODS, Method, RunConfig, config_adapter, methods_for
from workers.contract.config.shared import (
    ActionValueConfig,
    ActorCriticFields,
    AdamFields,
    AgentFields,
    ValueBasedFields,
)
from workers.contract.config.synchronous import LockstepFields, PaacConfig, PaacQConfig, SynchronousFields

__all__ = [
    "CONFIGURATIONS",
    "METHODS",
    "A3cConfig",
    "ActionValueConfig",
    "Activation",
    "ActorCriticFields",
    "AdamFields",
    "AgentFields",
    "AsynchronousFields",
    "Device",
    "Ga3cConfig",
    "GorilaConfig",
    "LockstepFields",
    "Method",
    "NStepQConfig",
    "OneStepQConfig",
    "OneStepSarsaConfig",
    "PaacConfig",
    "PaacQConfig",
    "Precision",
    "RunConfig",
    "SynchronousFields",
    "TrainingConfig",
    "ValueBasedFields",
    "config_adapter",
    "methods_for",
]
