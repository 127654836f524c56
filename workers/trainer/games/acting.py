"""Ways to choose actions from a network's output. Each episode has its own random numbers."""

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from workers.contract.protocols.acting import Acting
from workers.contract.spaces import ActionSpace, Continuous
from workers.trainer.errors import TrainerError
from workers.trainer.learning.exploration import EpsilonGreedy
from workers.trainer.learning.policies import policy_over
from workers.trainer.methods.trained_networks import Action, OutputKind, action_of

# Chooses an action from the numbers of one episode, a batch of one row.
Choose = Callable[[Tensor], Action]


class ActingError(TrainerError):
    """The agent cannot act in the requested way."""


def check(acting: Acting, output_kind: OutputKind, actions: ActionSpace) -> None:
    """Raise if the agent cannot act in this way. The error names a way that works."""
    if acting.name == "sampled" and output_kind == "values":
        raise ActingError("acting sampled needs a policy, but this method learns action values: use epsilon-greedy")
    if acting.name == "epsilon-greedy" and isinstance(actions, Continuous):
        raise ActingError("acting epsilon-greedy needs discrete actions, and these are continuous: use sampled")


def chooser(acting: Acting, actions: ActionSpace, seed: int, temperature: float = 1.0) -> Choose:
    """Return the function that chooses the actions of one episode. Only sampled actions have a temperature."""
    if acting.name == "random":
        return _uniform(actions, seed)
    if acting.name == "sampled":
        policy = policy_over(actions, torch.Generator().manual_seed(seed))
        return lambda numbers: action_of(policy.sample(numbers, temperature))
    if isinstance(actions, Continuous):
        return lambda numbers: action_of(numbers[:, : actions.size])  # the means; variances come last
    epsilons = np.array([acting.epsilon or 0.0])
    explore = EpsilonGreedy(epsilons, anneal_frames=0, seed=seed, device=torch.device("cpu"))

    def explored(numbers: Tensor) -> Action:
        explore.begin(steps=1, actions=numbers.shape[-1])
        return action_of(explore(numbers, slice(0, 1)))

    return explored


def _uniform(actions: ActionSpace, seed: int) -> Choose:
    random = np.random.default_rng(seed)
    if isinstance(actions, Continuous):
        return lambda _: random.uniform(actions.low, actions.high).astype(np.float32)
    return lambda _: int(random.integers(actions.count))
