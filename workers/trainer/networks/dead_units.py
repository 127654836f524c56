"""Measures whether a network still tells states apart: its dead units, and the spread of its values over states.

A rectifier that is 0 on every state passes no gradient back, so no update brings it to life again. Nor does an LSTM
cell whose gates are saturated on every state. When all units of a layer are dead, the network computes the same for
every state.
"""

import time
from collections.abc import Iterator, Sequence
from typing import Protocol

import torch
from torch import Tensor

from workers.trainer.networks.bodies import Body
from workers.trainer.networks.lstm import Lstm

# How many states decide whether a unit is dead, and how many of them pass through the network at once.
STATES, AT_ONCE = 256, 32
# Of so many states that a method shows one is kept, and at most so many of each batch.
ONE_OF, MOST_OF_A_BATCH = 20, 8
# A cell is dead if its output moves less than this with its inputs in every state; of a fresh cell it is a quarter.
MOVES = 0.01
# One pass over the states takes 10 to 60 ms.
PERIOD_SECONDS = 10.0


class Measurable(Protocol):
    """A network with rectifiers that estimates the values of states."""

    @property
    def trunks(self) -> list[Body]:
        """Its bodies."""
        ...

    @property
    def cells(self) -> Sequence[Lstm]:
        """The LSTM cells that read each body, if it has any."""
        ...

    def prepare(self, observations: Tensor) -> Tensor:
        """Convert observations to the format that the bodies read."""
        ...

    def state_values(self, states: Tensor) -> Tensor:
        """Return V(s), or the highest Q(s, a), of each prepared state."""
        ...


class StateSample:
    """The latest of the states that a method has shown, a few of each batch."""

    def __init__(self, like: Tensor, rows: int = STATES) -> None:
        self._rows = torch.zeros(rows, *like.shape[1:], dtype=like.dtype, device=like.device)
        self._seen = 0

    def add(self, states: Tensor) -> None:
        """Keep a few states of a batch, spread over it, in place of the oldest."""
        number = min(MOST_OF_A_BATCH, -(-len(states) // ONE_OF))
        # In a batch of several environments' steps, those of one are an even number of rows apart.
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
    """Measures a network now and then on the states that its method has shown."""

    def __init__(self, network: Measurable) -> None:
        self._network = network
        self._sample: StateSample | None = None
        self._next = 0.0

    def see(self, states: Tensor) -> None:
        """Keep some of these states, prepared or not, but each time the same."""
        if self._sample is None:
            self._sample = StateSample(states)
        self._sample.add(states)

    def metrics(self) -> dict[str, float]:
        """Return the metrics of the network if it is time for them and enough states were seen."""
        states = self._sample.states if self._sample else None
        if states is None or time.monotonic() < self._next:
            return {}
        self._next = time.monotonic() + PERIOD_SECONDS
        return measured(self._network, states)


@torch.no_grad()
def measured(network: Measurable, states: Tensor) -> dict[str, float]:
    """Return the share of dead units in each layer that can die, and the standard deviation of the states' values."""
    batches = [network.prepare(batch) for batch in states.split(AT_ONCE)]
    values = torch.cat([network.state_values(batch) for batch in batches])
    # Of two trunks, the one with more dead units counts.
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
    """Return the layers with the share of units that are 0 on every state; a filter is one unit at all its places."""
    alive: dict[str, Tensor] = {}
    for batch in batches:
        for layer, outputs in trunk.rectified(batch).items():
            active = (outputs > 0).transpose(0, 1).flatten(1).any(1)
            alive[layer] = active | alive[layer] if layer in alive else active
    for layer, active in alive.items():
        yield layer, 1 - active.float().mean().item()


def _dead_cells(lstm: Lstm, trunk: Body, batches: list[Tensor]) -> float:
    """Return the share of cells that no state moves."""
    most = torch.cat([lstm.sensitivity(trunk(batch).float()) for batch in batches]).amax(0)
    return (most < MOVES).float().mean().item()
