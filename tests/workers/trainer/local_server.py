"""A parameter server whose shards are in this process."""

from collections.abc import Sequence

import numpy as np
import torch

from workers.trainer.config import GorilaConfig
from workers.trainer.gorila.parameter_server import (
    Coming,
    Floats,
    ParameterShard,
    ShardState,
    first_statistics,
    joined,
    shares,
    split,
)
from workers.trainer.networks import ActionValues
from workers.trainer.optimizers import FlatParameters


class LocalServer:
    """What Ray does over the network, done by calls."""

    def __init__(self, shards: Sequence[ParameterShard]) -> None:
        self._shards = shards

    def ask(self, known: Sequence[int]) -> Coming:
        parts = [shard.pull(updates) for shard, updates in zip(self._shards, known, strict=True)]
        return lambda: parts

    def push(self, gradients: Floats, of_updates: Sequence[int], learning_rate: float) -> None:
        parts = shares(len(gradients), len(self._shards))
        for shard, part, updates in zip(self._shards, parts, of_updates, strict=True):
            shard.push(gradients[part], updates, learning_rate)

    def target(self) -> list[Floats]:
        return [shard.target() for shard in self._shards]

    @property
    def state(self) -> ShardState:
        """All shards together."""
        return joined([shard.state() for shard in self._shards])


def server_of(config: GorilaConfig, values: Floats | torch.Tensor) -> LocalServer:
    """A fresh server of these first parameters."""
    first = np.asarray(values, dtype=np.float32)
    whole = ShardState(first, first_statistics(config, first), first, 0)
    return LocalServer([ParameterShard(config, state) for state in split(whole, config.num_shards)])


def server_for(config: GorilaConfig, network: ActionValues) -> LocalServer:
    """A fresh server of a network's weights."""
    return server_of(config, FlatParameters(network).values.numpy().copy())
