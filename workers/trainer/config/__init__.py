"""The configuration of a run: one model a method, told apart by `algorithm`; imported by the backend too (no torch)."""

from typing import Annotated

from pydantic import Field, TypeAdapter

from workers.trainer.config.asynchronous import (
    A3cConfig,
    AsynchronousFields,
    NStepQConfig,
    OneStepQConfig,
    OneStepSarsaConfig,
)
from workers.trainer.config.fields import Activation, Device, Network, Optimizer, Precision, TrainingConfig
from workers.trainer.config.ga3c import Ga3cConfig
from workers.trainer.config.gorila import GorilaConfig
from workers.trainer.config.synchronous import PaacConfig, PaacQConfig, SynchronousFields
from workers.trainer.config.value_based import ValueBasedFields

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

__all__ = [
    "A3cConfig",
    "Activation",
    "AsynchronousFields",
    "Device",
    "Ga3cConfig",
    "GorilaConfig",
    "NStepQConfig",
    "Network",
    "OneStepQConfig",
    "OneStepSarsaConfig",
    "Optimizer",
    "PaacConfig",
    "PaacQConfig",
    "Precision",
    "RunConfig",
    "SynchronousFields",
    "TrainingConfig",
    "ValueBasedFields",
    "config_adapter",
]
