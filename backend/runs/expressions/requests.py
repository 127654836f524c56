"""Expressions in requests: parsed, checked and translated."""

from collections.abc import Callable
from datetime import datetime
from typing import Annotated

from fastapi import Query
from pydantic import BaseModel, Field
from sqlalchemy import ColumnElement
from sqlalchemy.orm import Session

from backend.database.columns import utc_now
from backend.runs.expressions.completion import Completion, ExpressionKind, complete
from backend.runs.expressions.known_names import require_known
from backend.runs.expressions.nodes import Condition, Value
from backend.runs.expressions.parsing import MAX_LENGTH, Parsed, parse_filter, parse_number, parse_value
from backend.runs.expressions.problems import ExpressionError, InvalidExpression, Span
from backend.runs.expressions.sql import Translator
from workers.contract.values import Text

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


def read_filter(session: Session, text: str, now: datetime | None = None) -> Condition:
    """Parse a filter. Raise ExpressionError if it is wrong, or names something that no run has."""
    condition, parsed = parse_filter(text, now or utc_now())
    require_known(session, parsed)
    return condition


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
    found = complete(session, text, place, kind, now)
    return CheckedExpression(
        error=error, position=found.position, length=place - found.position, completions=found.completions
    )


def filter_sql(session: Session, text: str, field: str = "filter") -> ColumnElement[bool]:
    """Return a filter as SQL. Raise InvalidExpression if it is wrong."""
    try:
        return Translator(session).condition(read_filter(session, text))
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
