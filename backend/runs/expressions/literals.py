"""Numbers, durations and moments in expressions: 1.2M, 1e-3, 90 min, 2 days ago, 2026-01-31."""

import re
from datetime import UTC, datetime, timedelta

from backend.runs.expressions.problems import Expected, ExpressionError, Span, did_you_mean, similar
from backend.runs.expressions.scanner import Scanner

# Larger numbers count as missing, and smaller ones as zero, so that arithmetic cannot leave the range of a double.
LARGEST_NUMBER, SMALLEST_NUMBER = 1e60, 1e-30
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
    found = _NUMBER.match(scanner.text, start)
    if found is None:
        raise scanner.error("a number")
    # Python reads 1_000, and huge exponents as infinity.
    digits = found[1].replace("_", "")
    number = float(f"{digits}e{found[2][:6]}" if found[2] else digits)
    scanner.at = found.end()
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
    if found := scanner.match(_DATE):
        return _read_date(found[0], Span(start, found.end()))
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
        found = datetime.fromisoformat(text)
        return (found if found.tzinfo else found.replace(tzinfo=UTC)).astimezone(UTC)
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
