"""A function of SQLite that calculates numbers as PostgreSQL does.

SQLite's parser allows few nested functions, so a calculation is a program of steps in one call.
"""

import json
import math
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
