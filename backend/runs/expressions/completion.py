"""Completions of an expression at a position."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from pydantic import BaseModel, Field
from sqlalchemy import Select, select
from sqlalchemy.orm import Session

from backend.database.tables import Project, Run, RunTag, Study
from backend.runs.expressions.choices import CLOSED
from backend.runs.expressions.comparing import operators
from backend.runs.expressions.known_names import metric_titles, setting_names
from backend.runs.expressions.names import COLUMN_BY_NAME, COLUMNS, Column, setting_kinds, setting_title
from backend.runs.expressions.nodes import Setting
from backend.runs.expressions.parsing import FUNCTIONS, KEYWORDS, STATISTICS, parse_filter, parse_value
from backend.runs.expressions.problems import Expected, ExpressionError
from backend.runs.expressions.sql import Translator
from backend.runs.expressions.writing import written_metric, written_setting, written_text
from workers.contract.config import CONFIGURATIONS
from workers.contract.config.problems import title_of
from workers.contract.games import env_title

ExpressionKind = Literal["condition", "value"]
MAX_COMPLETIONS, MAX_VALUES = 50, 500
AGES = ("1 hour ago", "1 day ago", "7 days ago", "30 days ago", "today", "yesterday")
# The word before the cursor. A metric, an environment or a tag may contain a slash, which divides elsewhere.
_LONG_WORD = re.compile(r"[\w./-]*$")
_WORD = re.compile(r"[\w.]*$")
_METRIC_CALL = re.compile(rf"\b({'|'.join(STATISTICS)})\(\s*$", re.IGNORECASE)


class Completion(BaseModel):
    """A text that can be inserted at the cursor."""

    text: str
    title: str = Field(description="Readable name, or an empty text if the text says it.")
    kind: Literal["number", "text", "time", "setting", "metric", "function", "operator", "value", "keyword"]


@dataclass(frozen=True)
class CompletionList:
    """Completions, with the position of the word that they replace."""

    position: int
    completions: list[Completion]


def complete(session: Session, text: str, cursor: int, kind: ExpressionKind, now: datetime) -> CompletionList:
    """Return the completions of the word before the cursor."""
    before = text[:cursor]
    position = _start_of(_LONG_WORD, before)
    if _METRIC_CALL.search(before[:position]):
        found = [*_metrics(session, statistic=None), *_names(session, with_metrics=False)]
        return CompletionList(position, _matching(found, before[position:]))
    expected = _expected(before[:position], kind, now)
    if expected.kind not in ("text", "field"):
        position = _start_of(_WORD, before)
        expected = _expected(before[:position], kind, now)
    return CompletionList(position, _matching(_choices(session, expected), before[position:]))


def _start_of(word: re.Pattern[str], before: str) -> int:
    found = word.search(before)
    return found.start() if found else len(before)


def _expected(before: str, kind: ExpressionKind, now: datetime) -> Expected:
    """Return the token that can follow. It is none for a wrong expression."""
    try:
        if kind == "condition":
            parse_filter(before, now)
        else:
            parse_value(before, now)
    except ExpressionError as error:
        at_end = error.span.start >= len(before.rstrip())
        return error.expected if error.expected and at_end else Expected("connective", before)
    return Expected("connective")


def _choices(session: Session, expected: Expected) -> Iterable[Completion]:
    left = expected.left
    if expected.kind == "name":
        return _names(session, with_metrics=True)
    if expected.kind == "field":
        return [_setting(name, written_text(name)) for name in setting_names(session)]
    if expected.kind == "text" and isinstance(left, Column | Setting):
        return _values(session, left)
    if expected.kind == "time":
        return [Completion(text=age, title="", kind="value") for age in AGES]
    if expected.kind == "operator" and left is not None:
        return [Completion(text=each, title="", kind="operator") for each in (*operators(left), "in (", "is missing")]
    words = {"missing": ("missing", "not missing"), "connective": () if left else ("and", "or")}
    return [Completion(text=word, title="", kind="keyword") for word in words.get(expected.kind, ())]


def _names(session: Session, *, with_metrics: bool) -> Iterable[Completion]:
    for column in COLUMNS:
        kind = column.kind if column.kind in ("number", "time") else "text"
        yield Completion(text=column.name, title=column.title, kind=kind)
    for name in setting_names(session):
        reserved = name.lower() in COLUMN_BY_NAME or name.lower() in KEYWORDS
        yield _setting(name, written_setting(name, reserved))
    if with_metrics:
        yield from _metrics(session, statistic="last")
    for function in dict.fromkeys((*STATISTICS, *FUNCTIONS)):
        yield Completion(text=f"{function}(", title="", kind="function")
    yield Completion(text="not", title="", kind="keyword")


def _setting(name: str, text: str) -> Completion:
    return Completion(text=text, title=setting_title(name), kind="setting")


def _metrics(session: Session, statistic: str | None) -> Iterable[Completion]:
    for name, title in metric_titles(session).items():
        text = written_metric(statistic, name) if statistic else f"{written_text(name)})"
        yield Completion(text=text, title=title, kind="metric")


def _values(session: Session, left: Column | Setting) -> list[Completion]:
    if isinstance(left, Setting) and setting_kinds().get(left.name) == "boolean":
        return [Completion(text=word, title="", kind="value") for word in ("true", "false")]
    if isinstance(left, Column) and left.name in CLOSED:
        stored = list(CLOSED[left.name])
    else:
        stored = sorted({text for text in session.scalars(_distinct(session, left).limit(MAX_VALUES)) if text})
    if isinstance(left, Column) and left.name == "method":
        stored = list(dict.fromkeys([*stored, *CONFIGURATIONS]))
    return [Completion(text=written_text(text), title=_title_of_value(left, text), kind="value") for text in stored]


def _distinct(session: Session, left: Column | Setting) -> Select[Any]:
    if isinstance(left, Setting):
        return select(Translator(session).settings.text(left.name)).distinct()
    if left.kind == "tags":
        return select(RunTag.tag).distinct()
    if left.name in ("study", "project"):
        return select(Study.name if left.name == "study" else Project.name).distinct()
    column: Any = getattr(Run, str(left.attribute))
    return select(column).distinct()


def _title_of_value(left: Column | Setting, text: str) -> str:
    if not isinstance(left, Column):
        return ""
    title = {"method": title_of, "env": env_title}.get(left.name, str)(text)
    return title if title != text else ""


def _matching(choices: Iterable[Completion], word: str) -> list[Completion]:
    """Return the choices that contain the word in their text or title, those that begin with it first."""
    wanted = word.lower().strip()
    found = [each for each in choices if wanted in each.text.lower() or wanted in each.title.lower()]
    found.sort(key=lambda each: not each.text.lower().startswith(wanted))
    return found[:MAX_COMPLETIONS]
