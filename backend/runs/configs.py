"""Configurations as users send them: completed, checked, and compared with a checkpoint's."""

from typing import Any

from pydantic import ValidationError

from backend.errors import FieldError, Invalid, field_errors
from backend.models import QueueName
from workers.trainer.config import RunConfig, config_adapter
from workers.trainer.presets import PRESETS


def checked(config: dict[str, Any], *, changed: dict[str, Any] | None = None) -> RunConfig:
    """The complete configuration; wrong fields are named as config.x, or overrides.x where the user changed them."""
    changed = changed or {}
    try:
        return config_adapter.validate_python({**config, **changed})
    except ValidationError as error:
        found = field_errors(error.errors())
        raise Invalid(*(_placed(wrong, changed) for wrong in found)) from None


def from_preset(name: str, overrides: dict[str, Any]) -> RunConfig:
    """A preset's configuration with some fields changed."""
    if name not in PRESETS:
        raise Invalid(FieldError(field="preset", message=f"no such preset; there are {', '.join(PRESETS)}"))
    return checked(as_document(PRESETS[name].config), changed=overrides)


def as_document(config: RunConfig) -> dict[str, Any]:
    """The configuration with every field, as it is stored."""
    return config.model_dump(mode="json")


def queue_for(config: RunConfig) -> QueueName:
    """Where a run waits by default."""
    return "gpu" if config.device == "cuda" else "cpu"


def default_name(config: RunConfig) -> str:
    """What a run is called when nobody named it."""
    return f"{config.algorithm.upper()} on {config.environment.title}"


def refuse_other_shape(config: RunConfig, parent: RunConfig) -> None:
    """Refuse a fork whose weights would not fit the checkpoint it begins with."""
    ours, theirs = _shape(config), _shape(parent)
    wrong = [
        FieldError(
            field=f"overrides.{field}",
            message=f"the checkpoint was trained with {theirs[field]}, so a fork must be too; clone to change it",
        )
        for field in parent.shape_fields
        if ours.get(field) != theirs[field]
    ]
    if wrong:
        raise Invalid(*wrong)


def _shape(config: RunConfig) -> dict[str, Any]:
    document = as_document(config)
    if document["network"] == "auto":
        document["network"] = "nips" if config.environment.shows_pixels else "mlp"
    if document["network"] != "mlp":
        document["hidden_units"] = None
    return {field: document[field] for field in config.shape_fields}


def _placed(wrong: FieldError, changed: dict[str, Any]) -> FieldError:
    name = wrong.field.removeprefix("body")
    place = "overrides" if name.split(".")[0] in changed else "config"
    return FieldError(field=f"{place}.{name}" if name else place, message=wrong.message)
