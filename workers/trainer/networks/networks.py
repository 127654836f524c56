"""The papers' networks: a body with heads for policy and value, or for action values."""

from collections.abc import Sequence
from typing import cast

import torch
from torch import Tensor, nn

from workers.contract.config import ActionValueConfig, TrainingConfig
from workers.contract.spaces import ActionSpace, Continuous, number_of_actions
from workers.trainer.networks.bodies import Body, build_body
from workers.trainer.networks.gradients import write_linear
from workers.trainer.networks.initialization import initialized
from workers.trainer.networks.lstm import Lstm


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
