"""The papers' networks: a body with heads for policy and value, or for action values, and their dead units."""

import time
from collections.abc import Iterator, Sequence
from typing import Protocol, cast

import torch
from torch import Tensor, nn

from arcadia_workers.contract.action_names import ActionSpace, Continuous, number_of_actions
from arcadia_workers.contract.config import ActionValueConfig, TrainingConfig
from arcadia_workers.trainer.networks.bodies import Body, build_body
from arcadia_workers.trainer.networks.gradients import initialized, write_linear
from arcadia_workers.trainer.networks.lstm import Lstm


class ActorCritic(nn.Module):
    """Policy π(a|s; θ) and value V(s; θ_v) with a shared body. Weights start uniform in ±1/√fan_in.

    The policy's numbers are logits for discrete actions; for continuous ones they are the means and, last, the
    variance before the softplus. `dtype` is the number format of the body; the heads always compute in float32.
    """

    cells: Sequence[Lstm] = ()

    def __init__(self, body: Body, actions: ActionSpace, dtype: torch.dtype = torch.float32) -> None:
        super().__init__()
        self.body = body.to(dtype)
        self.policy = nn.Linear(body.features, actions.size + 1 if isinstance(actions, Continuous) else actions.count)
        self.value = nn.Linear(body.features, 1)
        self.dtype = dtype

    def prepare(self, observations: Tensor, out: Tensor | None = None) -> Tensor:
        """Convert observations once to the format that the body reads, into `out` if it is given."""
        return self.body.prepare(observations, out)

    def forward(self, observations: Tensor) -> tuple[Tensor, Tensor]:
        """Return the policy's numbers (n, …) and values (n,) for prepared or raw observations."""
        return self.heads(self.body(self.prepare(observations)))

    @property
    def trunks(self) -> list[Body]:
        """The shared body of policy and value."""
        return [self.body]

    def state_values(self, states: Tensor) -> Tensor:
        """Return V(s) of each state."""
        values: Tensor = self(states)[1]
        return values

    def heads(self, features: Tensor) -> tuple[Tensor, Tensor]:
        """Return the policy's numbers and values for the body's features."""
        features = features.float()
        return self.policy(features), self.value(features).squeeze(-1)

    @torch.no_grad()
    def backward(self, features: Tensor, of_policy: Tensor, of_values: Tensor) -> Tensor:
        """Write the gradients of the heads, given those of their outputs, and return the gradient of the features."""
        of_values = of_values.unsqueeze(-1)
        write_linear(self.policy, of_policy, features.float())
        write_linear(self.value, of_values, features.float())
        of_features = torch.addmm(of_values @ self.value.weight, of_policy, self.policy.weight)
        return of_features.to(features.dtype)


class ActionValues(nn.Module):
    """Action values Q(s, a; θ), with the same bodies as `ActorCritic`."""

    cells: Sequence[Lstm] = ()

    def __init__(self, body: Body, num_actions: int, dtype: torch.dtype = torch.float32) -> None:
        super().__init__()
        self.body = body.to(dtype)
        self.values = nn.Linear(body.features, num_actions)
        self.dtype = dtype

    def prepare(self, observations: Tensor, out: Tensor | None = None) -> Tensor:
        """Convert observations once to the format that the body reads, into `out` if it is given."""
        return self.body.prepare(observations, out)

    def forward(self, observations: Tensor) -> Tensor:
        """Return action values (n, actions) for prepared or raw observations."""
        return self.head(self.body(self.prepare(observations)))

    @property
    def trunks(self) -> list[Body]:
        """The body."""
        return [self.body]

    def state_values(self, states: Tensor) -> Tensor:
        """Return max_a Q(s, a) of each state."""
        action_values: Tensor = self(states)
        return action_values.amax(dim=-1)

    def head(self, features: Tensor) -> Tensor:
        """Return the action values for the body's features."""
        return cast(Tensor, self.values(features.float()))


class DuelingValues(ActionValues):
    """Dueling action values, Q = V + A − mean A (Wang et al. 2016, equation 9). Each stream has half of the units."""

    def __init__(self, body: Body, num_actions: int, dtype: torch.dtype = torch.float32) -> None:
        super().__init__(body, num_actions, dtype)
        self._stream = body.features // 2
        self.values = nn.Linear(self._stream, 1)
        self.advantages = nn.Linear(body.features - self._stream, num_actions)

    def head(self, features: Tensor) -> Tensor:
        value = self.values(features[:, : self._stream].float())
        advantages = self.advantages(features[:, self._stream :].float())
        return cast(Tensor, value + advantages - advantages.mean(dim=-1, keepdim=True))


def build(
    config: TrainingConfig,
    observation_shape: tuple[int, ...],
    actions: ActionSpace,
    dtype: torch.dtype = torch.float32,
) -> ActorCritic:
    """Build the run's actor-critic with fresh weights."""
    return initialized(ActorCritic(build_body(config, observation_shape), actions, dtype), config)


def build_action_values(
    config: ActionValueConfig,
    observation_shape: tuple[int, ...],
    actions: ActionSpace,
    dtype: torch.dtype = torch.float32,
) -> ActionValues:
    """Build the run's action-value network with fresh weights."""
    body, count = build_body(config, observation_shape, config.streams), number_of_actions(actions)
    kind = DuelingValues if config.streams == 2 else ActionValues
    return initialized(kind(body, count, dtype), config)


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
    metrics = {f"network/dead_{layer}": share for layer, share in shares.items()}
    if network.cells:
        pairs = zip(network.cells, network.trunks, strict=True)
        metrics["network/dead_cells"] = max(_dead_cells(lstm, trunk, batches) for lstm, trunk in pairs)
    return {**metrics, "network/value_spread": values.std().item()}


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
