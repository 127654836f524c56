"""Random filters of random runs, compared with a literal evaluation."""

import math
import random
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import select

from arcadia_backend.database.engine import Database
from arcadia_backend.database.tables import MAIN, MAIN_ID, Project, Run, RunTag, Study, StudyRun, name_key
from arcadia_backend.metrics.points import MetricClock, MetricSeries
from arcadia_backend.runs.expressions.parsing import parse_filter
from arcadia_backend.runs.expressions.sql import Translator

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
RUNS = 60
TAGS = ("good", "bad", "night shift")
METRICS = ("train/entropy", "loss")
STATISTICS = ("last", "min", "max", "mean")
ENVIRONMENTS = ("ALE/Pong-v5", "CartPole-v1", "", "my env")

Row = dict[str, Any]
# An expression with the function that evaluates it for a run.
Number = tuple[str, Callable[[Row], float | None]]
Condition = tuple[str, Callable[[Row], bool]]


def make_row(made: random.Random) -> Row:
    """Return the values of a run by their names in expressions."""

    def number(*others: Any) -> Any:
        return made.choice((None, math.nan, math.inf, 0.0, 1e70, 1e-70, *others, made.gauss(0, 10)))

    seed = made.choice((None, 1, 2, 2.5, "2", True, [1, 2], "auto", 10**400, -3e-5))
    settings = {
        "seed": seed,
        "clip_rewards": made.choice((True, False, None, 1)),
        "mein maß": made.choice(("ä", 3)),
    }
    return {
        "return": number(-math.inf),
        "best_return": number(15.0),
        "steps": made.choice((0, 7, 10**6, 2**53)),
        "speed": number(),
        "hours": made.choice((0.0, 1.5, 3.0, 30.25)),
        "state": made.choice(("running", "failed", "finished")),
        "method": made.choice(("a3c", "paac", "PPO", "")),
        "env": made.choice(ENVIRONMENTS),
        "project": made.choice(("Main", "atari", "50% _off_")),
        "name": made.choice(("pong 1", "Pong 2", 'it\'s "quoted"')),
        "tags": {tag for tag in TAGS if made.random() < 0.3},
        "study": made.choice((None, None, "Seeds", "7")),
        "created": NOW - timedelta(hours=made.choice((1, 30, 100))),
        "started": made.choice((None, NOW - timedelta(hours=2))),
        "config": {name: value for name, value in settings.items() if made.random() < 0.8},
        "metrics": {name: {s: number() for s in STATISTICS} for name in METRICS if made.random() < 0.7},
    }


def store(database: Database, rows: list[Row]) -> None:
    """Store the runs. Their ids begin at 1."""
    with database.write() as session:
        studies = {name: Study(name=name, question="", specification={}, state="finished") for name in ("Seeds", "7")}
        session.add_all(studies.values())
        added = [Project(name=name, name_key=name_key(name)) for name in ("atari", "50% _off_")]
        session.add_all(added)
        session.flush()
        projects = {project.name: project.id for project in added} | {MAIN: MAIN_ID}
        for run_id, row in enumerate(rows, 1):
            columns = {name: row[name] for name in ("best_return", "state", "env", "name")}
            renamed = {"last_return": row["return"], "step": row["steps"], "steps_per_second": row["speed"]}
            times = {"created_at": row["created"], "started_at": row["started"]}
            columns["project_id"] = projects[row["project"]]
            tags = [RunTag(tag=tag) for tag in row["tags"]]
            run = Run(
                id=run_id, algorithm=row["method"], config=row["config"], tags=tags, **columns, **renamed, **times
            )
            session.add(run)
            session.flush()
            for name, values in row["metrics"].items():
                session.add(
                    MetricSeries(
                        run_id=run_id,
                        name=name,
                        recent_mean=values["mean"],
                        **{s: values[s] for s in ("last", "min", "max")},
                    )
                )
            for attempt in range(2 if row["hours"] else 0):
                session.add(MetricClock(run_id=run_id, attempt=attempt, first=100.0, last=100.0 + row["hours"] * 1800))
            if row["study"]:
                session.add(StudyRun(study_id=studies[row["study"]].id, point=0, seed=run_id, run_id=run_id))


def stored(value: Any) -> float | None:
    """Return a number as expressions see it."""
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value or abs(value) > 1e60:
        return None
    return 0.0 if abs(value) <= 1e-30 else float(value)


def number(made: random.Random, depth: int) -> Number:
    """Return a random number expression."""
    nested = ("chain", "call", "negative") * 2 if depth else ()
    kind = made.choice(("literal", "column", "metric", "setting", *nested))
    if kind == "literal":
        text, value = made.choice((("3", 3.0), ("1.5e1", 15.0), (".5", 0.5), ("1.2M", 1.2e6), ("2k", 2e3), ("0", 0.0)))
        return text, lambda _row: value
    if kind == "column":
        name = made.choice(("return", "best_return", "steps", "speed", "hours"))
        return name, lambda row: stored(row[name])
    if kind == "metric":
        name, statistic = made.choice(METRICS), made.choice(STATISTICS)
        written = made.choice((name, f'"{name}"'))
        return f"{statistic}({written})", lambda row: stored(row["metrics"].get(name, {}).get(statistic))
    if kind == "setting":
        return made.choice(("seed", 'config("seed")')), lambda row: stored(row["config"].get("seed"))
    if kind == "negative":
        text, inner = number(made, depth - 1)
        return f"-({text})", lambda row: None if (v := inner(row)) is None else -v
    return call(made, depth) if kind == "call" else chain(made, depth)


def call(made: random.Random, depth: int) -> Number:
    """Return a random call."""
    name = made.choice(("min", "max", "abs", "log", "sqrt"))
    parts = [number(made, depth - 1) for _ in range(made.choice((2, 3)) if name in ("min", "max") else 1)]

    def evaluate(row: Row) -> float | None:
        found = [inner(row) for _text, inner in parts]
        values = [value for value in found if value is not None]
        if len(values) < len(found):
            return None
        first = values[0]
        if name == "log":
            return math.log(first) if first > 0 else None
        if name == "sqrt":
            return math.sqrt(first) if first >= 0 else None
        return abs(first) if name == "abs" else float({"min": min, "max": max}[name](values))

    return f"{name}({', '.join(text for text, _ in parts)})", evaluate


def chain(made: random.Random, depth: int) -> Number:
    """Return operands without parentheses around each operation."""
    (a, first), (b, second), (c, third) = (number(made, depth - 1) for _ in range(3))
    low, high = made.choice("+-"), made.choice("*/")

    def evaluate(row: Row) -> float | None:
        x, y, z = first(row), second(row), third(row)
        if x is None or y is None or z is None or (high == "/" and z == 0):
            return None
        product = y * z if high == "*" else y / z
        return x + product if low == "+" else x - product

    return f"{a} {low} ({b}) {high} ({c})", evaluate


def comparison(made: random.Random) -> Condition:
    """Return a random condition without `and`, `or` and `not`."""
    kind = made.choice(("number", "number", "text", "tag", "missing", "time", "setting", "study"))
    if kind == "number":
        (left, first), (right, second) = number(made, 2), number(made, 1)
        operator = made.choice(("<", "<=", ">", ">=", "=", "!="))
        ordered: dict[str, Callable[[float, float], bool]] = {
            "<": lambda x, y: x < y, "<=": lambda x, y: x <= y, ">": lambda x, y: x > y, ">=": lambda x, y: x >= y,
            "=": lambda x, y: x == y, "!=": lambda x, y: x == y,
        }  # fmt: skip

        def compare(row: Row) -> bool:
            x, y = first(row), second(row)
            holds = x is not None and y is not None and ordered[operator](x, y)
            return not holds if operator == "!=" else holds

        return f"{left} {operator} {right}", compare
    return OTHERS[kind](made)


def missing_condition(made: random.Random) -> Condition:
    """Return a condition on whether a value is missing. A field exists if it has a value of any type."""
    opposite = made.random() < 0.5
    text, value = number(made, 1)
    if text in ("seed", 'config("seed")'):
        text, value = "seed", lambda row: row["config"].get("seed")
    return f"{text} is {'not ' * opposite}missing", lambda row: (value(row) is None) != opposite


def text_condition(made: random.Random) -> Condition:
    """Return a condition on a text."""
    return made.choice((
        ("state = RUNNING", lambda row: row["state"] == "running"),
        ("state not in (failed, finished)", lambda row: row["state"] not in ("failed", "finished")),
        ("env:Pong", lambda row: row["env"] == "ALE/Pong-v5"),
        ("env != cartpole", lambda row: row["env"] != "CartPole-v1"),
        ("env ~ V", lambda row: "v" in row["env"].lower()),
        ("env is missing", lambda row: not row["env"]),
        ("method in (A3C, ppo, PPO)", lambda row: row["method"] in ("a3c", "PPO")),
        ("project != ATARI", lambda row: row["project"] != "atari"),
        ('project ~ "% _"', lambda row: "% _" in row["project"]),
        ("name:pong", lambda row: "pong" in row["name"].lower()),
        ("name = 'it\\'s \"quoted\"'", lambda row: row["name"] == "it's \"quoted\""),
    ))  # fmt: skip


def tag_condition(made: random.Random) -> Condition:
    """Return a condition on tags."""
    return made.choice((
        ("tag:good", lambda row: "good" in row["tags"]),
        ("tag != bad", lambda row: "bad" not in row["tags"]),
        ('tag in ("night shift", bad)', lambda row: bool(row["tags"] & {"night shift", "bad"})),
        ("tag ~ SHIFT", lambda row: "night shift" in row["tags"]),
        ("tag is missing", lambda row: not row["tags"]),
    ))  # fmt: skip


def time_condition(made: random.Random) -> Condition:
    """Return a condition on a time."""
    return made.choice((
        ("created > 2 days ago", lambda row: row["created"] > NOW - timedelta(days=2)),
        ("created <= yesterday", lambda row: row["created"] <= datetime(2026, 2, 28, tzinfo=UTC)),
        ("started >= 2026-03-01T10:00", lambda row: row["started"] is not None),
        ("started is missing", lambda row: row["started"] is None),
        ("hours < 90 min", lambda row: row["hours"] < 1.5),
        ("hours >= 1.5h", lambda row: row["hours"] >= 1.5),
    ))  # fmt: skip


def setting_condition(made: random.Random) -> Condition:
    """Return a condition on a field of the configuration, whose type varies."""

    def seed(row: Row) -> Any:
        return row["config"].get("seed")

    return made.choice((
        ("seed = 2", lambda row: stored(seed(row)) == 2),
        ('seed = "2"', lambda row: seed(row) == "2"),
        ("seed = true", lambda row: seed(row) is True),
        ("seed != -3e-5", lambda row: stored(seed(row)) != -3e-5),
        ('seed in (1, "auto")', lambda row: stored(seed(row)) == 1 or seed(row) == "auto"),
        ('seed = "[1,2]"', lambda row: seed(row) == [1, 2]),
        ("clip_rewards = false", lambda row: row["config"].get("clip_rewards") is False),
        ("clip_rewards != true", lambda row: row["config"].get("clip_rewards") is not True),
        ("clip_rewards is missing", lambda row: row["config"].get("clip_rewards") is None),
        ('config("mein maß") = ä', lambda row: row["config"].get("mein maß") == "ä"),
        ('config("mein maß") > 2', lambda row: row["config"].get("mein maß") == 3),
    ))  # fmt: skip


def study_condition(made: random.Random) -> Condition:
    """Return a condition on the study. The study with id 1 is named Seeds."""
    return made.choice((
        ("study:Seeds", lambda row: row["study"] == "Seeds"),
        ("study = 1", lambda row: row["study"] == "Seeds"),
        ('study in ("7", nothing)', lambda row: row["study"] == "7"),
        ("study ~ EED", lambda row: row["study"] == "Seeds"),
        ("study is not missing", lambda row: row["study"] is not None),
    ))  # fmt: skip


OTHERS = {
    "missing": missing_condition,
    "text": text_condition,
    "tag": tag_condition,
    "time": time_condition,
    "setting": setting_condition,
    "study": study_condition,
}


def condition(made: random.Random, depth: int) -> Condition:
    """Return a random condition. `and` binds more tightly than `or`, and `not` more than both."""
    kind = made.choice(("and or", "not", "group", "comparison")) if depth else "comparison"
    if kind == "comparison":
        return comparison(made)
    if kind == "not":
        text, inner = condition(made, 0)
        return f"NOT {text}", lambda row: not inner(row)
    if kind == "group":
        text, inner = condition(made, depth - 1)
        return f"({text})", inner
    (a, first), (b, second), (c, third) = (comparison(made) for _ in range(3))
    return f"{a} or {b} and not {c}", lambda row: first(row) or (second(row) and not third(row))


@pytest.mark.parametrize("filters", [300, pytest.param(1_000, marks=pytest.mark.nightly)])
def test_filters_select_the_runs_of_a_literal_evaluation(database: Database, filters: int) -> None:
    made = random.Random(7)
    rows = [make_row(made) for _ in range(RUNS)]
    store(database, rows)
    sizes = []
    with database.read() as session:
        translator = Translator(session)
        for _ in range(filters):
            text, evaluate = condition(made, 3)
            parsed, _names = parse_filter(text, NOW)
            found = set(session.scalars(select(Run.id).where(translator.condition(parsed))))
            assert found == {run_id for run_id, row in enumerate(rows, 1) if evaluate(row)}, text
            sizes.append(len(found))
    assert sum(0 < size < RUNS for size in sizes) > filters / 2
