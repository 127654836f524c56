"""Changes of the settings of a live run, and the file that passes them to a trainer."""

from collections.abc import Mapping
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, JsonValue, TypeAdapter, ValidationError

from workers.contract.config import TrainingConfig
from workers.contract.config.problems import FieldProblem, problems_of
from workers.contract.values import Count, Ordinal, Text

MAX_FIELDS = 50
ChangedFields = Annotated[dict[Text, JsonValue], Field(min_length=1, max_length=MAX_FIELDS)]


class RequestedChange(BaseModel):
    """A requested change. Its number identifies it within the run, so that it is applied once."""

    model_config = ConfigDict(extra="ignore")

    number: Ordinal
    fields: ChangedFields
    step: Count = Field(default=0, description="It is applied at the first update at or after this step.")


changes_adapter: TypeAdapter[list[RequestedChange]] = TypeAdapter(list[RequestedChange])


def changeable_fields(config: type[TrainingConfig]) -> dict[str, str]:
    """Return the fields that a live run of a method can change, each with the reason why that is safe."""
    extras = {name: field.json_schema_extra for name, field in config.model_fields.items()}
    return {
        name: str(extra["changeable"])
        for name, extra in extras.items()
        if isinstance(extra, dict) and "changeable" in extra
    }


def changed(config: TrainingConfig, fields: Mapping[str, object]) -> TrainingConfig | list[FieldProblem]:
    """Return the configuration with the changed fields, or the problems with them."""
    known, allowed = type(config).model_fields, changeable_fields(type(config))
    problems = [FieldProblem(name, _FORK) for name in fields if name in known and name not in allowed]
    if problems:
        return problems
    try:
        # Through JSON, because the model's validators take plain values.
        return type(config).model_validate({**config.model_dump(mode="json"), **fields})
    except ValidationError as error:
        return problems_of(error, config.algorithm)


_FORK = "a run cannot change this while it trains: fork the run from a checkpoint to change it"
