"""Parser of expressions: a recursive descent, with one function for each precedence."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import TypeVar, get_args

from arcadia_backend.runs.expressions.comparing import ValueReader
from arcadia_backend.runs.expressions.nodes import (
    COLUMN_BY_NAME,
    SETTING_ALIASES,
    Arithmetic,
    Both,
    Call,
    Column,
    Condition,
    Constant,
    Either,
    Expected,
    ExpressionError,
    FunctionName,
    MetricStatistic,
    Missing,
    Negative,
    Node,
    Not,
    Setting,
    Span,
    Statistic,
    Value,
    setting_kinds,
)
from arcadia_backend.runs.expressions.scanner import Scanner, exponents, read_number, starts_number

MAX_LENGTH, MAX_DEPTH, MAX_VALUES, MAX_METRICS = 2_000, 20, 40, 10

STATISTICS: dict[str, Statistic] = {name: name for name in get_args(Statistic)}
FUNCTIONS: dict[str, FunctionName] = {name: name for name in get_args(FunctionName)}
KEYWORDS = ("and", "or", "not", "in", "is", "missing")
# The only argument of last, min, max and mean is a metric.
_METRIC = re.compile(r"(?:\"((?:[^\"\\]|\\.)*)\"|([^\s(),\"']+))\s*\)")
_METRIC_NAME = re.compile(r"[^\x00-\x1f\x7f]{1,200}")
_Node = TypeVar("_Node", bound=Node)


@dataclass
class Parsed:
    """A syntax tree, with the names in it that the database has to confirm."""

    node: Node
    settings: list[tuple[Setting, Span]] = field(default_factory=list)
    metrics: list[tuple[MetricStatistic, Span]] = field(default_factory=list)


def parse_filter(text: str, now: datetime) -> tuple[Condition, Parsed]:
    """Parse a condition. Raise ExpressionError if it is wrong."""
    parser = _Parser(text, now)
    condition = parser.whole(parser.condition)
    return condition, Parsed(condition, parser.settings, parser.metrics)


def parse_value(text: str, now: datetime) -> tuple[Value, Parsed]:
    """Parse a value: a number, a text or a time. Raise ExpressionError if it is wrong."""
    parser = _Parser(text, now)
    value = parser.whole(parser.value)
    return value, Parsed(value, parser.settings, parser.metrics)


def parse_number(text: str, now: datetime) -> tuple[Value, Parsed]:
    """Parse a value that is a number. Raise ExpressionError if it is wrong."""
    parser = _Parser(text, now)
    value = parser.whole(parser.number)
    return value, Parsed(value, parser.settings, parser.metrics)


class _Parser:
    def __init__(self, text: str, now: datetime) -> None:
        if len(text) > MAX_LENGTH:
            raise ExpressionError(f"an expression has at most {MAX_LENGTH:,} characters", Span(MAX_LENGTH, len(text)))
        self.scanner = Scanner(text)
        self.settings: list[tuple[Setting, Span]] = []
        self.metrics: list[tuple[MetricStatistic, Span]] = []
        self._reader = ValueReader(self.scanner, now, self.number)
        self._depth = self._values = self._lookups = 0

    def whole(self, parse: Callable[[], _Node]) -> _Node:
        """Parse the whole text."""
        node = parse()
        if not self.scanner.at_end:
            raise self.scanner.error("and, or, or the end" if isinstance(node, Condition) else "an operator or the end")
        return node

    def condition(self) -> Condition:
        """Parse a condition. Reject a value."""
        return self._as_condition(self._either())

    def value(self) -> Value:
        """Parse a value. Reject a condition."""
        start = self.scanner.at
        return self._as_value(self._either(), start)

    def _either(self) -> Node:
        return self._joined("or", self._both, Either)

    def _both(self) -> Node:
        return self._joined("and", self._opposite, Both)

    def _joined(self, word: str, parse: Callable[[], Node], join: type[Both] | type[Either]) -> Node:
        first = parse()
        if not self.scanner.is_word(word):
            return first
        parts = [self._as_condition(first)]
        while self.scanner.take_word(word):
            parts.append(self._as_condition(parse()))
        return join(tuple(parts))

    def _opposite(self) -> Node:
        if not self.scanner.take_word("not"):
            return self._comparison()
        return Not(self._as_condition(self._deeper(self._opposite)))

    def _comparison(self) -> Node:
        left = self._sum()
        if isinstance(left, Condition):
            return left
        if self.scanner.take_word("is"):
            opposite = self.scanner.take_word("not")
            if not self.scanner.take_word("missing"):
                raise self.scanner.error("missing" if opposite else "missing or not missing", Expected("missing"))
            return Not(Missing(left)) if opposite else Missing(left)
        return self._reader.comparison(left) or left

    def _sum(self) -> Node:
        return self._chain(("+", "-"), self._product)

    def _product(self) -> Node:
        return self._chain(("*", "/"), self._signed)

    def _chain(self, operators: tuple[str, ...], parse: Callable[[], Node]) -> Node:
        start = self.scanner.at
        left = parse()
        span = self.scanner.span_from(start)
        while operator := self.scanner.take(*operators):
            value = self._as_number(left, span)
            begin = self.scanner.at
            right = self._as_number(parse(), begin)
            left = self._bounded(Arithmetic(operator, value, right), start)  # type: ignore[arg-type]
            span = self.scanner.span_from(start)
        return left

    def _signed(self) -> Node:
        if not self.scanner.take("-"):
            return self._primary()
        start = self.scanner.at
        return Negative(self._as_number(self._deeper(self._signed), start))

    def _primary(self) -> Node:
        start = self.scanner.at
        if self.scanner.take("("):
            inner = self._deeper(self._either)
            self._close()
            return inner
        self._values += 1
        if self._values > MAX_VALUES:
            raise ExpressionError(f"an expression has at most {MAX_VALUES} values", self.scanner.next_span())
        if starts_number(self.scanner):
            return Constant(read_number(self.scanner))
        if (name := self.scanner.name()) is None or name.lower() in KEYWORDS:
            self.scanner.at = start
            raise self.scanner.error("a name or a number", Expected("name"))
        return self._named(name, start)

    def _named(self, name: str, start: int) -> Node:
        if self.scanner.take("("):
            return self._called(name, start)
        if column := COLUMN_BY_NAME.get(name.lower()):
            if column.name == "hours":
                self._count_lookup(start)
            return column
        if name in SETTING_ALIASES:
            return Setting(name, SETTING_ALIASES[name])
        return self._setting(name, start)

    def _setting(self, name: str, start: int) -> Setting:
        setting = Setting(name)
        if name not in setting_kinds():
            self.settings.append((setting, self.scanner.span_from(start)))
        return setting

    def _called(self, name: str, start: int) -> Node:
        lower = name.lower()
        if lower == "config":
            return self._configured(start)
        if lower in STATISTICS and (match := self.scanner.match(_METRIC)):
            return self._metric(STATISTICS[lower], match, start)
        if lower in FUNCTIONS:
            return self._bounded(Call(FUNCTIONS[lower], self._arguments(lower, start)), start)
        if lower in STATISTICS:
            raise self.scanner.error(f"one metric and a parenthesis, as in {lower}(train/entropy)")
        known = ", ".join(sorted({*FUNCTIONS, *STATISTICS, "config"}))
        raise ExpressionError(f"no such function; use {known}", Span(start, start + len(name)))

    def _configured(self, start: int) -> Setting:
        name = self.scanner.text_value()
        if name is None or '"' in name:
            raise self.scanner.error("a field of the configuration", Expected("field"))
        self._close()
        return self._setting(name, start)

    def _metric(self, statistic: Statistic, match: re.Match[str], start: int) -> MetricStatistic:
        name = re.sub(r"\\(.)", r"\1", match[1]) if match[1] is not None else match[2]
        span = self.scanner.span_from(start)
        if not _METRIC_NAME.fullmatch(name):
            raise ExpressionError("this cannot be the name of a metric", span)
        metric = MetricStatistic(name, statistic)
        self.metrics.append((metric, span))
        self._count_lookup(start)
        return metric

    def _count_lookup(self, start: int) -> None:
        """Count a value that is in another table, which takes longer."""
        self._lookups += 1
        if self._lookups > MAX_METRICS:
            message = f"an expression has at most {MAX_METRICS} metrics and hours"
            raise ExpressionError(message, self.scanner.span_from(start))

    def _arguments(self, name: str, start: int) -> tuple[Value, ...]:
        values: list[Value] = []
        while not values or self.scanner.take(","):
            begin = self.scanner.at
            values.append(self._as_number(self._deeper(self._sum), begin))
        self._close()
        is_many = name in ("min", "max")
        if is_many != (len(values) > 1):
            message = f"{name} takes one metric or several values" if is_many else f"{name} takes one value"
            raise ExpressionError(message, self.scanner.span_from(start))
        return tuple(values)

    def _close(self) -> None:
        if not self.scanner.take(")"):
            raise self.scanner.error("a closing parenthesis")

    def _deeper(self, parse: Callable[[], Node]) -> Node:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise ExpressionError(f"an expression nests at most {MAX_DEPTH} levels", self.scanner.next_span())
        node = parse()
        self._depth -= 1
        return node

    def number(self) -> Value:
        """Parse a number."""
        start = self.scanner.at
        return self._as_number(self._sum(), start)

    def _bounded(self, value: Arithmetic | Call, start: int) -> Arithmetic | Call:
        if not exponents(value).fits:
            message = "this multiplies or divides too many values; the result could be too large"
            raise ExpressionError(message, self.scanner.span_from(start))
        return value

    def _as_condition(self, node: Node) -> Condition:
        """Return a node that was just read, if it is a condition."""
        if not isinstance(node, Condition):
            raise self.scanner.error("an operator such as = or <", Expected("operator", node))
        return node

    def _as_value(self, node: Node, start: int | Span) -> Value:
        """Return a node that was read at a span, or from a start to here, if it is a value."""
        if isinstance(node, Condition):
            span = start if isinstance(start, Span) else self.scanner.span_from(start)
            raise ExpressionError("this is a condition; a number is needed here", span)
        return node

    def _as_number(self, node: Node, start: int | Span) -> Value:
        value = self._as_value(node, start)
        is_text = isinstance(value, Column) and value.kind != "number"
        is_text |= isinstance(value, Setting) and setting_kinds().get(value.name) in ("text", "boolean")
        if is_text:
            span = start if isinstance(start, Span) else self.scanner.span_from(start)
            raise ExpressionError("this is not a number", span)
        return value
