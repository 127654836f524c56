"""Column types that mean the same on SQLite and PostgreSQL."""

import math
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import JSON, DateTime, Dialect, Double
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.types import TypeDecorator

Json = JSON().with_variant(JSONB(), "postgresql")


def utc_now() -> datetime:
    """The time now, with its zone."""
    return datetime.now(UTC)


class UtcDateTime(TypeDecorator[datetime]):
    """A moment: always UTC, always aware; SQLite keeps no zone, so it is taken off and put back."""

    impl = DateTime(timezone=True)
    cache_ok = True

    @property
    def python_type(self) -> type[datetime]:
        """What the column holds."""
        return datetime

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Turn to UTC."""
        if value is None:
            return None
        value = value.astimezone(UTC)
        return value.replace(tzinfo=None) if dialect.name == "sqlite" else value

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Give the zone back."""
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if dialect.name == "sqlite" else value.astimezone(UTC)


def _nan_as_text(value: float | None) -> float | str | None:
    return "NaN" if value is not None and math.isnan(value) else value


class Number(TypeDecorator[float]):
    """A double that keeps NaN: SQLite would turn it into NULL, so it is kept there as the text NaN."""

    impl = Double
    cache_ok = True

    @property
    def python_type(self) -> type[float]:
        """What the column holds."""
        return float

    def bind_processor(self, dialect: Dialect) -> Callable[[Any], Any] | None:
        """Spell NaN out for SQLite; SQLAlchemy's own processor would turn the text back into a number."""
        return _nan_as_text if dialect.name == "sqlite" else super().bind_processor(dialect)

    def process_result_value(self, value: Any, dialect: Dialect) -> float | None:  # noqa: ARG002
        """Read the text back."""
        return None if value is None else float(value)


class Numbers(TypeDecorator[Sequence[float]]):
    """A list of doubles in JSON, with NaN and the infinities as strings, since JSON has none."""

    impl = Json
    cache_ok = True

    def process_bind_param(self, value: Sequence[float] | None, dialect: Dialect) -> Any:  # noqa: ARG002
        """Spell out what JSON cannot say."""
        return None if value is None else [x if math.isfinite(x) else str(x) for x in value]

    def process_result_value(self, value: Any, dialect: Dialect) -> list[float] | None:  # noqa: ARG002
        """Read the strings back."""
        return None if value is None else [float(x) for x in value]
