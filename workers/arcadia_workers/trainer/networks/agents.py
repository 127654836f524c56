"""Agents with or without LSTM cells, with one or two trunks for policy and value (Mnih et al. 2016)."""

from collections.abc import Sequence
from typing import cast

import torch
from torch import Tensor, nn

from arcadia_workers.contract.action_names import ActionSpace, Continuous
from arcadia_workers.contract.config import AgentFields
from arcadia_workers.trainer.networks.bodies import Body, build_body
from arcadia_workers.trainer.networks.gradients import ALONE, SideBySide, initialized, write_linear
from arcadia_workers.trainer.networks.lstm import Cells, Lstm, LstmTape
from arcadia_workers.trainer.networks.outputs import Tape

Memory = tuple[Cells, ...]
"""The state of each LSTM; empty in a feed-forward agent."""


class GaussianHead(nn.Linear):
    """Means from the features, and a standard deviation for each action that does not depend on the state.

    The outputs are the means and then x with σ² = log(1 + eˣ), as the Gaussian policy reads them (Schulman et al. 2017,
    section 6.1).
    """

    def __init__(self, features: int, size: int) -> None:
        super().__init__(features, size)
        self.log_deviation = nn.Parameter(torch.zeros(size))

    def forward(self, features: Tensor) -> Tensor:
        means = super().forward(features)
        variance = (2 * self.log_deviation).exp()
        before_softplus = variance + torch.log(-torch.expm1(-variance))
        return torch.cat([means, before_softplus.expand_as(means)], dim=-1)


class Agent(nn.Module):
    """Policy π(a|s; θ) and value V(s; θ_v). Weights start uniform in ±1/√fan_in, as in the paper's code.

    The policy's numbers are logits for discrete actions; for continuous ones they are the means and, last, the
    variance before the softplus. `dtype` is the number format of the bodies; all later layers compute in float32.
    """

    def __init__(
        self, bodies: list[Body], lstm_units: int, actions: ActionSpace, dtype: torch.dtype = torch.float32
    ) -> None:
        super().__init__()
        features = lstm_units or bodies[0].features
        self.bodies = nn.ModuleList(bodies).to(dtype)
        self.lstms = nn.ModuleList(Lstm(body.features, lstm_units) for body in bodies if lstm_units)
        self.policy = nn.Linear(features, actions.size + 1 if isinstance(actions, Continuous) else actions.count)
        self.value = nn.Linear(features, 1)
        self.dtype = dtype

    def prepare(self, observations: Tensor, out: Tensor | None = None) -> Tensor:
        """Convert observations once to the format that the bodies read, into `out` if it is given."""
        return self.trunks[0].prepare(observations, out)

    def forward(self, observations: Tensor, memory: Memory) -> tuple[Tensor, Tensor, Memory]:
        """Return the policy's numbers (t, …), the values (t,) and the new memory after t successive observations."""
        states = self.prepare(observations)
        features = [body(states).float() for body in self.bodies]
        memories = []
        for i, (lstm, before) in enumerate(zip(self.lstms, memory, strict=True)):
            features[i], after = lstm(features[i], before)
            memories.append(after)
        return *self.heads(features), tuple(memories)

    @property
    def blank(self) -> Memory:
        """The memory at the start of an episode."""
        return tuple((lstm.bias.new_zeros(1, lstm.cells), lstm.bias.new_zeros(1, lstm.cells)) for lstm in self.cells)

    @property
    def trunks(self) -> list[Body]:
        """The bodies: one shared by policy and value, or one for each."""
        return [cast(Body, body) for body in self.bodies]

    @property
    def cells(self) -> Sequence[Lstm]:
        """The LSTM of each body; empty in a feed-forward agent."""
        return cast(Sequence[Lstm], self.lstms)

    def state_values(self, states: Tensor) -> Tensor:
        """Return V(s) of each state as if an episode began with it."""
        features = self.trunks[-1](states).float()
        if self.lstms:
            features = torch.cat([self.lstms[-1](row, self.blank[-1])[0] for row in features.split(1)])
        values: Tensor = self.value(features)
        return values.squeeze(-1)

    def step(self, observations: Tensor, memory: Memory) -> tuple[Tensor, Tensor, Memory]:
        """Return the policy's numbers (n, …), the values (n,) and the new memory after a step in n environments."""
        states = self.prepare(observations)
        features = [body(states).float() for body in self.bodies]
        after = tuple(lstm.step(x, before) for lstm, x, before in zip(self.cells, features, memory, strict=False))
        features = [h for h, _ in after] or features
        return *self.heads(features), after

    def heads(self, features: list[Tensor]) -> tuple[Tensor, Tensor]:
        """Return the policy's numbers from the first trunk and the values from the last. They may be the same trunk."""
        return self.policy(features[0]), self.value(features[-1]).squeeze(-1)


class AgentTape:
    """Tape of an agent's forward passes in a rollout, so that learning needs no second one."""

    def __init__(self, agent: Agent, rows: int) -> None:
        self._agent = agent
        self._bodies = [Tape(body, rows) for body in agent.trunks]
        self._lstms = [LstmTape(lstm) for lstm in agent.cells]
        # The heads read the last tape of each trunk.
        self._last: Sequence[Tape | LstmTape] = self._lstms or self._bodies
        self.rewind(agent.blank)

    @property
    def memory(self) -> Memory:
        """The agent's current memory."""
        return tuple(lstm.memory for lstm in self._lstms)

    def rewind(self, memory: Memory) -> None:
        """Clear the tape, because the weights have changed, and continue with this memory."""
        for body in self._bodies:
            body.rewind()
        for lstm, before in zip(self._lstms, memory, strict=True):
            lstm.rewind(before)

    @torch.no_grad()
    def act(self, state: Tensor) -> Tensor:
        """Return the policy's numbers for a state."""
        features = [body.act(state).float() for body in self._bodies]
        if self._lstms:
            features = [lstm.act(x) for lstm, x in zip(self._lstms, features, strict=True)]
        return self._agent.policy.forward(features[0])

    @torch.no_grad()
    def input_means(self, states: Tensor) -> list[Tensor]:
        """Return the mean of the inputs of each layer of the bodies, in their order, over all states."""
        return [mean for body in self._bodies for mean in body.input_means(states)]

    @torch.no_grad()
    def recall(self) -> tuple[Tensor, Tensor]:
        """Return the policy's numbers and the values for all states since the tape was rewound."""
        self._features = [tape.recall().float() for tape in self._last]  # what the heads read, for each trunk
        return self._agent.heads(self._features)

    @torch.no_grad()
    def backward(self, states: Tensor, of_numbers: Tensor, of_values: Tensor) -> None:
        """Write the gradients of all parameters, given those of the recalled numbers and values."""
        of_values = of_values.unsqueeze(-1)
        write_linear(self._agent.policy, of_numbers, self._features[0])
        write_linear(self._agent.value, of_values, self._features[-1])
        gradients = [of_numbers @ self._agent.policy.weight, of_values @ self._agent.value.weight]
        if len(self._bodies) == 1:
            gradients = [gradients[0] + gradients[1]]
        if self._lstms:
            gradients = [lstm.backward(gradient) for lstm, gradient in zip(self._lstms, gradients, strict=True)]
        for body, gradient in zip(self._bodies, gradients, strict=True):
            body.backward(states, gradient.to(self._agent.dtype))


class BatchTape:
    """Forward passes of an agent in many environments: step by step to act, and in minibatches to learn."""

    def __init__(self, agent: Agent, rows: int, side_by_side: SideBySide = ALONE) -> None:
        self._agent = agent
        self._tapes = [Tape(body, rows, side_by_side) for body in agent.trunks]

    @property
    def body(self) -> nn.Module:
        """All bodies of the agent."""
        return self._agent.bodies

    def rewind(self) -> None:
        """Clear the tapes, because the weights have changed."""
        for tape in self._tapes:
            tape.rewind()

    @torch.no_grad()
    def act(self, states: Tensor, rows: slice, memory: Memory) -> tuple[Tensor, Tensor, Memory]:
        """Return the policy's numbers, the values and the new memory after a step. Threads need different rows."""
        features = [tape.keep(states, rows).float() for tape in self._tapes]
        pairs = zip(self._agent.cells, features, memory, strict=False)
        after = tuple(lstm.step(x, before) for lstm, x, before in pairs)
        return *self._agent.heads([h for h, _ in after] or features), after

    def replay(self, states: Tensor, openings: Tensor, memory: Memory) -> tuple[Tensor, Tensor]:
        """Return the policy's numbers and the values for states, attached to autograd.

        With LSTM cells, the states are those of t successive steps in n environments, and `openings` (t, n) marks
        those that open an episode. Backpropagation stops at the first step.
        """
        features = [tape.replay(states).float() for tape in self._tapes]
        if self._agent.cells:
            features = [
                lstm.unroll(x.unflatten(0, openings.shape), before, openings).flatten(0, 1)
                for lstm, x, before in zip(self._agent.cells, features, memory, strict=True)
            ]
        return self._agent.heads(features)

    @torch.no_grad()
    def input_means(self, states: Tensor) -> list[Tensor]:
        """Return the mean of the inputs of each layer of the bodies, in their order, over all states."""
        return [mean for tape in self._tapes for mean in tape.input_means(states)]


def build(
    config: AgentFields, observation_shape: tuple[int, ...], actions: ActionSpace, dtype: torch.dtype = torch.float32
) -> Agent:
    """Build the run's agent with fresh weights."""
    trunks = 2 if config.separate_networks else 1
    bodies = [build_body(config, observation_shape) for _ in range(trunks)]
    return initialized(Agent(bodies, config.lstm_units, actions, dtype), config)
