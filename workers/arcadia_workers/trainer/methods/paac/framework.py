"""PAAC's framework: the parts of a run that do not depend on the algorithm (Clemente et al. 2017, section 3)."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Literal, NamedTuple, Protocol, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from arcadia_workers.contract.action_names import Continuous
from arcadia_workers.contract.config import LockstepFields
from arcadia_workers.contract.config.fields import Decay
from arcadia_workers.trainer.environments import environments
from arcadia_workers.trainer.environments.environments import Actions, Environments, Observations
from arcadia_workers.trainer.environments.episodes import EpisodeBook
from arcadia_workers.trainer.host import devices, memory
from arcadia_workers.trainer.learning.optimizers import Centering, Optimizer, clip_to_norm
from arcadia_workers.trainer.learning.returns import decayed
from arcadia_workers.trainer.networks.agents import Agent
from arcadia_workers.trainer.networks.bodies import Prepare
from arcadia_workers.trainer.networks.gradients import ALONE, SideBySide
from arcadia_workers.trainer.networks.networks import ActionValues, ActorCritic, NetworkWatch
from arcadia_workers.trainer.run.run import FIRST_UPDATE, TrainingRun, TrainingState, prefixed, starting

Activity = Literal["environment", "selection", "learning"]


class TimeShares:
    """Meter of the training thread's three activities, one of which is always active.

    With two halves of environments, the first half's thread represents both. `environment` is the time for waiting for
    its emulators, copying their observations, and waiting for the other half at the end.
    """

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        self._clock = clock
        self._seconds: dict[Activity, float] = {"environment": 0.0, "selection": 0.0, "learning": 0.0}
        self._activity: Activity = "environment"
        self._since = clock()

    def turn_to(self, activity: Activity) -> None:
        """Switch to another activity."""
        now = self._clock()
        self._seconds[self._activity] += now - self._since
        self._activity, self._since = activity, now

    def report(self) -> dict[str, float]:
        """Return each activity's share of the wall time since the last report, as metrics."""
        self.turn_to(self._activity)
        total = sum(self._seconds.values())
        shares = {f"time/{activity}": seconds / total for activity, seconds in self._seconds.items()}
        self._seconds = dict.fromkeys(self._seconds, 0.0)
        return shares


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
        self._side_by_side.map(lambda batch: self._play(batch, policy, value), self._batches)
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
    return side_by_side.map(opened, [slice(0, middle), slice(middle, number)]), side_by_side


class Framework:
    """The environments, the step counter, the metrics and the checkpoints of one run.

    A method builds its network for the `actors` and calls `begin`. Then it repeats `rollout`, its update and `advance`
    until `is_finished`.
    """

    def __init__(self, config: LockstepFields, run: TrainingRun) -> None:
        self._config, self._run = config, run
        first_step = run.restored.step if run.restored else 0
        torch.manual_seed(config.seed)
        # Environments start new episodes on resume, so every attempt needs another seed.
        self.seed = config.seed + first_step
        run.start_step(starting(config.num_envs, "environment"))
        self.actors = Actors(config, self.seed, run.device)
        self._book = EpisodeBook(run, config.num_envs, self.actors.frames_per_step, first_step)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.actors.close()

    def begin(self, network: ActorCritic | ActionValues | Agent) -> None:
        """Reset the environments and announce the first update."""
        self.actors.reset(network.prepare)
        self._watch = NetworkWatch(network)
        self._run.start_step(FIRST_UPDATE)

    @property
    def is_finished(self) -> bool:
        """Return True if the run has taken all its steps or should stop."""
        return self._book.step >= self._config.total_steps or self._run.should_stop()

    @property
    def frames(self) -> int:
        """The number of emulator frames so far."""
        return self._book.frames

    @property
    def learning_rate(self) -> float:
        """The learning rate of the next update."""
        return self.decayed(self._config.initial_learning_rate, self._config.learning_rate_decay)

    def decayed(self, initial: float, decay: Decay) -> float:
        """Return the present value of a setting that decays during training."""
        return decayed(initial, decay, self._book.step, self._config.total_steps)

    def rollout(self, policy: Policy, value: Value) -> Rollout:
        """Act t_max times in every environment."""
        rollout = self.actors.rollout(policy, value, self._book)
        self.actors.time.turn_to("learning")
        return rollout

    def advance(self, rollout: Rollout, updates: int = 1) -> None:
        """Report the updates by a rollout to the run, and apply changes of the configuration for the next rollout."""
        self._run.advance(self._book.step, self._book.frames, updates)
        self._run.apply_changes(self._config)
        self._watch.see(rollout.states.flatten(0, 1))

    def report(self, metrics: Mapping[str, float]) -> None:
        """Report an update's metrics together with those of the framework and the network."""
        self._run.metrics({**metrics, **self.actors.time.report(), **self._watch.metrics()})

    def save(self, tensors: dict[str, Tensor]) -> None:
        """Save everything that the next update depends on, except the environments: they begin new episodes."""
        self._run.save(TrainingState(step=self._book.step, frames=self._book.frames, tensors=tensors))


def restore_random(random: torch.Generator, saved: TrainingState, name: str) -> None:
    """Restore the state of a random generator, unless the checkpoint has only weights."""
    if not saved.has_only_weights:
        devices.restore_generator(random, saved.tensors[name])


class OutputsTape(Protocol):
    """Tape that has stored the outputs of a body's layers."""

    @property
    def body(self) -> nn.Module:
        """The body, or several."""
        ...

    def input_means(self, states: Tensor) -> list[Tensor]:
        """Return the mean of each layer's inputs over all stored states."""
        ...


class Updater:
    """Updater of a network from the outputs that a tape has stored."""

    def __init__(self, config: LockstepFields, tape: OutputsTape, optimizer: Optimizer) -> None:
        self._tape, self._optimizer = tape, optimizer
        self._centering = Centering(tape.body, optimizer.parameters) if config.centered_inputs else None

    def update(self, states: Tensor, learning_rate: float | Tensor, max_grad_norm: float | Tensor) -> Tensor:
        """Take one optimizer step with the clipped gradients; return their norm before clipping."""
        correct = self._centering.center(self._tape.input_means(states)) if self._centering else None
        gradient_norm = clip_to_norm(self._optimizer.parameters.gradients, max_grad_norm)
        self._optimizer.step(learning_rate, correct)
        return gradient_norm

    def state(self) -> dict[str, Tensor]:
        """Return the network's weights and the optimizer's statistics for a checkpoint."""
        parameters = self._optimizer.parameters
        network = prefixed("network", parameters.named() | dict(parameters.module.named_buffers()))
        return network | prefixed("optimizer", self._optimizer.statistics())

    def restore(self, saved: TrainingState) -> None:
        """Load the network's weights and, if the checkpoint has them, the optimizer's statistics."""
        parameters, network = self._optimizer.parameters, saved.component("network")
        for name, buffer in parameters.module.named_buffers():
            buffer.copy_(network.pop(name))
        parameters.load(network)
        if saved.has_only_weights:
            return
        for name, tensor in self._optimizer.statistics().items():
            tensor.copy_(saved.tensors[f"optimizer.{name}"])
