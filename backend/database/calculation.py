"""Function of SQLite that calculates a number from others.

SQLite's parser allows few levels of nested functions. So a calculation is one function, whose first argument has the
steps as JSON in postfix order: an integer is the position of a value, another number is itself, and a text is an
operation. A calculation with a missing value has no value.
"""

import json
import math
import sqlite3
from collections.abc import Callable
from functools import lru_cache
from operator import add, mul, neg, sub
from typing import Any

NAME = "calculate"

_UNARY: dict[str, Callable[[float], float | None]] = {
    "negative": neg,
    "abs": abs,
    "log": lambda value: math.log(value) if value > 0 else None,
    "sqrt": lambda value: math.sqrt(value) if value >= 0 else None,
}
_BINARY: dict[str, Callable[[float, float], float | None]] = {
    "+": add,
    "-": sub,
    "*": mul,
    "/": lambda left, right: left / right if right else None,
    "min": min,
    "max": max,
}


def register(connection: sqlite3.Connection) -> None:
    """Add the function to a connection."""
    connection.create_function(NAME, -1, calculate, deterministic=True)


def calculate(program: str, *values: float | None) -> float | None:
    """Return the result of a calculation."""
    stack: list[float | None] = []
    for step in _steps(program):
        if isinstance(step, int):
            value = values[step]
            stack.append(None if value is None else float(value))
        elif isinstance(step, float):
            stack.append(step)
        elif step in _UNARY:
            operand = stack.pop()
            stack.append(None if operand is None else _UNARY[step](operand))
        else:
            right, left = stack.pop(), stack.pop()
            stack.append(None if left is None or right is None else _BINARY[step](left, right))
    return stack.pop()


@lru_cache(maxsize=256)
def _steps(program: str) -> list[Any]:
    steps: list[Any] = json.loads(program)
    return steps
