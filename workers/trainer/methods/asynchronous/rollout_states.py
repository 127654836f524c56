"""Prepared states of an actor-learner's rollout."""

import torch
from torch import Tensor

from workers.trainer.environments.environments import Observations
from workers.trainer.networks.bodies import Prepare
from workers.trainer.networks.gradients import layout


class RolloutStates:
    """States of the current rollout, one row each, followed by the current state.

    Each rollout overwrites the states of the previous one.
    """

    def __init__(self, prepare: Prepare, observation: Observations, steps: int) -> None:
        self._prepare = prepare
        like = prepare(torch.from_numpy(observation))
        order = layout(like) if like.dim() == 4 else torch.contiguous_format
        self._rows = torch.empty((steps + 1, *like.shape[1:]), dtype=like.dtype, memory_format=order)
        self._acted = 0

    def begin(self, observation: Observations) -> None:
        """Begin a rollout with the current observation."""
        self._acted = 0
        self._show(observation)

    def move_on(self, observation: Observations) -> None:
        """Add the observation after a step."""
        self._acted += 1
        self._show(observation)

    @property
    def now(self) -> Tensor:
        """The current state."""
        return self._rows[self._acted : self._acted + 1]

    @property
    def acted_in(self) -> Tensor:
        """The states in which the agent has acted."""
        return self._rows[: self._acted]

    @property
    def all(self) -> Tensor:
        """The states in which the agent has acted, and the current one."""
        return self._rows[: self._acted + 1]

    def _show(self, observation: Observations) -> None:
        self._prepare(torch.from_numpy(observation), self.now)
