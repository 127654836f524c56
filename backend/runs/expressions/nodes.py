"""Syntax tree of an expression: values are numbers of a run, conditions are true or false for a run."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from backend.runs.expressions.names import Column

Statistic = Literal["last", "min", "max", "mean"]
ArithmeticOperator = Literal["+", "-", "*", "/"]
FunctionName = Literal["min", "max", "abs", "log", "sqrt"]
# The operators != and "not in" are negations of other nodes.
CompareOperator = Literal["=", "<", "<=", ">", ">="]


@dataclass(frozen=True)
class Constant:
    """A number in the expression."""

    value: float


@dataclass(frozen=True)
class Setting:
    """A field of a run's configuration."""

    name: str


@dataclass(frozen=True)
class MetricStatistic:
    """A statistic of a metric. The mean is of the last 100 points."""

    name: str
    statistic: Statistic


@dataclass(frozen=True)
class Negative:
    """The negative of a value."""

    value: "Value"


@dataclass(frozen=True)
class Arithmetic:
    """Two values and an arithmetic operator. A division by zero has no value."""

    operator: ArithmeticOperator
    left: "Value"
    right: "Value"


@dataclass(frozen=True)
class Call:
    """A function of values. It has no value if one of them has none, or outside of its domain."""

    function: FunctionName
    values: tuple["Value", ...]


@dataclass(frozen=True)
class Compare:
    """A comparison of numbers. It is false if one of them is missing."""

    operator: CompareOperator
    left: "Value"
    right: "Value"


@dataclass(frozen=True)
class CompareTime:
    """A comparison of a time with a moment. It is false if the time is missing."""

    operator: CompareOperator
    column: Column
    moment: datetime


@dataclass(frozen=True)
class OneOf:
    """Condition that a text, or one of several tags or studies, is one of these texts."""

    name: Column | Setting
    texts: tuple[str, ...]


@dataclass(frozen=True)
class InStudy:
    """Condition that a run belongs to a study."""

    study_id: int


@dataclass(frozen=True)
class Contains:
    """Condition that a text contains another one, ignoring case."""

    name: Column | Setting
    text: str


@dataclass(frozen=True)
class IsTrue:
    """Condition that a field of the configuration is true, or false."""

    setting: Setting
    value: bool


@dataclass(frozen=True)
class Missing:
    """Condition that a run has no value."""

    value: "Value"


@dataclass(frozen=True)
class Not:
    """The opposite of a condition."""

    condition: "Condition"


@dataclass(frozen=True)
class Both:
    """Condition that all of these conditions are true."""

    conditions: tuple["Condition", ...]


@dataclass(frozen=True)
class Either:
    """Condition that at least one of these conditions is true."""

    conditions: tuple["Condition", ...]


Value = Constant | Column | Setting | MetricStatistic | Negative | Arithmetic | Call
Condition = Compare | CompareTime | OneOf | InStudy | Contains | IsTrue | Missing | Not | Both | Either
Node = Value | Condition
