"""PAAC's framework: n_e environments that step t_max times under one policy (Clemente et al. 2017, section 3)."""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import torch
from torch import Tensor

from workers.trainer import devices, environments
from workers.trainer.config import SynchronousFields
from workers.trainer.environments import Environments, Observations
from workers.trainer.episodes import EpisodeBook
from workers.trainer.time_shares import TimeShares

Policy = Callable[[Tensor], Tensor]
"""From prepared states to one action each."""

Value = Callable[[Tensor], Tensor]
"""From prepared states to what each is worth."""


@dataclass(frozen=True)
class Rollout:
    """t_max steps of n_e environments, every tensor (t_max, n_e, …), and the states (n_e, …) that they led to."""

    states: Tensor
    actions: Tensor
    rewards: Tensor
    terminated: Tensor
    fresh: Tensor
    last_states: Tensor
    last_values: Tensor


@dataclass
class Part:
    """Some of the environments, the columns of the rollout that are theirs, and what these saw at each step."""

    environments: Environments
    columns: slice
    states: list[Tensor] = field(default_factory=list)


class Actors:
    """Acts in all environments in lockstep and keeps what was seen.

    Emulators step in threads of their own, so Atari games are split in two parts: while one part steps, the policy
    looks at the other. Both see the same parameters for the whole rollout.
    """

    def __init__(self, config: SynchronousFields, seed: int, device: torch.device) -> None:
        self._clip = config.clip_rewards
        self._life_loss_ends = config.life_loss_ends_episode
        self._device = device
        self._shape = (config.t_max, config.num_envs)
        self._parts = _open(config, seed)
        first = self._parts[0].environments
        self.observation_shape, self.actions = first.observation_shape, first.actions
        self.frames_per_step = first.frames_per_step
        self.time = TimeShares()
        self._rewards = np.zeros(self._shape, dtype=np.float32)
        self._terminated = np.zeros(self._shape, dtype=np.bool_)
        self._fresh = np.zeros(self._shape, dtype=np.bool_)
        self._actions = np.zeros(self._shape, dtype=np.int64)
        self._last_values = torch.zeros(config.num_envs, device=device)

    def reset(self, prepare: Policy) -> None:
        """Begin an episode everywhere; `prepare` turns observations into the states that the policy reads."""
        opening = prepare(torch.cat([self._on_device(part.environments.reset()) for part in self._parts]))
        # Written anew in every rollout: the learner is done with them by then. `cat` keeps channels last.
        steps, number = self._shape
        self._states = torch.cat([opening] * (steps + 1)).unflatten(0, (steps + 1, number))
        for part in self._parts:
            part.states = [states[part.columns] for states in self._states]

    @torch.no_grad()
    def rollout(self, policy: Policy, value: Value, book: EpisodeBook) -> Rollout:
        """Act t_max times in every environment, and ask what the states that this led to are worth."""
        steps = self._shape[0]
        for t in range(steps):
            for part in self._parts:
                if t > 0:
                    self._receive(part, t - 1, book)
                self._act(part, t, policy)
        for part in self._parts:
            self._receive(part, steps - 1, book)
            self.time.turn_to("learning")  # while the next part is still stepping
            self._last_values[part.columns] = value(part.states[-1])
        return Rollout(
            states=self._states[:-1],
            actions=torch.from_numpy(self._actions).to(self._device),
            rewards=torch.from_numpy(self._rewards.clip(-1, 1) if self._clip else self._rewards).to(self._device),
            terminated=torch.from_numpy(self._terminated).to(self._device),
            fresh=torch.from_numpy(self._fresh).to(self._device),
            last_states=self._states[-1],
            last_values=self._last_values,
        )

    def close(self) -> None:
        """End the environments."""
        for part in self._parts:
            part.environments.close()

    def _act(self, part: Part, t: int, policy: Policy) -> None:
        self.time.turn_to("selection")
        # A rollout begins with what the one before ended with.
        actions = policy(part.states[t if t > 0 else -1]).cpu().numpy()
        part.environments.send(actions)
        self._actions[t, part.columns] = actions
        if t == 0:  # once the emulators are busy
            part.states[0].copy_(part.states[-1])

    def _receive(self, part: Part, t: int, book: EpisodeBook) -> None:
        self.time.turn_to("environment")
        step, columns = part.environments.receive(), part.columns
        part.states[t + 1].copy_(self._on_device(step.observations))  # converts and sorts them once
        self._rewards[t, columns] = step.rewards
        self._terminated[t, columns] = step.terminated | step.life_lost if self._life_loss_ends else step.terminated
        self._fresh[t, columns] = step.fresh
        book.record(step, columns)

    def _on_device(self, observations: Observations) -> Tensor:
        return torch.from_numpy(observations).to(self._device, non_blocking=True)


def _open(config: SynchronousFields, seed: int) -> list[Part]:
    number = config.num_envs
    if config.environment.kind != "atari" or number == 1:
        return [Part(environments.make(config, number, seed, config.num_workers), slice(0, number))]
    # Two parts that share cores would end their steps at the same time, and both then wait for the policy.
    threads = max(1, min(config.num_workers, devices.cores()) // 2)
    middle = number // 2
    halves = (slice(0, middle), slice(middle, number))
    # The seeds of the first half are 2·seed·middle … and so never those of the second.
    return [
        Part(environments.make(config, half.stop - half.start, 2 * seed + i, threads), half)
        for i, half in enumerate(halves)
    ]
