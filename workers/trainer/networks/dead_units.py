"""Measurement of how well a network distinguishes states: dead units, and the spread of values over states.

A rectifier that is 0 on every state passes no gradient back, so no update revives it. The same is true of an LSTM
cell whose gates are saturated on every state. When all units of a layer are dead, the network has the same output for
every state.
"""

import time
from collections.abc import Iterator, Sequence
from typing import Protocol

import torch
from torch import Tensor

from workers.trainer.networks.bodies import Body
from workers.trainer.networks.lstm import Lstm

# The number of states that decide whether a unit is dead, and the number per forward pass.
STATES, AT_ONCE = 256, 32
# Sample one of every ONE_OF states, and at most MOST_OF_A_BATCH states of each batch.
ONE_OF, MOST_OF_A_BATCH = 20, 8
# A cell is dead if its sensitivity is below this in every state. The sensitivity of a fresh cell is 0.25.
MOVES = 0.01
# One pass over the states takes 10 to 60 ms.
PERIOD_SECONDS = 10.0


class Measurable(Protocol):
    """Network with rectifiers that estimates the values of states."""

    @property
    def trunks(self) -> list[Body]:
        """The network's bodies."""
        ...

    @property
    def cells(self) -> Sequence[Lstm]:
        """The LSTM cells that read each body, if it has any."""
        ...

    def prepare(self, observations: Tensor) -> Tensor:
        """Convert observations to the input format of the bodies."""
        ...

    def state_values(self, states: Tensor) -> Tensor:
        """Return V(s), or the highest Q(s, a), of each prepared state."""
        ...


class StateSample:
    """Sample of a method's latest states, a few from each batch."""

    def __init__(self, like: Tensor, rows: int = STATES) -> None:
        self._rows = torch.zeros(rows, *like.shape[1:], dtype=like.dtype, device=like.device)
        self._seen = 0

    def add(self, states: Tensor) -> None:
        """Replace the oldest states by a few states spread over a batch."""
        number = min(MOST_OF_A_BATCH, -(-len(states) // ONE_OF))
        # In a batch of several environments' steps, the steps of one environment are an even number of rows apart.
        chosen = states[:: len(states) // number | 1]
        first = self._seen % len(self._rows)
        chosen = chosen[: len(self._rows) - first]
        self._rows[first : first + len(chosen)] = chosen
        self._seen += len(chosen)

    @property
    def states(self) -> Tensor | None:
        """The states, or None before there are enough."""
        return self._rows if self._seen >= len(self._rows) else None


class NetworkWatch:
    """Regular measurement of a network on a sample of its method's states."""

    def __init__(self, network: Measurable) -> None:
        self._network = network
        self._sample: StateSample | None = None
        self._next = 0.0

    def see(self, states: Tensor) -> None:
        """Sample some of these states. They must always be prepared, or never."""
        if self._sample is None:
            self._sample = StateSample(states)
        self._sample.add(states)

    def metrics(self) -> dict[str, float]:
        """Return the metrics of the network, or nothing if it is too early or there are too few states."""
        states = self._sample.states if self._sample else None
        if states is None or time.monotonic() < self._next:
            return {}
        self._next = time.monotonic() + PERIOD_SECONDS
        return measured(self._network, states)


@torch.no_grad()
def measured(network: Measurable, states: Tensor) -> dict[str, float]:
    """Return the share of dead units in each layer that can die, and the standard deviation of the states' values."""
    device = next(network.trunks[0].parameters()).device
    batches = [network.prepare(batch.to(device)) for batch in states.split(AT_ONCE)]
    values = torch.cat([network.state_values(batch) for batch in batches])
    # With two trunks, the one with more dead units counts.
    shares: dict[str, float] = {}
    for trunk in network.trunks:
        for layer, share in _dead(trunk, batches):
            shares[layer] = max(share, shares.get(layer, 0.0))
    found = {f"network/dead_{layer}": share for layer, share in shares.items()}
    if network.cells:
        pairs = zip(network.cells, network.trunks, strict=True)
        found["network/dead_cells"] = max(_dead_cells(lstm, trunk, batches) for lstm, trunk in pairs)
    return {**found, "network/value_spread": values.std().item()}


def _dead(trunk: Body, batches: list[Tensor]) -> Iterator[tuple[str, float]]:
    """Return each layer's share of units that are 0 on every state. A filter is one unit."""
    alive: dict[str, Tensor] = {}
    for batch in batches:
        for layer, outputs in trunk.rectified(batch).items():
            active = (outputs > 0).transpose(0, 1).flatten(1).any(1)
            alive[layer] = active | alive[layer] if layer in alive else active
    for layer, active in alive.items():
        yield layer, 1 - active.float().mean().item()


def _dead_cells(lstm: Lstm, trunk: Body, batches: list[Tensor]) -> float:
    """Return the share of cells that respond to no state."""
    most = torch.cat([lstm.sensitivity(trunk(batch).float()) for batch in batches]).amax(0)
    return (most < MOVES).float().mean().item()
