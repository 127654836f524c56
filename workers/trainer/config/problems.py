"""What is wrong with a configuration, field by field and in words; the command line and the API say the same."""

import difflib
import json
from dataclasses import dataclass
from typing import get_args

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from workers.trainer.config import RunConfig, TrainingConfig

# How much of a wrong value is repeated to who sent it.
SHOWN_CHARACTERS = 80

_union, *_ = get_args(RunConfig)
METHODS: dict[str, type[TrainingConfig]] = {
    model.model_fields["algorithm"].default: model for model in get_args(_union)
}


@dataclass(frozen=True)
class FieldProblem:
    """What is wrong with one field, and what would be right."""

    field: str
    message: str


def title_of(algorithm: str) -> str:
    """A method's name as people write it: one_step_q is One-step Q."""
    method = METHODS.get(algorithm)
    return str(method.model_config.get("title")) if method else algorithm


def problems_of(error: ValidationError) -> list[FieldProblem]:
    """Every problem that was found; the algorithm that pydantic puts before a field is no part of its name."""
    return [_in_words(detail) for detail in error.errors(include_url=False)]


def _in_words(detail: ErrorDetails) -> FieldProblem:
    kind, value = detail["type"], detail["input"]
    if kind == "union_tag_not_found":
        return FieldProblem("algorithm", f"name the method: {', '.join(METHODS)}")
    if kind == "union_tag_invalid":
        return FieldProblem(
            "algorithm", f"no method is called {_short(value['algorithm'])}: choose {', '.join(METHODS)}"
        )
    algorithm, *path = map(str, detail["loc"])
    field = ".".join(path)
    if kind == "extra_forbidden":
        return FieldProblem(field, _unknown(field, METHODS[algorithm]))
    if kind == "value_error":
        return FieldProblem(field, detail["msg"].removeprefix("Value error, "))
    message = detail["msg"].rstrip(".")
    return FieldProblem(field, f"{message[0].lower()}{message[1:]}, not {_short(value)}")


def _unknown(field: str, method: type[TrainingConfig]) -> str:
    close = difflib.get_close_matches(field, method.model_fields, n=1)
    sentence = f"{method.model_config.get('title')} has no such field"
    return f"{sentence}: did you mean {close[0]}?" if close else sentence


def _short(value: object) -> str:
    written = json.dumps(value, ensure_ascii=False, default=str)
    return written if len(written) <= SHOWN_CHARACTERS else f"{written[:SHOWN_CHARACTERS]}…"
