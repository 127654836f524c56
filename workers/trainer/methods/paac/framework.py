"""PAAC's framework: the parts of a run that do not depend on the algorithm (Clemente et al. 2017, section 3)."""

from collections.abc import Mapping
from types import TracebackType
from typing import Protocol, Self

import torch
from torch import Tensor, nn

from workers.contract.config import LockstepFields
from workers.contract.config.fields import Decay
from workers.trainer.environments.episodes import EpisodeBook
from workers.trainer.host import devices
from workers.trainer.learning.centering import Centering
from workers.trainer.learning.decay import decayed
from workers.trainer.learning.optimizers import Optimizer, clip_to_norm
from workers.trainer.methods.paac.rollouts import Actors, Policy, Rollout, Value
from workers.trainer.networks.agents import Agent
from workers.trainer.networks.dead_units import NetworkWatch
from workers.trainer.networks.networks import ActionValues, ActorCritic
from workers.trainer.run.run import FIRST_UPDATE, TrainingRun, TrainingState, prefixed, starting


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
