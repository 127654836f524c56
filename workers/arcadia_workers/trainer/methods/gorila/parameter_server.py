"""Parameter server and the replicas of its network (Nair et al. 2015, sections 4 and 4.2).

The server holds θ⁺ in disjoint shards; each shard applies gradients independently of the others.
"""

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

from arcadia_workers.contract.config import GorilaConfig
from arcadia_workers.trainer.learning.optimizers import AdaGrad, CenteredRMSProp, FlatParameters, MomentumSGD, RMSProp
from arcadia_workers.trainer.networks.networks import ActionValues

Floats = NDArray[np.float32]


@dataclass(frozen=True)
class ShardParameters:
    """Parameters of a shard after a number of updates."""

    # None if the caller has them already.
    values: Floats | None
    updates: int


@dataclass
class ShardTally:
    """Counts of the gradients that a shard received. Staleness is measured in updates."""

    applied: int = 0
    discarded: int = 0
    staleness: Counter[int] = field(default_factory=Counter)
    busy_seconds: float = 0.0

    def __add__(self, other: "ShardTally") -> "ShardTally":
        return ShardTally(
            self.applied + other.applied,
            self.discarded + other.discarded,
            self.staleness + other.staleness,
            self.busy_seconds + other.busy_seconds,
        )


@dataclass(frozen=True)
class ShardState:
    """State that a shard needs to continue in another process."""

    values: Floats
    # The optimizer keeps one number for each parameter, or several, in rows.
    statistics: Floats
    # θ⁻: θ⁺ after the last multiple of N updates.
    target: Floats
    updates: int


class ParameterShard:
    """One slice of θ⁺, to which gradients are applied, and the same slice of θ⁻ for all learners."""

    def __init__(self, config: GorilaConfig, state: ShardState) -> None:
        self._config = config
        # Ray may share the state's arrays with other processes, so the shard works on copies.
        self._parameters = FlatParameters(nn.ParameterList([torch.from_numpy(state.values.copy())]))
        self._gradients = self._parameters.gradients.numpy()
        self._statistics = torch.from_numpy(state.statistics.copy())
        self._optimizer = _optimizer(config, self._parameters, self._statistics)
        self._target = state.target.copy()
        self._tally = ShardTally()
        self.updates = state.updates

    def pull(self, known: int) -> ShardParameters:
        """Return θ⁺, without its values if the caller has them already."""
        return ShardParameters(None if known == self.updates else self._values, self.updates)

    def push(self, gradients: Floats, of_updates: int, learning_rate: float) -> None:
        """Apply gradients computed from θ⁺ after `of_updates` updates, or discard them if they are too old."""
        began = time.perf_counter()
        # A restored shard may have made fewer updates than a learner has seen.
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
        """Return θ⁻."""
        return self._target

    def state(self) -> ShardState:
        """Copy everything the next update depends on."""
        return ShardState(self._values, self._statistics.numpy().copy(), self._target, self.updates)

    def take_tally(self) -> ShardTally:
        """Return the counts since the last call."""
        tally, self._tally = self._tally, ShardTally()
        return tally

    @property
    def _values(self) -> Floats:
        return self._parameters.values.numpy().copy()


def _optimizer(
    config: GorilaConfig, parameters: FlatParameters, statistics: torch.Tensor
) -> AdaGrad | RMSProp | CenteredRMSProp | MomentumSGD:
    if config.optimizer == "adagrad":
        return AdaGrad(parameters, config.adagrad_epsilon, statistics)
    if config.optimizer == "rmsprop":
        return RMSProp(parameters, config.rmsprop_decay, config.rmsprop_epsilon, statistics)
    if config.optimizer == "centered_rmsprop":
        return CenteredRMSProp(parameters, config.rmsprop_decay, config.rmsprop_epsilon, statistics)
    return MomentumSGD(parameters, 0.0, statistics)


def first_statistics(config: GorilaConfig, values: Floats) -> Floats:
    """Return the optimizer's statistics before the first update."""
    beginnings = {
        "adagrad": AdaGrad.beginning,
        "rmsprop": RMSProp.beginning,
        "centered_rmsprop": CenteredRMSProp.beginning,
        "sgd": MomentumSGD.beginning,
    }
    first: Floats = beginnings[config.optimizer](torch.from_numpy(values)).numpy()
    return first


def slices(size: int, shards: int) -> list[slice]:
    """Return disjoint slices of a vector whose lengths differ by at most one."""
    borders = [size * shard // shards for shard in range(shards + 1)]
    return [slice(*pair) for pair in pairwise(borders)]


def split(whole: ShardState, shards: int) -> list[ShardState]:
    """Divide the whole state among the shards."""
    return [
        ShardState(whole.values[within], whole.statistics[..., within], whole.target[within], whole.updates)
        for within in slices(len(whole.values), shards)
    ]


def joined(states: Sequence[ShardState]) -> ShardState:
    """Join the shards' states. The updates are those that every shard has made."""
    return ShardState(
        np.concatenate([state.values for state in states]),
        np.concatenate([state.statistics for state in states], axis=-1),
        np.concatenate([state.target for state in states]),
        min(state.updates for state in states),
    )


def restored(state: ShardState, updates: int, interval: int) -> ShardState:
    """Return a lost shard's backup with the number of updates that others have seen."""
    updates = max(updates, state.updates)
    passed = updates // interval > state.updates // interval
    return ShardState(state.values, state.statistics, state.values if passed else state.target, updates)


Pending = Callable[[], list[ShardParameters]]
"""Requested parameters. Calling it waits for them."""


class ParameterServer(Protocol):
    """All shards, from the actors' and learners' side."""

    def ask(self, known: Sequence[int]) -> Pending:
        """Request the parameters of every shard. `known` are the updates after which the caller has them."""
        ...

    def push(self, gradients: Floats, of_updates: Sequence[int], learning_rate: float) -> None:
        """Send each shard its slice of the gradients."""
        ...

    def target(self) -> list[Floats]:
        """Return θ⁻ of every shard."""
        ...


class Replica:
    """Network Q(s, a; θ) of an actor, a learner or a bundle, whose θ follows θ⁺."""

    def __init__(self, network: ActionValues, shards: int) -> None:
        self.network = network
        self.parameters = FlatParameters(network)
        self._slices = slices(len(self.parameters.values), shards)
        # The number of updates of each shard when θ was copied from θ⁺, or -1 before the first copy.
        self.versions = [-1] * shards
        self.updates = 0
        self._pending: Pending | None = None

    def ask(self, server: ParameterServer) -> None:
        """Request θ⁺ without waiting. The next `update` takes the answer."""
        self._pending = server.ask(self.versions)

    def update(self, server: ParameterServer) -> int:
        """Update θ from parameters θ⁺ of the parameter server. Return the number of received bytes."""
        pending, self._pending = self._pending or server.ask(self.versions), None
        received = 0
        for shard, parameters in enumerate(pending()):
            self.versions[shard] = parameters.updates
            if parameters.values is not None:
                self.parameters.values.numpy()[self._slices[shard]] = parameters.values
                received += parameters.values.nbytes
        if received:
            self.parameters.changed()
        # The global updates are those that every shard has made. A restored shard does not lower them.
        self.updates = max(self.updates, min(self.versions))
        return received
