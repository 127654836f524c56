"""The configuration of a run: one model for each method, selected by `algorithm`."""

from arcadia_workers.contract.config.asynchronous import (
    A3cConfig,
    AsynchronousFields,
    NStepQConfig,
    OneStepQConfig,
    OneStepSarsaConfig,
)
from arcadia_workers.contract.config.fields import Activation, Device, Precision, TrainingConfig
from arcadia_workers.contract.config.ga3c import Ga3cConfig
from arcadia_workers.contract.config.gorila import GorilaConfig
from arcadia_workers.contract.config.methods import (
    CONFIGURATIONS,
    METHODS,
    Method,
    RunConfig,
    config_adapter,
    methods_for,
)
from arcadia_workers.contract.config.ppo import PpoConfig
from arcadia_workers.contract.config.shared import (
    ActionValueConfig,
    ActorCriticFields,
    AdamFields,
    AgentFields,
    ValueBasedFields,
)
from arcadia_workers.contract.config.synchronous import LockstepFields, PaacConfig, PaacQConfig, SynchronousFields

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
    "PpoConfig",
    "Precision",
    "RunConfig",
    "SynchronousFields",
    "TrainingConfig",
    "ValueBasedFields",
    "config_adapter",
    "methods_for",
]
