"""Registry of the methods, with their configurations."""

from dataclasses import dataclass
from functools import reduce
from operator import or_
from typing import Annotated, Any

from pydantic import Field, TypeAdapter

from arcadia_workers.contract.config.asynchronous import A3cConfig, NStepQConfig, OneStepQConfig, OneStepSarsaConfig
from arcadia_workers.contract.config.fields import TrainingConfig
from arcadia_workers.contract.config.ga3c import Ga3cConfig
from arcadia_workers.contract.config.gorila import GorilaConfig
from arcadia_workers.contract.config.ppo import PpoConfig
from arcadia_workers.contract.config.synchronous import PaacConfig, PaacQConfig
from arcadia_workers.contract.games import Environment
from arcadia_workers.contract.metrics import Metric

_FOLDER = "arcadia_workers.trainer.methods"


@dataclass(frozen=True)
class Method:
    """A learning algorithm, described without importing its trainer."""

    # The configuration model, with facts about the method.
    config: type[TrainingConfig]
    # "package.module:NAME" of its `Trainer`. Only the trainer imports it.
    trainer: str
    # Metrics that it reports in addition to those of the catalog.
    metrics: tuple[Metric, ...] = ()

    @property
    def algorithm(self) -> str:
        """The value of the configuration's field `algorithm`."""
        return str(self.config.model_fields["algorithm"].default)


# One line for each method.
METHODS: dict[str, Method] = {
    method.algorithm: method
    for method in (
        Method(A3cConfig, f"{_FOLDER}.asynchronous:A3C"),
        Method(OneStepQConfig, f"{_FOLDER}.asynchronous:ONE_STEP_Q"),
        Method(OneStepSarsaConfig, f"{_FOLDER}.asynchronous:ONE_STEP_SARSA"),
        Method(NStepQConfig, f"{_FOLDER}.asynchronous:N_STEP_Q"),
        Method(PaacConfig, f"{_FOLDER}.paac:PAAC"),
        Method(PaacQConfig, f"{_FOLDER}.paac:PAAC_Q"),
        Method(PpoConfig, f"{_FOLDER}.ppo:PPO"),
        Method(Ga3cConfig, f"{_FOLDER}.ga3c:GA3C"),
        Method(GorilaConfig, f"{_FOLDER}.gorila:GORILA"),
    )
}

CONFIGURATIONS: dict[str, type[TrainingConfig]] = {name: method.config for name, method in METHODS.items()}


def methods_for(environment: Environment) -> list[str]:
    """Return the algorithms that can act in an environment."""
    return [name for name, configuration in CONFIGURATIONS.items() if configuration.can_act_in(environment)]


RunConfig = TrainingConfig
"""The configuration of any registered method."""


class ConfigAdapter:
    """Validator for configurations of all registered methods, including those registered later."""

    def __init__(self) -> None:
        self._adapter: TypeAdapter[RunConfig] | None = None
        self._methods: tuple[type[TrainingConfig], ...] = ()

    def validate_python(self, values: object) -> RunConfig:
        """Return the configuration. Raise pydantic's ValidationError if it is invalid."""
        return self._current.validate_python(values)

    def validate_json(self, text: str | bytes) -> RunConfig:
        """Return the configuration in a JSON text. Raise pydantic's ValidationError if it is invalid."""
        return self._current.validate_json(text)

    def json_schema(self) -> dict[str, Any]:
        """Return the JSON schema of the configurations."""
        return self._current.json_schema()

    @property
    def _current(self) -> TypeAdapter[RunConfig]:
        methods = tuple(CONFIGURATIONS.values())
        if self._adapter is None or methods != self._methods:
            union: Any = reduce(or_, methods)
            self._adapter = TypeAdapter(Annotated[union, Field(discriminator="algorithm")])
            self._methods = methods
        return self._adapter


config_adapter = ConfigAdapter()
