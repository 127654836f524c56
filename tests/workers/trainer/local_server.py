"""A parameter server whose shards are in this process."""

from collections.abc import Sequence

import numpy as np
import torch

from arcadia_workers.contract.config import GorilaConfig
from arcadia_workers.trainer.learning.optimizers import FlatParameters
from arcadia_workers.trainer.methods.gorila.parameter_server import (
    Floats,
    ParameterShard,
    Pending,
    ShardState,
    first_statistics,
    joined,
    slices,
    split,
)
from arcadia_workers.trainer.networks.networks import ActionValues


class LocalServer:
    """A parameter server that calls its shards directly. In a run, the calls go through Ray."""

    def __init__(self, shards: Sequence[ParameterShard]) -> None:
        self._shards = shards

    def ask(self, known: Sequence[int]) -> Pending:
        found = [shard.pull(updates) for shard, updates in zip(self._shards, known, strict=True)]
        return lambda: found

    def push(self, gradients: Floats, of_updates: Sequence[int], learning_rate: float) -> None:
        for shard, within, updates in zip(
            self._shards, slices(len(gradients), len(self._shards)), of_updates, strict=True
        ):
            shard.push(gradients[within], updates, learning_rate)

    def target(self) -> list[Floats]:
        return [shard.target() for shard in self._shards]

    @property
    def state(self) -> ShardState:
        """Return the state of all shards together."""
        return joined([shard.state() for shard in self._shards])


def server_of(config: GorilaConfig, values: Floats | torch.Tensor) -> LocalServer:
    """Return a new server with these parameters."""
    first = np.asarray(values, dtype=np.float32)
    whole = ShardState(first, first_statistics(config, first), first, 0)
    return LocalServer([ParameterShard(config, state) for state in split(whole, config.num_shards)])


def server_for(config: GorilaConfig, network: ActionValues) -> LocalServer:
    """Return a new server with a network's weights."""
    return server_of(config, FlatParameters(network).values.numpy().copy())
