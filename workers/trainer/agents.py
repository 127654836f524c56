"""A3C's agents: feed-forward or with LSTM cells, policy and value on one trunk or on two (Mnih et al. 2016)."""

from typing import cast

import torch
from torch import Tensor, nn

from workers.trainer.bodies import Body, build_body, prepared
from workers.trainer.config import A3cConfig
from workers.trainer.initialisation import initialised
from workers.trainer.spaces import ActionSpace, Continuous

Memory = tuple[tuple[Tensor, Tensor], ...]
"""(h, c) of each LSTM, each (1, 1, cells); nothing in a feed-forward agent."""


class Agent(nn.Module):
    """π(a|s; θ) and V(s; θ_v); weights start uniform in ±1/√fan_in, as in the paper's code.

    The policy's numbers are the logits of the actions; where actions are continuous, their means and, last, the
    variance before the softplus. `dtype` is the number format of the bodies; all after them computes in float32.
    """

    def __init__(
        self, bodies: list[Body], lstm_units: int, actions: ActionSpace, dtype: torch.dtype = torch.float32
    ) -> None:
        super().__init__()
        features = lstm_units or bodies[0].features
        self.bodies = nn.ModuleList(bodies).to(dtype)
        self.lstms = nn.ModuleList(nn.LSTM(body.features, lstm_units) for body in bodies if lstm_units)
        self.policy = nn.Linear(features, actions.size + 1 if isinstance(actions, Continuous) else actions.count)
        self.value = nn.Linear(features, 1)
        self.dtype = dtype
        blank = torch.zeros(1, 1, lstm_units)
        self.blank: Memory = tuple((blank, blank) for _ in self.lstms)

    def prepare(self, observations: Tensor) -> Tensor:
        """Convert observations once to the format that the bodies read."""
        return prepared(observations, self.dtype)

    def forward(self, observations: Tensor, memory: Memory) -> tuple[Tensor, Tensor, Memory]:
        """The policy's numbers (t, …) and values (t,) of an episode's successive observations, and the new memory."""
        states = self.prepare(observations)
        features = [body(states).float() for body in self.bodies]
        memories = []
        for i, (lstm, before) in enumerate(zip(self.lstms, memory, strict=True)):
            recurrent, after = lstm(features[i].unsqueeze(1), before)
            features[i] = recurrent.squeeze(1)
            memories.append(cast(tuple[Tensor, Tensor], after))
        # The first trunk is the policy's, the last is the value's: where there is one, they share it.
        return self.policy(features[0]), self.value(features[-1]).squeeze(-1), tuple(memories)


def build(
    config: A3cConfig, observation_shape: tuple[int, ...], actions: ActionSpace, dtype: torch.dtype = torch.float32
) -> Agent:
    """Make the run's agent with fresh weights."""
    trunks = 2 if config.separate_networks else 1
    bodies = [build_body(config, observation_shape) for _ in range(trunks)]
    return initialised(Agent(bodies, config.lstm_units, actions, dtype), config)
