"""Actor-learners that share parameters without locks (Mnih et al. 2016, section 4), and who watches over them.

The main process makes what they share, starts them, reports what they do and saves what they learn; they do the rest.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
import torch
from torch import Tensor, nn

from workers.trainer.config import AsynchronousFields
from workers.trainer.optimizers import FlatParameters, MomentumSGD, Optimizer, RMSProp, learning_rate_at
from workers.trainer.own_environment import Episode
from workers.trainer.processes import Link, Processes
from workers.trainer.run import Run, TrainingState, part

Config = TypeVar("Config", bound=AsynchronousFields)

# How often the main process looks around; it also hears of a stop request so soon.
ROUND_SECONDS = 0.1
LARGEST_SEED = 2**31 - 1


@dataclass(frozen=True)
class Shared:
    """What all actor-learners read and write, in shared memory and without locks (Hogwild)."""

    # θ, flat.
    values: Tensor
    # The optimizer's running mean: one row for all, or one for each actor-learner.
    statistics: Tensor
    # T in parts: each counts its own steps in its own place, so that none is lost or counted twice.
    steps: Tensor
    # A row for each actor-learner: how many updates it made, and the sums of their measures.
    sums: Tensor
    # Whatever else the method shares, by name; it is saved with the rest.
    others: Mapping[str, Tensor] = field(default_factory=dict)
    # T when this attempt began.
    first_step: int = 0

    @property
    def T(self) -> int:  # noqa: N802, the paper's letter
        """The global counter of steps."""
        return int(self.steps.sum())


class Share:
    """One actor-learner's share in the work: its counts, its optimizer, its seed."""

    def __init__(self, link: Link, config: AsynchronousFields, shared: Shared) -> None:
        self._link, self._config, self._shared = link, config, shared
        self._steps = shared.steps.numpy()
        self._own_steps = self._steps[link.number : link.number + 1]
        self._own_sums = shared.sums.numpy()[link.number]
        # Another for every actor-learner and, since the environments begin anew, for every attempt.
        entropy = np.random.SeedSequence((config.seed, link.number, shared.first_step))
        self.seed = int(entropy.generate_state(1)[0]) % LARGEST_SEED

    @property
    def T(self) -> int:  # noqa: N802, the paper's letter
        """The global counter of steps."""
        return int(self._steps.sum())

    @property
    def frames(self) -> int:
        """T in emulator frames."""
        return self.T * self._config.environment.frames_per_step

    @property
    def stopping(self) -> bool:
        """Whether somebody wants the run to end."""
        return self._link.stopping

    @property
    def goes_on(self) -> bool:
        """Whether T has not reached T_max, and nobody wants the run to end."""
        steps_left = self._config.total_steps - self.T
        return steps_left > 0 and not self.stopping

    @property
    def learning_rate(self) -> float:
        """η at this T."""
        config = self._config
        return learning_rate_at(config.learning_rate, config.learning_rate_decay, self.T, config.total_steps)

    def optimizer(self, parameters: FlatParameters) -> Optimizer:
        """Make the optimizer that the run asks for, with the statistics that are this actor-learner's to use."""
        config, rows = self._config, self._shared.statistics
        statistics = rows[self._link.number % len(rows)]
        if config.optimizer == "momentum_sgd":
            return MomentumSGD(parameters, config.momentum, statistics)
        return RMSProp(parameters, config.rmsprop_decay, config.rmsprop_epsilon, statistics)

    def count_step(self) -> None:
        """T ← T + 1."""
        self._own_steps += 1

    def tell_update(self, *measures: float) -> None:
        """Add an update's measures, in the order of their names, to what is reported next."""
        self._own_sums += (1.0, *measures)

    def tell_episode(self, episode: Episode) -> None:
        """Report an episode that has just ended."""
        self._link.send((self.T, episode))


def share(
    config: AsynchronousFields,
    restored: TrainingState | None,
    parameters: FlatParameters,
    measures: Sequence[str],
    others: Mapping[str, Tensor],
) -> Shared:
    """Lay out the shared memory: fresh, or as it was saved."""
    beginning = (MomentumSGD if config.optimizer == "momentum_sgd" else RMSProp).beginning(parameters.values)
    rows = 1 if config.optimizer == "shared_rmsprop" else config.num_actors
    shared = Shared(
        values=parameters.values.share_memory_(),
        statistics=beginning.repeat(rows, 1).share_memory_(),
        steps=torch.zeros(config.num_actors, dtype=torch.int64).share_memory_(),
        sums=torch.zeros(config.num_actors, 1 + len(measures), dtype=torch.float64).share_memory_(),
        others={name: tensor.clone().share_memory_() for name, tensor in others.items()},
        first_step=restored.step if restored else 0,
    )
    if restored:
        parameters.load(restored.part("network"))
        saved = restored.tensors["optimizer.statistics"]
        for row in range(rows):  # a fork may have more actor-learners, or fewer
            shared.statistics[row] = saved[row % len(saved)]
        for name, tensor in shared.others.items():
            tensor.copy_(restored.tensors[name])
        shared.steps[0] = restored.step
    return shared


def train(
    config: Config,
    run: Run,
    network: nn.Module,
    actor_learner: Callable[[Link, Config, Shared], None],
    measures: Sequence[str],
    others: Mapping[str, Tensor] | None = None,
) -> None:
    """Have `num_actors` actor-learners train the network until T reaches the end or the run shall stop.

    `measures` names what they tell of each update; reported is the mean over all updates since the last report.
    """
    parameters = FlatParameters(network)
    shared = share(config, run.restored, parameters, measures, others or {})
    frames_per_step = config.environment.frames_per_step
    report = Report(run, shared, measures, frames_per_step)

    def state() -> TrainingState:
        """What the next update depends on, but for the environments, which begin new episodes on resume.

        While actor-learners write, it may hold half of an update, as they themselves may read it.
        """
        step = shared.T
        tensors = part("network", parameters.named())
        tensors |= {"optimizer.statistics": shared.statistics, **shared.others}
        return TrainingState(step=step, frames=step * frames_per_step, tensors=tensors)

    with Processes() as processes:
        for _ in range(config.num_actors):
            processes.start(actor_learner, config, shared)
        while processes.running and not run.should_stop():
            time.sleep(ROUND_SECONDS)  # to be woken by every episode would take time from those who learn
            report.tell(processes.receive(timeout=0))
            if run.checkpoint_due():
                run.save(state())
        report.tell(processes.close())
    run.save(state())


class Report:
    """Tells the run how far the actor-learners are."""

    def __init__(self, run: Run, shared: Shared, measures: Sequence[str], frames_per_step: int) -> None:
        self._run, self._shared, self._measures, self._frames_per_step = run, shared, measures, frames_per_step
        self._updates = 0
        self._told = np.zeros(1 + len(measures))

    def tell(self, messages: Sequence[tuple[int, Any]]) -> None:
        """Report progress, the episodes that ended, and now and then the mean measures of the latest updates."""
        run, frames_per_step = self._run, self._frames_per_step
        step, sums = self._shared.T, self._shared.sums.sum(dim=0).numpy()
        run.advance(step, step * frames_per_step, updates=int(sums[0]) - self._updates)
        self._updates = int(sums[0])
        for at, episode in sorted((content for _, content in messages), key=lambda content: int(content[0])):
            run.episode(at, at * frames_per_step, episode.episode_return, episode.length)
        count, *totals = sums - self._told
        if count and run.metrics_due():
            self._told = sums
            run.metrics({name: float(total / count) for name, total in zip(self._measures, totals, strict=True)})
