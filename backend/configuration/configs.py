"""Configurations from requests: complete, validate, and compare them with a parent run."""

from typing import Any

from pydantic import ValidationError

from backend.errors import FieldError, Invalid
from workers.contract.config import RunConfig, TrainingConfig, config_adapter
from workers.contract.config.problems import FieldProblem, problems_of, title_of
from workers.contract.plugins.needs import needed_plugins
from workers.contract.presets import PRESETS, refusal_of_other_method, unknown_preset
from workers.contract.worker_api import QueueName


def validate(config: dict[str, Any], overrides: dict[str, Any]) -> RunConfig:
    """Return the complete configuration. Raise Invalid with fields named config.x, or overrides.x if overridden."""
    try:
        return config_adapter.validate_python({**config, **overrides})
    except ValidationError as error:
        raise Invalid(
            *(
                _placed("overrides" if problem.field.split(".")[0] in overrides else "config", problem)
                for problem in problems_of(error)
            )
        ) from None


def override(config: dict[str, Any], overrides: dict[str, Any]) -> RunConfig:
    """Return a preset's or run's configuration with overrides. Raise Invalid with fields named overrides.x."""
    if refusal := refusal_of_other_method(config["algorithm"], overrides.get("algorithm")):
        raise Invalid(_placed("overrides", refusal))
    try:
        return config_adapter.validate_python({**config, **overrides})
    except ValidationError as error:
        raise Invalid(*(_placed("overrides", problem) for problem in problems_of(error))) from None


def from_preset(name: str, overrides: dict[str, Any]) -> RunConfig:
    """Return a preset's configuration with overrides."""
    if name not in PRESETS:
        raise Invalid(FieldError(field="preset", message=unknown_preset(name)))
    return override(to_document(PRESETS[name].config), overrides)


def build_config(config: dict[str, Any] | None, preset: str | None, overrides: dict[str, Any]) -> RunConfig:
    """Return the configuration of a new run: a complete one or a preset, with overrides."""
    if preset is not None:
        if config is not None:
            raise Invalid(FieldError(field="config", message="send either config or preset, not both"))
        return from_preset(preset, overrides)
    if config is None:
        raise Invalid(FieldError(field="config", message="send config, or preset with overrides"))
    return validate(config, overrides)


def to_run_columns(config: RunConfig, name: str | None, queue: QueueName | None) -> dict[str, Any]:
    """Return the columns of a new run that depend on its configuration. Without name or queue, use defaults."""
    document = to_document(config)
    return {
        "name": name or default_name(config),
        "algorithm": config.algorithm,
        "env": config.env,
        "queue": queue or queue_for(config),
        "config": document,
        "total_steps": config.total_steps,
        "needed_plugins": ",".join(needed_plugins(document)),
    }


def to_document(config: TrainingConfig) -> dict[str, Any]:
    """Return the configuration with all fields, as it is stored."""
    return config.model_dump(mode="json")


def queue_for(config: RunConfig) -> QueueName:
    """Return the default queue of a configuration."""
    return "gpu" if config.device == "cuda" else "cpu"


def default_name(config: RunConfig) -> str:
    """Return the default name of a run."""
    return f"{title_of(config.algorithm)} on {config.environment.title}"


def refuse_other_shape(config: RunConfig, parent: RunConfig) -> None:
    """Raise Invalid if the network of a fork does not fit its checkpoint."""
    ours, theirs = config.shape, parent.shape
    wrong = [
        FieldError(
            field=f"overrides.{field}",
            message=f"the checkpoint was trained with {theirs[field]}, which a fork cannot change. Clone the run",
        )
        for field in parent.shape_fields
        if ours.get(field) != theirs[field]
    ]
    if wrong:
        raise Invalid(*wrong)


def refuse_no_steps(config: RunConfig, trained: int) -> None:
    """Raise Invalid if a fork would have no steps to train."""
    if config.total_steps <= trained:
        raise Invalid(
            FieldError(
                field="overrides.total_steps",
                message=f"the checkpoint already has {trained:,} steps. Use a larger total",
            )
        )


def _placed(place: str, problem: FieldProblem) -> FieldError:
    return FieldError(field=f"{place}.{problem.field}", message=problem.message)
