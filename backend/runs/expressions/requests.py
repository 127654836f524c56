"""Expressions in requests: parsed, checked and translated."""

from datetime import datetime
from typing import Annotated, Any

from fastapi import Query
from sqlalchemy import ColumnElement
from sqlalchemy.orm import Session

from backend.database.columns import utc_now
from backend.runs.expressions.known_names import require_known
from backend.runs.expressions.nodes import Condition, Value
from backend.runs.expressions.parsing import MAX_LENGTH, parse_filter, parse_value
from backend.runs.expressions.problems import ExpressionError, InvalidExpression
from backend.runs.expressions.sql import Translator
from workers.contract.values import Text

FilterText = Annotated[
    Text,
    Query(
        max_length=MAX_LENGTH,
        description="Expression that selects runs, such as `learning_rate < 1e-3 and best_return > 15`.",
    ),
]


def read_filter(session: Session, text: str, now: datetime | None = None) -> Condition:
    """Parse a filter. Raise ExpressionError if it is wrong, or names something that no run has."""
    condition, parsed = parse_filter(text, now or utc_now())
    require_known(session, parsed)
    return condition


def filter_sql(session: Session, text: str, field: str = "filter") -> ColumnElement[bool]:
    """Return a filter as SQL. Raise InvalidExpression if it is wrong."""
    try:
        return Translator(session).condition(read_filter(session, text))
    except ExpressionError as error:
        raise InvalidExpression(field, error) from None


def read_value(session: Session, text: str, field: str) -> Value:
    """Parse a value. Raise InvalidExpression if it is wrong."""
    try:
        value, parsed = parse_value(text, utc_now())
        require_known(session, parsed)
    except ExpressionError as error:
        raise InvalidExpression(field, error) from None
    return value


def value_sql(session: Session, text: str, field: str) -> ColumnElement[Any]:
    """Return the numbers of a value as SQL."""
    return Translator(session).number(read_value(session, text, field))
