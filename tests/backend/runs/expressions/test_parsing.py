"""Syntax and errors of expressions."""

import random
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest

from arcadia_backend.runs.expressions.nodes import (
    Arithmetic,
    Both,
    Compare,
    CompareTime,
    Constant,
    Contains,
    Either,
    ExpressionError,
    IsTrue,
    MetricStatistic,
    Not,
    OneOf,
    Setting,
    Span,
)
from arcadia_backend.runs.expressions.parsing import (
    MAX_DEPTH,
    MAX_LENGTH,
    MAX_METRICS,
    MAX_VALUES,
    parse_filter,
    parse_value,
)

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


def parsed(text: str) -> object:
    return parse_filter(text, NOW)[0]


def error(text: str) -> ExpressionError:
    with pytest.raises(ExpressionError) as caught:
        parse_filter(text, NOW)
    return caught.value


def wrong_span(parse: Callable[[str, datetime], object], text: str) -> Span:
    """Return the wrong part of a text, or the whole text if it is right."""
    try:
        parse(text, NOW)
    except ExpressionError as found:
        return found.span
    return Span(0, len(text))


def test_and_binds_more_tightly_than_or() -> None:
    a, b, c = (Compare("=", Setting(name), Constant(1.0)) for name in "abc")
    assert parsed("a = 1 or b = 1 and c = 1") == Either((a, Both((b, c))))
    assert parsed("(a = 1 or b = 1) AND c = 1") == Both((Either((a, b)), c))
    assert parsed("not a = 1 and b = 1") == Both((Not(a), b))


def test_multiplication_binds_more_tightly_than_addition() -> None:
    one, two, three = map(Constant, (1.0, 2.0, 3.0))
    assert parse_value("1 + 2 * 3", NOW)[0] == Arithmetic("+", one, Arithmetic("*", two, three))
    assert parse_value("(1 - 2) - 3", NOW)[0] == parse_value("1 - 2 - 3", NOW)[0]


def test_metrics_have_statistics() -> None:
    assert parsed("max(train/entropy) < 1") == Compare("<", MetricStatistic("train/entropy", "max"), Constant(1.0))
    assert parsed('mean("my loss (a)") < 1') == Compare("<", MetricStatistic("my loss (a)", "mean"), Constant(1.0))


@pytest.mark.parametrize(
    ("text", "number"),
    [("1.2M", 1.2e6), ("1_000", 1000.0), ("2k", 2000.0), ("3B", 3e9), (".5", 0.5), ("1e-70", 0.0), ("5.", 5.0)],
)
def test_numbers_may_have_suffixes(text: str, number: float) -> None:
    assert parsed(f"steps > {text}") == parsed(f"steps > {number!r}".replace("e+", "e"))


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2 days ago", NOW - timedelta(days=2)),
        ("36h ago", NOW - timedelta(hours=36)),
        ("now", NOW),
        ("today", datetime(2026, 3, 1, tzinfo=UTC)),
        ("2026-01-31", datetime(2026, 1, 31, tzinfo=UTC)),
        ("2026-01-31T14:00+02:00", datetime(2026, 1, 31, 12, tzinfo=UTC)),
        ('"2026-01-31 14:00"', datetime(2026, 1, 31, 14, tzinfo=UTC)),
    ],
)
def test_times_are_dates_or_ages(text: str, moment: datetime) -> None:
    node = parsed(f"created > {text}")
    assert isinstance(node, CompareTime)
    assert node.moment == moment


def test_the_form_of_a_value_decides_its_type() -> None:
    field = Setting("schedule")
    assert parsed("schedule = 3") == Compare("=", field, Constant(3.0))
    assert parsed('schedule = "3"') == OneOf(field, ("3",))
    assert parsed("schedule = linear") == OneOf(field, ("linear",))
    assert parsed("schedule = false") == IsTrue(field, False)


def test_a_colon_finds_choices_whole_and_texts_in_part() -> None:
    tag, name = parsed("tag:good"), parsed("name:good")
    assert isinstance(tag, OneOf)
    assert tag.texts == ("good",)
    assert isinstance(name, Contains)


def test_titles_stand_for_ids() -> None:
    env, method = parsed("env = Pong"), parsed("method = A3C")
    assert isinstance(env, OneOf)
    assert "ALE/Pong-v5" in env.texts
    assert isinstance(method, OneOf)
    assert method.texts == ("a3c", "A3C")


@pytest.mark.parametrize(
    ("text", "marked", "message"),
    [
        ("best_return", "", "expected an operator such as = or <"),
        ("best_return > ", "", "expected a name or a number"),
        ("best_return > 1 2", "2", "expected and, or, or the end, not '2'"),
        ("(best_return > 1", "", "expected a closing parenthesis"),
        ("state = runing", "runing", "no state is 'runing'; did you mean running?"),
        ("env < 3", "<", "< does not fit a text; use =, !=, ~"),
        ("best_return ~ 3", "~", "~ does not fit a number; use =, !=, <, <=, >, >="),
        ("env + 1 > 3", "env", "this is not a number"),
        ("created > 3", "3", "an age needs a unit, as in 2 days ago"),
        ("created > 2 dys ago", "dys", "'dys' is not a unit of time; did you mean days?"),
        ("created > 2 and steps > 1", "2", "an age needs a unit, as in 2 days ago"),
        ("created > 3 days", "3 days", "write ago after an age, as in 2 days ago"),
        ("created > 2026-02-30", "2026-02-30", "this is not a date; write 2026-01-31 or 2026-01-31T14:00"),
        ("steps > 3 days", "3 days", "a duration fits only hours and time_left"),
        ("steps > 3x", "3x", "'x' is not a unit; use k, M or B for counts, and s, min, h, d or w for durations"),
        ("steps > 1e99", "1e99", "numbers are at most 1e+60"),
        ("name = 'a", "'a", "this text has no closing quote"),
        ("sin(steps) > 1", "sin", "no such function; use abs, config, last, log, max, mean, min, sqrt"),
        ("sqrt(1, 2) > 1", "sqrt(1, 2)", "sqrt takes one value"),
        ("env is nothing", "nothing", "expected missing or not missing, not 'nothing'"),
        ("env in Pong", "Pong", "expected a list, as in (a, b), not 'Pong'"),
        ("not best_return", "", "expected an operator such as = or <"),
        ("(a = 1) + 2 > 3", "(a = 1)", "this is a condition; a number is needed here"),
        ("best_return > __import__", "", ""),
        ("steps > 1; drop table runs", ";", "expected and, or, or the end, not ';'"),
        ("", "", "expected a name or a number"),
    ],
)
def test_errors_have_a_position(text: str, marked: str, message: str) -> None:
    if not message:
        assert parse_filter(text, NOW)[1].settings[0][0] == Setting("__import__"), "a field that no run has"
        return
    found = error(text)
    assert (text[found.span.start : found.span.end], found.message) == (marked, message)
    assert found.span.end <= len(text)


def test_expressions_have_limits() -> None:
    nested = "(" * (MAX_DEPTH + 1) + "steps" + ")" * (MAX_DEPTH + 1) + " > 1"
    assert "nests at most" in error(nested).message
    assert "characters" in error("x" * (MAX_LENGTH + 1)).message
    assert "values" in error("+".join(["1"] * (MAX_VALUES + 1)) + " > 1").message
    assert "metrics and hours" in error(" and ".join(["last(a) > 1"] * (MAX_METRICS + 1))).message
    assert "too large" in error("*".join(["steps"] * 6) + " > 1").message
    assert parsed("+".join(["steps"] * (MAX_VALUES - 1)) + " > 1"), "a sum is not large"
    assert parsed("steps * steps * steps * steps * steps > 1")
    assert parsed("steps / 60 / 60 / 24 / 7 > 1"), "known numbers are small"


def test_any_text_is_parsed_or_rejected_with_a_position() -> None:
    made = random.Random(3)
    words = (
        *("steps", "env", "tag", "seed", "created", "max", "last", "config", "and", "or", "not", "in", "is", "missing"),
        *(
            "(",
            ")",
            ",",
            "+",
            "-",
            "*",
            "/",
            "<",
            ">=",
            "!=",
            "=",
            "~",
            ":",
            '"',
            "'",
            "\\",
            "\0",
            "é",
            "٣",
            "²",
            "\ud800",
        ),
        *(
            "1",
            "1e9",
            "1e999999",
            "2 days ago",
            "2026-01-31",
            "9999-12-31T23:59-23:59",
            "ago",
            " ",
            "\n",
            "true",
            "a/b",
        ),
    )
    for _ in range(20_000):
        text = "".join(made.choice(words) + made.choice(("", " ")) for _ in range(made.randrange(12)))
        for parse in (parse_filter, parse_value):
            span = wrong_span(parse, text)
            assert 0 <= span.start <= span.end <= len(text), text
