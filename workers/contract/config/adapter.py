"""Validation of configurations, selected by `algorithm`."""

from functools import reduce
from operator import or_
from typing import Annotated, Any

from pydantic import Field, TypeAdapter

from workers.contract.config.fields import TrainingConfig
from workers.contract.config.methods import CONFIGURATIONS

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
