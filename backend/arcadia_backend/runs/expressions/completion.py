"""Completions of an expression at a position."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Literal

from fastapi import Query
from pydantic import BaseModel, Field
from sqlalchemy import ColumnElement, Select, select
from sqlalchemy.orm import Session

from arcadia_backend.database.columns import utc_now
from arcadia_backend.database.tables import NOT_TRAINED, Project, Run, RunSetting, RunTag, Study
from arcadia_backend.metrics.points import MetricSeries
from arcadia_backend.runs.expressions.comparing import CLOSED, operators
from arcadia_backend.runs.expressions.nodes import (
    COLUMN_BY_NAME,
    COLUMNS,
    ME,
    SETTING_ALIASES,
    Column,
    Expected,
    ExpressionError,
    InvalidExpression,
    Setting,
    Span,
    Value,
    did_you_mean,
    setting_kinds,
    setting_title,
    shortened,
    similar,
)
from arcadia_backend.runs.expressions.parsing import (
    FUNCTIONS,
    KEYWORDS,
    MAX_LENGTH,
    STATISTICS,
    Parsed,
    parse_filter,
    parse_number,
    parse_value,
)
from arcadia_backend.runs.expressions.sql import Translator
from arcadia_workers.contract.config import CONFIGURATIONS
from arcadia_workers.contract.config.problems import title_of
from arcadia_workers.contract.games import env_title
from arcadia_workers.contract.metrics import CATALOG
from arcadia_workers.contract.values import Text

_PLAIN = re.compile(r"[^\W\d][\w./+-]*")
_ESCAPED = re.compile(r'(["\\])')
_NAME = re.compile(r"[^\W\d][\w.]*")


def quoted(text: str) -> str:
    """Return a text in quotes."""
    escaped = _ESCAPED.sub(r"\\\1", text)
    return f'"{escaped}"'


def written_text(text: str) -> str:
    """Return a text, in quotes if it needs them."""
    is_word = _PLAIN.fullmatch(text) and text.lower() not in ("true", "false")
    return text if is_word else quoted(text)


def written_setting(name: str, is_reserved: bool) -> str:
    """Return a field of the configuration. A name that means something else is inside of config()."""
    return name if _NAME.fullmatch(name) and not is_reserved else f"config({written_text(name)})"


# The newest reported runs, in which suggestions are looked for.
EXAMINED_RUNS = 200
CATALOG_TITLES = {metric.name: metric.title for section in CATALOG for metric in section.all_metrics}


def require_known(session: Session, parsed: Parsed) -> None:
    """Raise ExpressionError if no run has a field or a metric of the expression."""
    for setting, span in parsed.settings:
        # Not `exists()`, to which the condition of rights is not added.
        if session.scalar(select(RunSetting.name).where(RunSetting.name == setting.name).limit(1)) is None:
            close = similar(setting.name, [*COLUMN_BY_NAME, *setting_names(session)])
            message = f"no run has a value {shortened(setting.name)!r}{did_you_mean(close)}"
            raise ExpressionError(message, span, close)
    for metric, span in parsed.metrics:
        known = select(MetricSeries.name).where(MetricSeries.name == metric.name).limit(1)
        if metric.name in CATALOG_TITLES or session.scalar(known) is not None:
            continue
        close = similar(metric.name, metric_titles(session))
        message = f"no run has a metric {shortened(metric.name)!r}{did_you_mean(close)}"
        raise ExpressionError(message, span, [f"{metric.statistic}({name})" for name in close])


def setting_names(session: Session) -> list[str]:
    """Return the fields of all methods, then those of the newest reported runs."""
    newest = select(Run.config).where(NOT_TRAINED).order_by(Run.id.desc()).limit(EXAMINED_RUNS)
    reported = (name for config in session.scalars(newest) for name in config)
    return list(dict.fromkeys([*setting_kinds(), *reported]))


def metric_titles(session: Session) -> dict[str, str]:
    """Return the titles of the metrics of the catalog, then of those of the newest reported runs."""
    newest = select(Run.id).where(NOT_TRAINED).order_by(Run.id.desc()).limit(EXAMINED_RUNS)
    stored: Iterable[str] = session.scalars(
        select(MetricSeries.name).where(MetricSeries.run_id.in_(newest)).distinct().order_by(MetricSeries.name)
    )
    return CATALOG_TITLES | {name: name for name in stored if name not in CATALOG_TITLES}


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
        completions = [*_metrics(session, statistic=None), *_names(session, with_metrics=False)]
        return CompletionList(position, _matching(completions, before[position:]))
    expected = _expected(before[:position], kind, now)
    if expected.kind not in ("text", "field"):
        position = _start_of(_WORD, before)
        expected = _expected(before[:position], kind, now)
    return CompletionList(position, _matching(_choices(session, expected), before[position:]))


def _start_of(word: re.Pattern[str], before: str) -> int:
    match = word.search(before)
    return match.start() if match else len(before)


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
    yield from (_setting(field, alias) for alias, field in SETTING_ALIASES.items())
    for name in setting_names(session):
        reserved = name.lower() in COLUMN_BY_NAME or name.lower() in KEYWORDS or name in SETTING_ALIASES
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
        text = f"{statistic}({written_text(name)})" if statistic else f"{written_text(name)})"
        yield Completion(text=text, title=title, kind="metric")


def _values(session: Session, left: Column | Setting) -> list[Completion]:
    if isinstance(left, Setting) and setting_kinds().get(left.name) == "boolean":
        return [Completion(text=word, title="", kind="value") for word in ("true", "false")]
    if isinstance(left, Column) and left.name in CLOSED:
        stored = list(CLOSED[left.name])
    else:
        stored = sorted({text for text in session.scalars(_distinct(left).limit(MAX_VALUES)) if text})
    if isinstance(left, Column) and left.name == "person":
        stored = [ME, *stored]
    if isinstance(left, Column) and left.name == "method":
        stored = list(dict.fromkeys([*stored, *CONFIGURATIONS]))
    return [Completion(text=written_text(text), title=_title_of_value(left, text), kind="value") for text in stored]


def _distinct(left: Column | Setting) -> Select[Any]:
    if isinstance(left, Setting):
        is_text = RunSetting.type.in_(("text", "json"))
        return select(RunSetting.text).where(RunSetting.name == left.name, is_text).distinct()
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
    matching = [each for each in choices if wanted in each.text.lower() or wanted in each.title.lower()]
    matching.sort(key=lambda each: not each.text.lower().startswith(wanted))
    return matching[:MAX_COMPLETIONS]


FilterText = Annotated[
    Text,
    Query(
        max_length=MAX_LENGTH,
        description="Expression that selects runs, such as `learning_rate < 1e-3 and best_return > 15`.",
    ),
]


class ExpressionProblem(BaseModel):
    """An error in an expression. Positions count Unicode characters from 0."""

    message: str
    position: int
    length: int
    suggestions: list[str] = Field(description="Texts that can replace the wrong part.")


class CheckedExpression(BaseModel):
    """The error of an expression, and its completions."""

    error: ExpressionProblem | None = Field(description="Null if the expression is right.")
    position: int = Field(description="Start of the word that a completion replaces.")
    length: int
    completions: list[Completion]


def check(session: Session, text: str, kind: ExpressionKind, cursor: int | None) -> CheckedExpression:
    """Return whether an expression is right, and the completions at the cursor, which is at the end by default."""
    now, error = utc_now(), None
    try:
        _condition_or_value, parsed = (parse_filter if kind == "condition" else parse_number)(text, now)
        require_known(session, parsed)
    except ExpressionError as wrong:
        span = wrong.span
        error = ExpressionProblem(
            message=wrong.message, position=span.start, length=span.end - span.start, suggestions=wrong.suggestions
        )
    place = len(text) if cursor is None else min(cursor, len(text))
    completions = complete(session, text, place, kind, now)
    return CheckedExpression(
        error=error,
        position=completions.position,
        length=place - completions.position,
        completions=completions.completions,
    )


def filter_sql(session: Session, text: str, field: str = "filter") -> ColumnElement[bool]:
    """Return a filter as SQL. Raise InvalidExpression if it is wrong."""
    try:
        condition, parsed = parse_filter(text, utc_now())
        require_known(session, parsed)
        return Translator(session).condition(condition)
    except ExpressionError as error:
        raise InvalidExpression(field, error) from None


def read_value(session: Session, text: str, field: str) -> Value:
    """Parse a value to sort by. Raise InvalidExpression if it is wrong."""
    return _read(session, parse_value, text, field, 0)


def read_number(session: Session, text: str, field: str, offset: int = 0) -> Value:
    """Parse a number that starts at an offset in a field. Raise InvalidExpression if it is wrong."""
    return _read(session, parse_number, text, field, offset)


def _read(
    session: Session, parse: Callable[[str, datetime], tuple[Value, Parsed]], text: str, field: str, offset: int
) -> Value:
    try:
        value, parsed = parse(text, utc_now())
        require_known(session, parsed)
    except ExpressionError as error:
        span = Span(error.span.start + offset, error.span.end + offset)
        raise InvalidExpression(field, ExpressionError(error.message, span, error.suggestions)) from None
    return value
