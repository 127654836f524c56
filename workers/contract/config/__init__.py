"""The configuration of a run: one model for each method, selected by `algorithm`."""

from typing import Annotated, get_args

from pydantic import Field, TypeAdapter

from workers.contract.config.actor_critic import ActorCriticFields, AgentFields
from workers.contract.config.asynchronous import (
    A3cConfig,
    AsynchronousFields,
    NStepQConfig,
    OneStepQConfig,
    OneStepSarsaConfig,
)
from workers.contract.config.fields import Activation, Device, Network, Precision, TrainingConfig
from workers.contract.config.ga3c import Ga3cConfig
from workers.contract.config.gorila import GorilaConfig
from workers.contract.config.optimizers import AdamFields
from workers.contract.config.synchronous import LockstepFields, PaacConfig, PaacQConfig, SynchronousFields
from workers.contract.config.value_based import ActionValueConfig, ValueBasedFields
from workers.contract.games import Environment

# One line for each method.
RunConfig = Annotated[
    A3cConfig
    | OneStepQConfig
    | OneStepSarsaConfig
    | NStepQConfig
    | PaacConfig
    | PaacQConfig
    | Ga3cConfig
    | GorilaConfig,
    Field(discriminator="algorithm"),
]

config_adapter: TypeAdapter[RunConfig] = TypeAdapter(RunConfig)

_union, *_ = get_args(RunConfig)
CONFIGURATIONS: dict[str, type[TrainingConfig]] = {
    configuration.model_fields["algorithm"].default: configuration for configuration in get_args(_union)
}


def methods_for(environment: Environment) -> list[str]:
    """Return the algorithms that can act in an environment."""
    return [name for name, configuration in CONFIGURATIONS.items() if configuration.can_act_in(environment)]


__all__ = [
    "CONFIGURATIONS",
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
    "NStepQConfig",
    "Network",
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
