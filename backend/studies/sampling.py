"""Points drawn by Optuna; it is imported when it is first needed, since that takes half a second."""

from __future__ import annotations

from typing import TYPE_CHECKING

from backend.studies.points import Draw, in_kind, whole_numbered
from backend.studies.specification import Axis, Specification

if TYPE_CHECKING:
    from optuna.distributions import BaseDistribution


def random_draws(asked: Specification, seed: int, first: int, count: int) -> list[Draw]:
    """Random points from the `first` one on; those of a seed are always the same."""
    import optuna

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    space = {str(number): _distribution(asked, axis) for number, axis in enumerate(asked.axes)}
    sampler = optuna.samplers.RandomSampler(seed=seed % 2**32)
    study = optuna.create_study(sampler=sampler)
    drawn = [study.ask(space).params for _ in range(first + count)]
    return [[float(params[name]) for name in space] for params in drawn[first:]]


def _distribution(asked: Specification, axis: Axis) -> BaseDistribution:
    from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution

    if axis.values is not None:
        return CategoricalDistribution(range(len(axis.values)))
    low, high = axis.bounds
    if whole_numbered(asked, axis):
        ends = [int(in_kind(asked, axis, end)) for end in (low, high)]
        return IntDistribution(max(ends[0], 1) if axis.log else ends[0], ends[1], log=axis.log)
    return FloatDistribution(low, high, log=axis.log)
