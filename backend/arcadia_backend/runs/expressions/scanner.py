"""A position in the text of an expression, and the tokens that can follow it."""

import math
import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from arcadia_backend.database.tables import LARGEST_NUMBER, SMALLEST_NUMBER
from arcadia_backend.runs.expressions.nodes import (
    Arithmetic,
    Call,
    Constant,
    Expected,
    ExpressionError,
    Negative,
    Span,
    Value,
    did_you_mean,
    shortened,
    similar,
)

_SPACE = re.compile(r"\s*")
_WORD = re.compile(r"[^\s()\[\]{},\"'<>=!~;]+")
_NAME = re.compile(r"[^\W\d][\w.]*")
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"|\'((?:[^\'\\]|\\.)*)\'', re.DOTALL)
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
# The text that an error marks: a word, a quoted text or one character.
_TOKEN = re.compile(r"[\w.]+|[<>=!]+|.", re.DOTALL)


class Scanner:
    """Reads one token after another."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self._skip_space()

    def match(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """Read a token that matches a pattern, if it is next."""
        match = pattern.match(self.text, self.at)
        if match is not None:
            self.at = match.end()
            self._skip_space()
        return match

    def take(self, *symbols: str) -> str | None:
        """Read the first of these symbols that is next."""
        for symbol in symbols:
            if self.text.startswith(symbol, self.at):
                self.at += len(symbol)
                self._skip_space()
                return symbol
        return None

    def take_word(self, *words: str) -> str | None:
        """Read one of these words, in any case, if it is next."""
        match = _NAME.match(self.text, self.at)
        if match is None or not self.is_word(*words):
            return None
        self.at = match.end()
        self._skip_space()
        return match[0].lower()

    def is_word(self, *words: str) -> bool:
        """Return True if one of these words, in any case, is next."""
        match = _NAME.match(self.text, self.at)
        return match is not None and match[0].lower() in words

    def name(self) -> str | None:
        """Read a name, if one is next."""
        match = self.match(_NAME)
        return match[0] if match else None

    def text_value(self) -> str | None:
        """Read a quoted text, or a word without spaces, if one is next."""
        if self.is_at('"', "'"):
            return self.quoted()
        match = self.match(_WORD)
        return match[0] if match else None

    def quoted(self) -> str:
        """Read a quoted text. Raise ExpressionError if it has no end."""
        match = self.match(_QUOTED)
        if match is None:
            raise ExpressionError("this text has no closing quote", Span(self.at, len(self.text)))
        return _ESCAPED.sub(r"\1", match[1] if match[1] is not None else match[2])

    def is_at(self, *symbols: str) -> bool:
        """Return True if one of these symbols is next."""
        return self.text.startswith(symbols, self.at)

    @property
    def at_end(self) -> bool:
        """Return True if nothing follows."""
        return self.at == len(self.text)

    def span_from(self, start: int) -> Span:
        """Return the span from a position to here, without the spaces at its end."""
        return Span(start, max(start, len(self.text[: self.at].rstrip())))

    def next_span(self) -> Span:
        """Return the span of the next token. It is empty at the end."""
        match = _TOKEN.match(self.text, self.at)
        return Span(self.at, match.end() if match else self.at)

    def error(self, expected: str, kind: Expected | None = None) -> ExpressionError:
        """Return the error that something else is next than expected."""
        span = self.next_span()
        wrong_text = self.text[span.start : span.end]
        instead = f", not {shortened(wrong_text)!r}" if wrong_text else ""
        return ExpressionError(f"expected {expected}{instead}", span, expected=kind)

    def _skip_space(self) -> None:
        space = _SPACE.match(self.text, self.at)
        self.at = space.end() if space else self.at


COUNTS = {"k": 1e3, "K": 1e3, "M": 1e6, "B": 1e9, "G": 1e9}
_UNITS = {
    1.0: "s sec secs second seconds",
    60.0: "min mins minute minutes",
    3600.0: "h hour hours",
    86_400.0: "d day days",
    604_800.0: "w week weeks",
    2_592_000.0: "month months",
    31_536_000.0: "year years",
}
SECONDS = {name: seconds for seconds, names in _UNITS.items() for name in names.split()}
MAX_AGE_SECONDS = 100 * 31_536_000.0

_NUMBER = re.compile(r"(\d[\d_]*(?:\.\d*)?|\.\d+)(?:[eE]([+-]?\d+))?")
_SUFFIX = re.compile(r"[^\W\d_]+(?!\w)")
_SPACED_UNIT = re.compile(rf"\s+({'|'.join(sorted(SECONDS, key=len, reverse=True))})(?!\w)")
_DATE = re.compile(r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?(?:Z|[+-]\d\d:\d\d)?)?(?!\w)")


def starts_number(scanner: Scanner) -> bool:
    """Return True if a number is next."""
    return _NUMBER.match(scanner.text, scanner.at) is not None


def read_number(scanner: Scanner, unit_seconds: float | None = None) -> float:
    """Read a number. With a unit, a duration such as 90 min is converted to it."""
    start = scanner.at
    number, suffix = _number_and_suffix(scanner)
    if suffix in COUNTS:
        number *= COUNTS[suffix]
    elif suffix in SECONDS and unit_seconds is not None:
        number *= SECONDS[suffix] / unit_seconds
    elif suffix:
        raise ExpressionError(_unknown_suffix(suffix), scanner.span_from(start))
    if number > LARGEST_NUMBER:
        raise ExpressionError(f"numbers are at most {LARGEST_NUMBER:g}", scanner.span_from(start))
    return 0.0 if number < SMALLEST_NUMBER else number


def _number_and_suffix(scanner: Scanner) -> tuple[float, str]:
    start = scanner.at
    match = _NUMBER.match(scanner.text, start)
    if match is None:
        raise scanner.error("a number")
    # Python reads 1_000, and huge exponents as infinity.
    digits = match[1].replace("_", "")
    number = float(f"{digits}e{match[2][:6]}" if match[2] else digits)
    scanner.at = match.end()
    suffix = _SUFFIX.match(scanner.text, scanner.at) or _SPACED_UNIT.match(scanner.text, scanner.at)
    if suffix:
        scanner.at = suffix.end()
    scanner.take("")
    return number, suffix[0].strip() if suffix else ""


def _unknown_suffix(suffix: str) -> str:
    if suffix in SECONDS:
        return "a duration fits only hours and time_left"
    return f"{suffix[:20]!r} is not a unit; use k, M or B for counts, and s, min, h, d or w for durations"


def read_moment(scanner: Scanner, now: datetime) -> datetime:
    """Read a moment: a date in UTC, an age such as `2 days ago`, now, today or yesterday."""
    start = scanner.at
    if match := scanner.match(_DATE):
        return _read_date(match[0], Span(start, match.end()))
    if scanner.is_at('"', "'"):
        text = scanner.quoted()
        return _read_date(text, scanner.span_from(start))
    if word := scanner.take_word("now", "today", "yesterday"):
        today = now.replace(hour=0, minute=0, second=0, microsecond=0)
        return {"now": now, "today": today, "yesterday": today - timedelta(days=1)}[word]
    if starts_number(scanner):
        return now - timedelta(seconds=_read_age(scanner))
    raise scanner.error("a time, such as 2 days ago, today or 2026-01-31", Expected("time"))


def _read_date(text: str, span: Span) -> datetime:
    try:
        moment = datetime.fromisoformat(text)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        raise ExpressionError("this is not a date; write 2026-01-31 or 2026-01-31T14:00", span) from None


def _read_age(scanner: Scanner) -> float:
    start = scanner.at
    number, unit = _number_and_suffix(scanner)
    span = scanner.span_from(start)
    if unit not in SECONDS:
        wrong = scanner.next_span()
        word = scanner.text[wrong.start : wrong.end]
        if not unit and word.isalpha() and not scanner.is_word("and", "or", "not"):
            suggestions = similar(word, [name for name in SECONDS if len(name) > 1])[:1]
            raise ExpressionError(f"{word[:20]!r} is not a unit of time{did_you_mean(suggestions)}", wrong, suggestions)
        raise ExpressionError("an age needs a unit, as in 2 days ago", span, [f"{number:g} days ago"])
    seconds = number * SECONDS[unit]
    if seconds > MAX_AGE_SECONDS:
        raise ExpressionError("an age is at most 100 years", span)
    if not scanner.take_word("ago"):
        raise ExpressionError("write ago after an age, as in 2 days ago", span, [f"{number:g} {unit} ago"])
    return seconds


# Results have decimal exponents within these bounds, or are zero.
MAX_EXPONENT = 300.0
# The last digit of a double. A difference may be as small as the last digit of an operand, but no smaller.
_DIGITS = 16.0


@dataclass(frozen=True)
class Exponents:
    """The decimal exponents of the smallest last digit of a value that is not zero, and of the largest value."""

    smallest: float
    largest: float

    @property
    def fits(self) -> bool:
        """Return True if every such value is a double."""
        return self.smallest >= -MAX_EXPONENT and self.largest <= MAX_EXPONENT


_STORED = Exponents(math.log10(SMALLEST_NUMBER) - _DIGITS, math.log10(LARGEST_NUMBER))


def exponents(value: Value) -> Exponents:
    """Return the bounds of a value whose parts all fit."""
    match value:
        case Constant(0.0):
            return Exponents(0.0, 0.0)
        case Constant(number):
            return Exponents(math.log10(number) - _DIGITS, math.log10(number))
        case Negative(inner):
            return exponents(inner)
        case Arithmetic():
            return _of_arithmetic(value)
        case Call():
            return _of_call(value)
    return _STORED


def _of_arithmetic(value: Arithmetic) -> Exponents:
    left, right = exponents(value.left), exponents(value.right)
    if value.operator == "*":
        return Exponents(left.smallest + right.smallest - _DIGITS, left.largest + right.largest)
    if value.operator == "/":
        return Exponents(left.smallest - right.largest - _DIGITS, left.largest - right.smallest)
    return Exponents(min(left.smallest, right.smallest), max(left.largest, right.largest) + math.log10(2))


def _of_call(value: Call) -> Exponents:
    parts = [exponents(each) for each in value.values]
    if value.function == "sqrt":
        return Exponents(parts[0].smallest / 2 - _DIGITS, parts[0].largest / 2)
    if value.function == "log":
        return Exponents(-2 * _DIGITS, math.log10(MAX_EXPONENT * math.log(10)))
    return Exponents(min(part.smallest for part in parts), max(part.largest for part in parts))
