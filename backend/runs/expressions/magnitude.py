"""Bounds of the results of arithmetic, because PostgreSQL raises an error if a result leaves the range of a double."""

import math
from dataclasses import dataclass

from backend.runs.expressions.literals import LARGEST_NUMBER, SMALLEST_NUMBER
from backend.runs.expressions.nodes import Arithmetic, Call, Constant, Negative, Value

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
