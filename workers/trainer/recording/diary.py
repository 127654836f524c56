"""Columns of a track, with one row per decision."""

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import DTypeLike, NDArray
from torch import Tensor
from torch.nn.functional import softplus

from workers.contract.archives import Column
from workers.contract.spaces import ActionSpace, Continuous
from workers.contract.tracks import Numbers, TrackHead
from workers.trainer.environments.environments import Observations
from workers.trainer.methods.trained_networks import Action, NetworkOutput, OutputKind

TYPES: dict[str, DTypeLike] = {
    "picture": np.int32,
    "numbers": np.float32,
    "value": np.float32,
    "score": np.float64,
    "lives": np.int16,
    "observation": np.float32,
    "reward": np.float64,
    "life_lost": np.bool_,
}


def kind_of_numbers(output_kind: OutputKind, actions: ActionSpace) -> Numbers:
    """Return the kind of a network's numbers."""
    return "gaussian" if isinstance(actions, Continuous) else output_kind


def displayed_numbers(numbers: Tensor, output_kind: OutputKind, actions: ActionSpace) -> Tensor:
    """Convert a network's numbers for display: logits to probabilities, x to σ²."""
    if isinstance(actions, Continuous):
        return torch.cat([numbers[..., : actions.size], softplus(numbers[..., actions.size :])], dim=-1)
    return torch.softmax(numbers, dim=-1) if output_kind == "policy" else numbers


def discounted(rewards: Sequence[float], ends: Sequence[bool], gamma: float, after: float) -> NDArray[np.float64]:
    """Return Gₜ = rₜ + γ Gₜ₊₁ of each decision, starting from `after` and from 0 after an end."""
    returns = np.zeros(len(rewards))
    following = after
    for t in reversed(range(len(rewards))):
        returns[t] = following = rewards[t] + gamma * (0.0 if ends[t] else following)
    return returns


class Diary:
    """The rows of an episode so far."""

    def __init__(self, output_kind: OutputKind, actions: ActionSpace, *, keeps_observations: bool) -> None:
        self._output_kind, self._actions, self._keeps_observations = output_kind, actions, keeps_observations
        self._rows: list[dict[str, object]] = []

    @property
    def empty(self) -> bool:
        """True if there is no decision yet."""
        return not self._rows

    def decide(self, picture: int, output: NetworkOutput, score: float, lives: int, observation: Observations) -> None:
        """Add what the agent sees and the network's output before it acts."""
        row: dict[str, object] = {
            "picture": picture,
            "numbers": displayed_numbers(output.numbers[0], self._output_kind, self._actions).numpy(),
            "value": float(output.values[0]),
            "score": score,
            "lives": lives,
        }
        if self._keeps_observations:
            row["observation"] = observation.copy()
        self._rows.append(row)

    def act(self, action: Action, reward: float, *, life_lost: bool) -> None:
        """Add the agent's action and its result."""
        self._rows[-1] |= {"action": action, "reward": reward, "life_lost": life_lost}

    def columns(self, head: TrackHead, after: float) -> dict[str, Column]:
        """Return all columns. `after` is the value at the end of the recording, or 0 if the episode ended."""
        columns = {name: np.array([row[name] for row in self._rows], dtype=TYPES.get(name)) for name in self._rows[0]}
        rewards = np.clip(columns["reward"], -1, 1) if head.clip_rewards else columns["reward"]
        ends = columns["life_lost"] if head.life_loss_ends_episode else np.zeros(len(rewards), dtype=np.bool_)
        behind = after if head.bootstraps or head.ended == "unfinished" else 0.0
        columns["obtained"] = discounted(rewards.tolist(), ends.tolist(), head.gamma, behind).astype(np.float32)
        return columns
