"""Intervals and tests that pages, reports and alerts base their statements on."""

import math
from collections.abc import Hashable, Sequence
from functools import cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

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


class MeanError(NamedTuple):
    """The standard error of a mean, and its 95 % interval."""

    standard_error: float
    interval: tuple[float, float]


def clustered_mean_error(values: Sequence[float], clusters: Sequence[Hashable]) -> MeanError | None:
    """Return the error of a mean whose values are equal or related inside clusters, or None for a single cluster.

    The variance is that of the sums of clusters around the mean (Cameron, Miller 2015, section II), with Student's t
    for the number of clusters. If each value is a cluster, this is the usual interval.
    """
    names = list(dict.fromkeys(clusters))
    if len(names) < 2:
        return None
    of = np.asarray(values, dtype=np.float64)
    mean = float(of.mean())
    places = {name: place for place, name in enumerate(names)}
    sums = np.bincount([places[cluster] for cluster in clusters], of - mean, len(names))
    error = math.sqrt(len(names) / (len(names) - 1) * float((sums**2).sum())) / len(of)
    half = student_quantile(HIGH, len(names) - 1) * error
    return MeanError(error, (mean - half, mean + half))


def rank_sum_z(higher: Floats, lower: Floats) -> float:
    """Return by how many standard deviations the values of one sample rank above those of another (Mann, Whitney 1947).

    Only ranks count, so one lucky value proves nothing.
    """
    one, other = len(higher), len(lower)
    larger = (higher[:, np.newaxis] > lower).sum() + (higher[:, np.newaxis] == lower).sum() / 2
    return float((larger - one * other / 2) / math.sqrt(one * other * (one + other + 1) / 12))


def rank_correlation(parts: Sequence[Floats]) -> float:
    """Return the correlation of successive ranks inside parts of a series, which have the same length.

    It is at least 0, because only a positive one makes a mean less certain than independent values would.
    """
    ranks = np.array([np.argsort(np.argsort(part, kind="stable")) for part in parts], dtype=np.float64)
    ranks -= ranks.mean(axis=1, keepdims=True)
    length = ranks.shape[1]
    found = (ranks[:, 1:] * ranks[:, :-1]).sum() / (ranks**2).sum() * length / (length - 1)
    return min(0.99, max(0.0, float(found)))
