"""Errors in expressions, with their position."""

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from backend.errors import FieldError, Problem

MAX_SUGGESTIONS = 3
MAX_QUOTED_LENGTH = 60


@dataclass(frozen=True)
class Span:
    """A part of an expression, in characters."""

    start: int
    end: int


@dataclass(frozen=True)
class Expected:
    """The kind of token that an error misses. Operators and texts follow a value."""

    kind: Literal["name", "operator", "text", "time", "missing", "field", "connective"]
    left: object = None


class ExpressionError(Exception):
    """An error at a span of an expression, with replacements for it."""

    def __init__(
        self, message: str, span: Span, suggestions: Sequence[str] = (), expected: Expected | None = None
    ) -> None:
        super().__init__(message)
        self.message = message
        self.span = span
        self.suggestions = list(suggestions)
        self.expected = expected


class InvalidExpression(Problem):
    """An expression in a request is wrong."""

    status = 422
    kind = "invalid"
    title = "Invalid value"

    def __init__(self, field: str, error: ExpressionError) -> None:
        start, length = error.span.start, error.span.end - error.span.start
        message = f"{error.message} (at character {start + 1})"
        super().__init__(
            f"{field}: {message}",
            errors=[FieldError(field=field, message=message)],
            expression={"field": field, "position": start, "length": length, "suggestions": error.suggestions},
        )


def similar(name: str, known: Iterable[str]) -> list[str]:
    """Return the most similar known names."""
    by_lower = {each.lower(): each for each in known}
    close = difflib.get_close_matches(name[:100].lower(), by_lower, n=MAX_SUGGESTIONS, cutoff=0.6)
    return [by_lower[each] for each in close]


def did_you_mean(suggestions: Sequence[str]) -> str:
    """Return the end of an error message that names suggestions."""
    return f"; did you mean {' or '.join(suggestions)}?" if suggestions else ""


def shortened(text: str) -> str:
    """Return a text that fits into a message."""
    return text if len(text) <= MAX_QUOTED_LENGTH else f"{text[:MAX_QUOTED_LENGTH]}…"
