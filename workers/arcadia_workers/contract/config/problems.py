"""Error messages for wrong configuration fields, shared by the command line and the API."""

import difflib
import json
from dataclasses import dataclass

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from arcadia_workers.contract.config import CONFIGURATIONS, TrainingConfig, methods_for
from arcadia_workers.contract.config.fields import UNFIT_ENVIRONMENT
from arcadia_workers.contract.games import ENVIRONMENTS

# Longer wrong values are cut in messages.
SHOWN_CHARACTERS = 80

# Names of fields in other libraries, for suggestions.
USUAL_NAMES = {
    "lr": "learning_rate",
    "alpha": "learning_rate",
    "timesteps": "total_steps",
    "total_timesteps": "total_steps",
    "env_id": "env",
    "env_name": "env",
    "discount": "gamma",
    "n_steps": "t_max",
    "num_steps": "t_max",
    "n_envs": "num_envs",
    "ent_coef": "entropy_cost",
    "entropy_coef": "entropy_cost",
    "vf_coef": "value_cost",
    "value_coef": "value_cost",
    "grad_clip": "max_grad_norm",
    "eps": "rmsprop_epsilon",
    "hidden_size": "hidden_units",
}


@dataclass(frozen=True)
class FieldProblem:
    """Problem with one field, and how to fix it."""

    field: str
    message: str


def title_of(algorithm: str) -> str:
    """Return a method's display name. An unknown name is returned unchanged."""
    configuration = CONFIGURATIONS.get(algorithm)
    return str(configuration.model_config.get("title")) if configuration else algorithm


def problems_of(error: ValidationError, algorithm: str | None = None) -> list[FieldProblem]:
    """Return all problems, without the algorithm that pydantic puts before the field's name.

    Errors of a single method's model lack the algorithm, so pass it.
    """
    details = error.errors(include_url=False)
    if algorithm is not None:
        details = [{**detail, "loc": (algorithm, *detail["loc"])} for detail in details]
    return [_in_words(detail) for detail in details]


def _in_words(detail: ErrorDetails) -> FieldProblem:
    kind, value = detail["type"], detail["input"]
    if kind == "union_tag_not_found":
        return FieldProblem("algorithm", f"name the method: {', '.join(CONFIGURATIONS)}")
    if kind == "union_tag_invalid":
        return FieldProblem(
            "algorithm", f"no method is called {_short(value['algorithm'])}: choose {', '.join(CONFIGURATIONS)}"
        )
    algorithm, *path = map(str, detail["loc"])
    field = ".".join(path)
    if kind == "extra_forbidden":
        return FieldProblem(field, _unknown(field, CONFIGURATIONS[algorithm]))
    if kind == UNFIT_ENVIRONMENT:
        fitting = methods_for(ENVIRONMENTS[str(value)])
        return FieldProblem(field, f"{detail['msg']}: choose {' or '.join(fitting)}, or another environment")
    if kind == "value_error":
        return FieldProblem(field, detail["msg"].removeprefix("Value error, "))
    message = detail["msg"].rstrip(".")
    return FieldProblem(field, f"{message[0].lower()}{message[1:]}, not {_short(value)}")


def _unknown(field: str, configuration: type[TrainingConfig]) -> str:
    usual = USUAL_NAMES.get(field.lower())
    known = [usual] if usual in configuration.model_fields else []
    close = known or difflib.get_close_matches(field[:100], configuration.model_fields, n=1)
    sentence = f"{configuration.model_config.get('title')} has no such field"
    return f"{sentence}: did you mean {close[0]}?" if close else sentence


def _short(value: object) -> str:
    written = json.dumps(value, ensure_ascii=False, default=str)
    return written if len(written) <= SHOWN_CHARACTERS else f"{written[:SHOWN_CHARACTERS]}…"
