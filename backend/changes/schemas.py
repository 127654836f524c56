"""Request and response models of the changes API."""

from datetime import datetime
from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field, JsonValue, model_validator

from workers.contract.changes import MAX_FIELDS
from workers.contract.values import NO_BOOLEAN, Text

MAX_STEPS = 10_000_000_000


class RequestChange(BaseModel):
    """New values of fields of a run's configuration, more steps to train, or both."""

    model_config = ConfigDict(extra="forbid")

    fields: Annotated[
        dict[Text, JsonValue],
        Field(
            max_length=MAX_FIELDS,
            description="Fields with `changeable` in the configuration schema. Fork the run to change others.",
        ),
    ] = {}
    more_steps: (
        Annotated[int, Field(ge=1, le=MAX_STEPS, description="Steps to add to `total_steps`."), NO_BOOLEAN] | None
    ) = None

    @model_validator(mode="after")
    def _check_content(self) -> Self:
        if not self.fields and self.more_steps is None:
            raise ValueError("give fields or more_steps")
        if "total_steps" in self.fields and self.more_steps is not None:
            raise ValueError("give either fields.total_steps or more_steps, not both")
        return self


class RunChange(BaseModel):
    """A change of a run's configuration."""

    model_config = ConfigDict(from_attributes=True)

    number: int = Field(description="Counts the changes of a run, from 1.")
    fields: dict[str, Any] = Field(description="The new values.")
    previous: dict[str, Any] = Field(description="The values before.")
    requested_at: datetime
    requested_by: str | None = Field(
        description="User or address, and kind of client, as the request says: ana@gpu-box (CLI). Null if unknown."
    )
    applied_at: datetime | None = Field(description="Null while the change waits for the run's next update.")
    applied_step: int | None = Field(description="Updates after this step use the new values.")
    attempt: int | None = Field(description="The attempt that applied it.")


class RunChanges(BaseModel):
    """The changes of a run. The run's `config` has the current values."""

    items: list[RunChange] = Field(description="Oldest first.")
    start_config: dict[str, Any] = Field(description="The configuration before all changes.")
