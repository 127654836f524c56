"""PAAC's framework: n_e environments that step t_max times under one policy (Clemente et al. 2017, section 3)."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from workers.contract.config import LockstepFields
from workers.contract.spaces import Continuous
from workers.trainer.environments import environments
from workers.trainer.environments.environments import Actions, Environments, Observations
from workers.trainer.environments.episodes import EpisodeBook
from workers.trainer.host import devices, memory
from workers.trainer.methods.paac.time_shares import Activity, TimeShares
from workers.trainer.networks.bodies import Prepare
from workers.trainer.networks.side_by_side import ALONE, SideBySide

Policy = Callable[[Tensor, slice], Tensor]
"""Chooses an action for each prepared state, given the states' rows in the rollout."""

Value = Callable[[Tensor, slice], Tensor]
"""Estimates the value of each final state, given the rows that the states would have in a longer rollout."""


class Rollout(NamedTuple):
    """Rollout of t_max steps in n_e environments: tensors (t_max, n_e, …), and the states (n_e, …) after it."""

    states: Tensor
    actions: Tensor
    rewards: Tensor
    terminated: Tensor
    fresh: Tensor
    last_states: Tensor
    last_values: Tensor


def pick(states: Tensor, rows: Tensor) -> Tensor:
    """Return some rows of prepared states, in the same memory layout."""
    if states.dim() != 4 or states.is_contiguous():
        return states.index_select(0, rows)
    return states.permute(0, 2, 3, 1).index_select(0, rows).permute(0, 3, 1, 2)


@dataclass
class EnvironmentBatch:
    """Batch of environments, its columns in the rollout, and its states at each step."""

    environments: Environments
    columns: slice
    states: list[Tensor] = field(default_factory=list)


class Actors:
    """Actors of all environments, which record the rollout. The parameters do not change during a rollout.

    Atari games are split into two batches. Each has a thread that selects actions and then waits for the emulators, so
    that neither batch waits for the other before the end of the rollout.
    """

    def __init__(self, config: LockstepFields, seed: int, device: torch.device) -> None:
        self._clip = config.clip_rewards
        self._life_loss_ends = config.life_loss_ends_episode
        self._device = device
        self._shape = (config.t_max, config.num_envs)
        self._batches, self._side_by_side = _open(config, seed, device)
        # The threads that learn while the emulators are idle. On a GPU there is nothing to split.
        self.learners = self._side_by_side if device.type == "cpu" else ALONE
        first = self._batches[0].environments
        self.observation_shape, self.actions = first.observation_shape, first.actions
        self.frames_per_step = first.frames_per_step
        self.time = TimeShares()
        self._rewards = np.zeros(self._shape, dtype=np.float32)
        self._terminated = np.zeros(self._shape, dtype=np.bool_)
        self._ended = np.zeros(self._shape, dtype=np.bool_)
        self._fresh = np.zeros(self._shape, dtype=np.bool_)
        self._actions: Actions = (
            np.zeros((*self._shape, self.actions.size), dtype=np.float32)
            if isinstance(self.actions, Continuous)
            else np.zeros(self._shape, dtype=np.int64)
        )
        self._last_values = torch.zeros(config.num_envs, device=device)
        self._records: dict[str, Tensor] = {}

    def reset(self, prepare: Prepare) -> None:
        """Reset all environments. `prepare` converts observations to the policy's input format."""
        self._prepare = prepare
        opening = prepare(torch.cat([self._on_device(batch.environments.reset()) for batch in self._batches]))
        # Every rollout overwrites these states, which are no longer needed then. `cat` keeps channels last.
        steps, number = self._shape
        self._states = torch.cat([opening] * (steps + 1)).unflatten(0, (steps + 1, number))
        for batch in self._batches:
            batch.states = [states[batch.columns] for states in self._states]

    def rollout(self, policy: Policy, value: Value, book: EpisodeBook) -> Rollout:
        """Act t_max times in every environment, and estimate the values of the final states."""
        self._side_by_side.each(lambda batch: self._play(batch, policy, value), self._batches)
        self.time.turn_to("learning")
        for rewards, ended, fresh in zip(self._rewards, self._ended, self._fresh, strict=True):
            book.record(rewards, ended, fresh)
        return Rollout(
            states=self._states[:-1],
            actions=self._kept("actions", self._actions),
            rewards=self._kept("rewards", self._rewards.clip(-1, 1) if self._clip else self._rewards),
            terminated=self._kept("terminated", self._terminated),
            fresh=self._kept("fresh", self._fresh),
            last_states=self._states[-1],
            last_values=self._last_values,
        )

    def openings(self, rows: slice) -> Tensor:
        """Return True for each of these rows of the rollout that opens an episode. The rows belong to one step."""
        t, first = divmod(rows.start, self._shape[1])
        # Before the first step ends, the last row is still that of the previous rollout.
        opened = self._fresh[t - 1, first : first + rows.stop - rows.start]
        return torch.from_numpy(opened.copy()).to(self._device)

    def close(self) -> None:
        """Close the environments."""
        for batch in self._batches:
            batch.environments.close()

    @torch.no_grad()
    def _play(self, batch: EnvironmentBatch, policy: Policy, value: Value) -> None:
        steps, number = self._shape

        def rows_of(t: int) -> slice:
            return slice(t * number + batch.columns.start, t * number + batch.columns.stop)

        for t in range(steps):
            self._turn_to("selection", batch)
            # The first state of a rollout is the last state of the previous one.
            states = batch.states[t if t > 0 else -1]
            actions = policy(states, rows_of(t)).cpu().numpy()
            batch.environments.send(actions)
            self._actions[t, batch.columns] = actions
            if t == 0:  # once the emulators are busy
                batch.states[0].copy_(batch.states[-1])
            self._turn_to("environment", batch)
            self._receive(batch, t)
        self._turn_to("selection", batch)
        self._last_values[batch.columns] = value(batch.states[-1], rows_of(steps))
        self._turn_to("environment", batch)  # the other batch may still be stepping

    def _receive(self, batch: EnvironmentBatch, t: int) -> None:
        step, columns = batch.environments.receive(), batch.columns
        self._prepare(self._on_device(step.observations), batch.states[t + 1])
        self._rewards[t, columns] = step.rewards
        self._terminated[t, columns] = step.terminated | step.life_lost if self._life_loss_ends else step.terminated
        self._ended[t, columns] = step.terminated | step.truncated
        self._fresh[t, columns] = step.fresh

    def _turn_to(self, activity: Activity, batch: EnvironmentBatch) -> None:
        """Record the current activity. The first batch's thread represents both."""
        if batch is self._batches[0]:
            self.time.turn_to(activity)

    def _kept(self, name: str, recorded: NDArray[Any]) -> Tensor:
        """Return a record of the rollout on the device, always in the same memory."""
        tensor = torch.from_numpy(recorded)
        if self._device.type == "cpu":
            return tensor
        if name not in self._records:
            self._records[name] = torch.empty_like(tensor, device=self._device)
        return self._records[name].copy_(tensor)

    def _on_device(self, observations: Observations) -> Tensor:
        return torch.from_numpy(observations).to(self._device, non_blocking=True)


def _open(config: LockstepFields, seed: int, device: torch.device) -> tuple[list[EnvironmentBatch], SideBySide]:
    """Open the environments, with one thread per batch."""
    number, workers = config.num_envs, min(config.num_workers, devices.cores())
    # torch's kernels use another layout for a single state, so each half must have at least two.
    if not config.environment.family.steps_in_threads or number < 4 or workers < 2:
        return [EnvironmentBatch(environments.make(config, number, seed, workers), slice(0, number))], ALONE
    uses_all_cores = device.type == "cpu" and workers == devices.cores()
    memory.keep_freed()  # first, because only threads that start later share the arena
    side_by_side = SideBySide(threads=2, shares=devices.shares_of_cores(2) if uses_all_cores else ())
    threads = workers // 2
    middle = number // 2

    def opened(half: slice) -> EnvironmentBatch:
        # The first half's seeds start at 2·seed·middle and so never overlap with the second half's.
        own_seed = 2 * seed + (half.start > 0)
        return EnvironmentBatch(environments.make(config, half.stop - half.start, own_seed, threads), half)

    # Emulator threads stay on the cores of the thread that opens them.
    return side_by_side.each(opened, [slice(0, middle), slice(middle, number)]), side_by_side
