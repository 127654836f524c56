"""Comparisons in expressions. The kind of the value on the left decides what may follow."""

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import cache
from typing import get_args

from arcadia_backend.database.tables import RunOrigin
from arcadia_backend.runs.expressions.nodes import (
    Column,
    Compare,
    CompareOperator,
    CompareTime,
    Condition,
    Constant,
    Contains,
    Either,
    Expected,
    ExpressionError,
    InStudy,
    IsTrue,
    Not,
    OneOf,
    Setting,
    SettingKind,
    Span,
    Value,
    did_you_mean,
    setting_kinds,
    shortened,
    similar,
)
from arcadia_backend.runs.expressions.scanner import Scanner, read_moment, read_number, starts_number
from arcadia_workers.contract.config import CONFIGURATIONS
from arcadia_workers.contract.config.problems import title_of
from arcadia_workers.contract.games import ENVIRONMENTS
from arcadia_workers.contract.values import MAX_ID, storable
from arcadia_workers.contract.worker_api import QUEUES, State

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
    """Return the stored methods by lower-case name. Scripts log titles, such as PPO."""
    names = {method: dict.fromkeys((method, title_of(method))) for method in CONFIGURATIONS}
    return {name.lower(): tuple(both) for both in names.values() for name in both}


@cache
def _environment_ids() -> dict[str, tuple[str, ...]]:
    """Return the ids by lower-case title, id and id without family and version."""
    ids_by_name: dict[str, list[str]] = {}
    for env, environment in ENVIRONMENTS.items():
        bare = re.sub(r"-v\d+$", "", env).split("/")[-1]
        for name in {environment.title.lower(), env.lower(), bare.lower()}:
            ids_by_name.setdefault(name, []).append(env)
    return {name: tuple(ids) for name, ids in ids_by_name.items()}


OPERATORS = ("<=", ">=", "!=", "==", "=", "<", ">", "~", ":")
ORDERED: dict[str, CompareOperator] = {"<": "<", "<=": "<=", ">": ">", ">=": ">="}
TRUTHS = {"true": True, "false": False}


class ValueReader:
    """Reads an operator and the right side of a comparison."""

    def __init__(self, scanner: Scanner, now: datetime, number: Callable[[], Value]) -> None:
        self._scanner = scanner
        self._now = now
        self._number = number

    def comparison(self, left: Value) -> Condition | None:
        """Read the rest of a comparison, if an operator is next."""
        start = self._scanner.at
        if self._scanner.take_word("not"):
            if not self._scanner.take_word("in"):
                raise self._scanner.error("in")
            return Not(self._in_list(left))
        if self._scanner.take_word("in"):
            return self._in_list(left)
        if (operator := self._scanner.take(*OPERATORS)) is None:
            return None
        return self._with_operator(left, operator, Span(start, start + len(operator)))

    def _with_operator(self, left: Value, operator: str, span: Span) -> Condition:
        if operator == "!=":
            return Not(self._equals(left))
        if isinstance(left, Column | Setting) and self._finds_part(left, operator):
            return Contains(left, self._text(left))
        if operator in ("=", "==", ":"):
            return self._equals(left)
        if operator not in ORDERED or _is_text(left):
            raise ExpressionError(_mismatch(left, operator), span, operators(left))
        return self._compare(left, ORDERED[operator])

    def _finds_part(self, left: Column | Setting, operator: str) -> bool:
        if operator == ":":
            return isinstance(left, Column) and left.kind == "text" and not left.is_choice
        kind = left.kind if isinstance(left, Column) else _kind(left)
        return operator == "~" and kind not in ("number", "time", "boolean")

    def _compare(self, left: Value, operator: CompareOperator) -> Condition:
        if isinstance(left, Column) and left.kind == "time":
            return CompareTime(operator, left, read_moment(self._scanner, self._now))
        unit = left.unit_seconds if isinstance(left, Column) else None
        if unit is not None and starts_number(self._scanner):
            start = self._scanner.at
            number = read_number(self._scanner, unit)
            if not self._scanner.is_at("+", "-", "*", "/"):
                return Compare(operator, left, Constant(number))
            self._scanner.at = start
        return Compare(operator, left, self._number())

    def _equals(self, left: Value) -> Condition:
        if isinstance(left, Column) and left.kind in ("text", "tags", "study"):
            return self._equals_text(left)
        if isinstance(left, Setting):
            return self._equals_setting(left)
        return self._compare(left, "=")

    def _equals_text(self, left: Column) -> Condition:
        """Read a text. In quotes it is exact, and a number without quotes is the number of a study."""
        start = self._scanner.at
        is_quoted = self._scanner.is_at('"', "'")
        text = self._text(left)
        if left.kind == "study":
            is_number = text.isascii() and text.isdecimal() and int(text[:19]) <= MAX_ID
            return InStudy(int(text)) if is_number and not is_quoted else OneOf(left, (text,))
        if is_quoted and left.name not in CLOSED:
            return OneOf(left, (text,))
        return OneOf(left, stored_texts(left, text, self._scanner.span_from(start)))

    def _equals_setting(self, left: Setting) -> Condition:
        """Read the right side, whose form decides its type: 3 is a number, true a truth value, "3" a text."""
        if self._scanner.is_at('"', "'"):
            return OneOf(left, (self._text(left),))
        if word := self._scanner.take_word(*TRUTHS):
            return IsTrue(left, TRUTHS[word])
        if _kind(left) == "number" or starts_number(self._scanner) or self._scanner.is_at("-", "(", "."):
            return self._compare(left, "=")
        return OneOf(left, (self._text(left),))

    def _in_list(self, left: Value) -> Condition:
        if not self._scanner.take("("):
            raise self._scanner.error("a list, as in (a, b)")
        conditions: list[Condition] = []
        while not conditions or self._scanner.take(","):
            conditions.append(self._equals(left))
        if not self._scanner.take(")"):
            raise self._scanner.error("a comma or a closing parenthesis")
        return Either(tuple(conditions))

    def _text(self, left: Column | Setting) -> str:
        text = self._scanner.text_value()
        if text is None:
            raise self._scanner.error("a text", Expected("text", left))
        return str(storable(text))


def _kind(setting: Setting) -> SettingKind:
    return setting_kinds().get(setting.stands_for or setting.name, "any")


def _is_text(left: object) -> bool:
    if isinstance(left, Column):
        return left.kind in ("text", "tags", "study")
    return isinstance(left, Setting) and _kind(left) in ("text", "boolean")


def operators(left: object) -> list[str]:
    """Return the operators that fit a value."""
    if _is_text(left):
        return ["=", "!=", "~"]
    return ["=", "!=", "<", "<=", ">", ">="]


def _mismatch(left: Value, operator: str) -> str:
    kind = "a text" if _is_text(left) else "a time" if isinstance(left, Column) and left.kind == "time" else "a number"
    return f"{operator} does not fit {kind}; use {', '.join(operators(left))}"
