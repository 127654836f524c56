"""Texts of columns with fixed choices: Pong stands for ALE/Pong-v5, and A3C for a3c."""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import get_args

from backend.database.tables import RunOrigin
from backend.runs.expressions.names import Column
from backend.runs.expressions.problems import ExpressionError, Span, did_you_mean, shortened, similar
from workers.contract.config import CONFIGURATIONS
from workers.contract.config.problems import title_of
from workers.contract.games import ENVIRONMENTS
from workers.contract.worker_api import QUEUES, State

CLOSED: Mapping[str, Sequence[str]] = {"state": get_args(State), "origin": get_args(RunOrigin), "queue": QUEUES}


def stored_texts(column: Column, text: str, span: Span) -> tuple[str, ...]:
    """Return the stored texts that a written text stands for. Raise ExpressionError if there cannot be such a text."""
    if column.name in CLOSED:
        return (_closed(column, text, span),)
    if column.name == "method":
        return _method_names().get(text.lower(), (text,))
    if column.name == "env":
        return tuple(dict.fromkeys([text, *_environment_ids().get(text.lower(), ())]))
    return (text,)


def _closed(column: Column, text: str, span: Span) -> str:
    choices = CLOSED[column.name]
    if text.lower() in choices:
        return text.lower()
    close = similar(text, choices)
    hint = did_you_mean(close) or f"; use {', '.join(choices)}"
    raise ExpressionError(f"no {column.name} is {shortened(text)!r}{hint}", span, close or choices)


@cache
def _method_names() -> dict[str, tuple[str, ...]]:
    return {name.lower(): (method,) for method in CONFIGURATIONS for name in (title_of(method), method)}


@cache
def _environment_ids() -> dict[str, tuple[str, ...]]:
    """Return the ids by lower-case title, id and id without family and version."""
    found: dict[str, list[str]] = {}
    for env, environment in ENVIRONMENTS.items():
        bare = re.sub(r"-v\d+$", "", env).split("/")[-1]
        for name in {environment.title.lower(), env.lower(), bare.lower()}:
            found.setdefault(name, []).append(env)
    return {name: tuple(ids) for name, ids in found.items()}
