"""Student's t-intervals."""

import math
from collections.abc import Sequence
from functools import cache

import numpy as np

HIGH = 0.975


@cache
def student_quantile(probability: float, degrees: float) -> float:
    """Return a quantile of Student's t-distribution. With t = √ν tan θ, its density is cos^(ν-1) θ."""
    angles = np.linspace(-np.pi / 2, np.pi / 2, 40_001)
    density = np.maximum(np.cos(angles), 0.0) ** (degrees - 1)
    below = np.append(0.0, np.cumsum(density[1:] + density[:-1]))
    angle = np.interp(probability, below / below[-1], angles)
    return float(math.sqrt(degrees) * np.tan(angle))


def t_interval(values: Sequence[float]) -> tuple[float, float] | None:
    """Return the 95 % t-interval of a mean, or None for a single value (Student 1908)."""
    if len(values) < 2:
        return None
    mean = float(np.mean(values))
    half = student_quantile(HIGH, len(values) - 1) * float(np.std(values, ddof=1)) / math.sqrt(len(values))
    return mean - half, mean + half
