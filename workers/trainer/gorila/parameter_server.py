"""The parameter server: θ⁺ in disjoint shards, each updated by itself (Nair et al. 2015, sections 4 and 4.2)."""

import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from workers.trainer.config import GorilaConfig
from workers.trainer.optimizers import AdaGrad, CentredRMSProp, FlatParameters, MomentumSGD, RMSProp

Floats = NDArray[np.float32]


@dataclass(frozen=True)
class Part:
    """A shard's parameters after so many updates; None for who has those already."""

    values: Floats | None
    updates: int


@dataclass
class Tally:
    """What a shard did with the gradients that it got; staleness is in updates."""

    applied: int = 0
    discarded: int = 0
    staleness: Counter[int] = field(default_factory=Counter)
    busy_seconds: float = 0.0

    def __add__(self, other: "Tally") -> "Tally":
        return Tally(
            self.applied + other.applied,
            self.discarded + other.discarded,
            self.staleness + other.staleness,
            self.busy_seconds + other.busy_seconds,
        )


@dataclass(frozen=True)
class ShardState:
    """All that a shard needs to go on elsewhere."""

    values: Floats
    # The optimizer's; one number for each parameter, or several in rows.
    statistics: Floats
    # θ⁻ as it was after the last multiple of N updates.
    target: Floats
    updates: int


class ParameterShard:
    """A disjoint part of θ⁺, which applies gradients as they come; it also keeps its part of θ⁻ for all learners."""

    def __init__(self, config: GorilaConfig, state: ShardState) -> None:
        self._config = config
        # The state may have come through memory that others read: the shard's own is a copy.
        self._parameters = FlatParameters(nn.ParameterList([torch.from_numpy(state.values.copy())]))
        self._gradients = self._parameters.gradients.numpy()
        self._statistics = torch.from_numpy(state.statistics.copy())
        self._optimizer = _optimizer(config, self._parameters, self._statistics)
        self._target = state.target.copy()
        self._tally = Tally()
        self.updates = state.updates

    def pull(self, known: int) -> Part:
        """θ⁺, unless it is what the caller has."""
        return Part(None if known == self.updates else self._values, self.updates)

    def push(self, gradients: Floats, of_updates: int, learning_rate: float) -> None:
        """Apply gradients that were computed with θ⁺ as it was after `of_updates`, unless that is too long ago."""
        began = time.perf_counter()
        # A shard that was restored may have gone back behind what a learner saw.
        staleness = max(0, self.updates - of_updates)
        self._tally.staleness[staleness] += 1
        if staleness > self._config.max_staleness:
            self._tally.discarded += 1
            return
        self._gradients[:] = gradients
        self._optimizer.step(learning_rate)
        self.updates += 1
        self._tally.applied += 1
        if self.updates % self._config.target_update_interval == 0:
            self._target = self._values
        self._tally.busy_seconds += time.perf_counter() - began

    def target(self) -> Floats:
        """θ⁻."""
        return self._target

    def state(self) -> ShardState:
        """A copy of all that the next update depends on."""
        return ShardState(self._values, self._statistics.numpy().copy(), self._target, self.updates)

    def take_tally(self) -> Tally:
        """What was done since the last time."""
        tally, self._tally = self._tally, Tally()
        return tally

    @property
    def _values(self) -> Floats:
        return self._parameters.values.numpy().copy()


def _optimizer(
    config: GorilaConfig, parameters: FlatParameters, statistics: torch.Tensor
) -> AdaGrad | RMSProp | CentredRMSProp | MomentumSGD:
    if config.optimizer == "adagrad":
        return AdaGrad(parameters, config.adagrad_epsilon, statistics)
    if config.optimizer == "rmsprop":
        return RMSProp(parameters, config.rmsprop_decay, config.rmsprop_epsilon, statistics)
    if config.optimizer == "centred_rmsprop":
        return CentredRMSProp(parameters, config.rmsprop_decay, config.rmsprop_epsilon, statistics)
    return MomentumSGD(parameters, 0.0, statistics)


def first_statistics(config: GorilaConfig, values: Floats) -> Floats:
    """The optimizer's statistics before the first update."""
    beginnings = {
        "adagrad": AdaGrad.beginning,
        "rmsprop": RMSProp.beginning,
        "centred_rmsprop": CentredRMSProp.beginning,
        "sgd": MomentumSGD.beginning,
    }
    first: Floats = beginnings[config.optimizer](torch.from_numpy(values)).numpy()
    return first


def shares(size: int, shards: int) -> list[slice]:
    """Split a vector into disjoint parts that differ by one number at most."""
    borders = [size * shard // shards for shard in range(shards + 1)]
    return [slice(*pair) for pair in pairwise(borders)]


def split(whole: ShardState, shards: int) -> list[ShardState]:
    """What each shard begins with."""
    return [
        ShardState(whole.values[part], whole.statistics[..., part], whole.target[part], whole.updates)
        for part in shares(len(whole.values), shards)
    ]


def joined(states: Sequence[ShardState]) -> ShardState:
    """The whole vector again, after as many updates as every shard has seen."""
    return ShardState(
        np.concatenate([state.values for state in states]),
        np.concatenate([state.statistics for state in states], axis=-1),
        np.concatenate([state.target for state in states]),
        min(state.updates for state in states),
    )


def restored(state: ShardState, updates: int, interval: int) -> ShardState:
    """Let a lost shard go on from its backup without going back: others have seen it after so many updates."""
    updates = max(updates, state.updates)
    passed = updates // interval > state.updates // interval
    return ShardState(state.values, state.statistics, state.values if passed else state.target, updates)


Coming = Callable[[], list[Part]]
"""Parameters on their way: a call waits for them."""


class ParameterServer(Protocol):
    """What actors and learners see of all shards together."""

    def ask(self, known: Sequence[int]) -> Coming:
        """Ask for every shard's parameters, but of those that the caller has after so many updates."""
        ...

    def push(self, gradients: Floats, of_updates: Sequence[int], learning_rate: float) -> None:
        """Send each shard its part of the gradients."""
        ...

    def target(self) -> list[Floats]:
        """θ⁻ of every shard."""
        ...
