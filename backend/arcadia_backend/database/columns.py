"""Column types with the same behavior on SQLite and PostgreSQL."""

import math
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import JSON, DateTime, Dialect, Double
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.types import TypeDecorator

Json = JSON().with_variant(JSONB(), "postgresql")


def utc_now() -> datetime:
    """Return the current time in UTC."""
    return datetime.now(UTC)


class UtcDateTime(TypeDecorator[datetime]):
    """A datetime that is always UTC and timezone-aware. SQLite stores no zone, so this type restores it."""

    impl = DateTime(timezone=True)
    cache_ok = True

    @property
    def python_type(self) -> type[datetime]:
        """The Python type of the values."""
        return datetime

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Convert to UTC."""
        if value is None:
            return None
        value = value.astimezone(UTC)
        return value.replace(tzinfo=None) if dialect.name == "sqlite" else value

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Restore the zone."""
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if dialect.name == "sqlite" else value.astimezone(UTC)


def _nan_as_text(value: float | None) -> float | str | None:
    return "NaN" if value is not None and math.isnan(value) else value


class Number(TypeDecorator[float]):
    """A double that can be NaN. SQLite would store NULL, so it stores the text NaN instead."""

    impl = Double
    cache_ok = True

    @property
    def python_type(self) -> type[float]:
        """The Python type of the values."""
        return float

    def bind_processor(self, dialect: Dialect) -> Callable[[Any], Any] | None:
        """Convert NaN to text for SQLite. SQLAlchemy's own processor would convert it back to a number."""
        return _nan_as_text if dialect.name == "sqlite" else super().bind_processor(dialect)

    def process_result_value(self, value: Any, dialect: Dialect) -> float | None:  # noqa: ARG002
        """Convert the text back."""
        return None if value is None else float(value)


class Numbers(TypeDecorator[Sequence[float]]):
    """A list of doubles as JSON, with NaN and infinity as strings."""

    impl = Json
    cache_ok = True

    def process_bind_param(self, value: Sequence[float] | None, dialect: Dialect) -> Any:  # noqa: ARG002
        """Convert NaN and infinity to strings."""
        return None if value is None else [x if math.isfinite(x) else str(x) for x in value]

    def process_result_value(self, value: Any, dialect: Dialect) -> list[float] | None:  # noqa: ARG002
        """Convert the strings back."""
        return None if value is None else [float(x) for x in value]
