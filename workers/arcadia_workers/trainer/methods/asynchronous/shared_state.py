"""State that actor-learners share without locks, and each one's view of it (Mnih et al. 2016, section 4)."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import numpy as np
import torch
from torch import Tensor, nn

from arcadia_workers.contract.config import AsynchronousFields
from arcadia_workers.trainer.environments.environments import Observations
from arcadia_workers.trainer.environments.own_environment import FinishedEpisode
from arcadia_workers.trainer.host import memory
from arcadia_workers.trainer.host.processes import Link, Processes
from arcadia_workers.trainer.learning.optimizers import FlatParameters, MomentumSGD, RMSProp
from arcadia_workers.trainer.learning.returns import decayed
from arcadia_workers.trainer.networks.bodies import Prepare
from arcadia_workers.trainer.networks.gradients import layout
from arcadia_workers.trainer.networks.networks import Measurable, NetworkWatch
from arcadia_workers.trainer.run.run import FIRST_UPDATE, TrainingRun, TrainingState, prefixed, starting

LARGEST_SEED = 2**31 - 1

ActorLearnerOptimizer = RMSProp | MomentumSGD


@dataclass(frozen=True)
class SharedState:
    """Tensors in shared memory that all actor-learners read and write without locks (Hogwild)."""

    # θ, flat.
    values: Tensor
    # The optimizer's running mean: one row shared by all, or one for each actor-learner.
    statistics: Tensor
    # T in parts: each actor-learner counts its own steps, so that none is lost or counted twice.
    steps: Tensor
    # The steps of each one that were used in updates. A checkpoint contains no rollouts in progress.
    learned: Tensor
    # The names of an update's measures.
    measures: tuple[str, ...]
    # One row per actor-learner: its number of updates, and the sum of each measure.
    sums: Tensor
    # The method's other shared tensors by name; checkpoints include them.
    others: Mapping[str, Tensor] = field(default_factory=dict)
    # T when this attempt began.
    first_step: int = 0

    @property
    def T(self) -> int:  # noqa: N802, the paper's letter
        """The global counter of steps."""
        return int(self.steps.sum())

    @property
    def step(self) -> int:
        """The number of steps used in updates, which is the run's step."""
        return int(self.learned.sum())


class Participant:
    """View of the run for one actor-learner: its counts, optimizer and seed."""

    def __init__(self, link: Link, config: AsynchronousFields, shared: SharedState) -> None:
        self._link, self._config, self._shared = link, config, shared
        self._steps = shared.steps.numpy()
        self._own_steps = self._steps[link.number : link.number + 1]
        self._ended: list[FinishedEpisode] = []
        self._own_learned = shared.learned.numpy()[link.number : link.number + 1]
        self._watch: NetworkWatch | None = None
        self._own_sums = shared.sums.numpy()[link.number]
        # Each actor-learner needs its own seed, and a new one in every attempt because the environments restart.
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
        """True if the run should stop."""
        return self._link.stopping

    @property
    def goes_on(self) -> bool:
        """True until T reaches T_max or the run should stop."""
        steps_left = self._config.total_steps - self.T
        return steps_left > 0 and not self.stopping

    @property
    def updates(self) -> int:
        """The number of updates by all actor-learners in this attempt."""
        return int(self._shared.sums.numpy()[:, 0].sum())

    @property
    def learning_rate(self) -> float:
        """η at this T."""
        config = self._config
        return decayed(config.learning_rate, config.learning_rate_decay, self.T, config.total_steps)

    def optimizer(self, parameters: FlatParameters) -> ActorLearnerOptimizer:
        """Return the configured optimizer, with the shared statistics or this actor-learner's own."""
        config, rows = self._config, self._shared.statistics
        statistics = rows[self._link.number % len(rows)]
        if config.optimizer == "momentum_sgd":
            return MomentumSGD(parameters, config.momentum, statistics)
        return RMSProp(parameters, config.rmsprop_decay, config.rmsprop_epsilon, statistics)

    def count_step(self) -> None:
        """Set T ← T + 1."""
        self._own_steps += 1

    def report_update(self, steps: int, measures: Mapping[str, float]) -> None:
        """Count the steps of an update with the episodes that ended in them, and add its measures to the sums.

        Then apply changes of the configuration for the next update.
        """
        names = self._shared.measures
        if len(measures) != len(names):
            raise ValueError(f"an update must give the measures {names}, not {tuple(measures)}")
        self._own_learned += steps
        self._own_sums += (1.0, *(measures[name] for name in names))
        for episode in self._ended:
            self._link.send((self._shared.step, episode))
        self._ended.clear()
        while self._link.received:
            vars(self._config).update(self._link.received.popleft())

    def report_network(self, network: Measurable, states: Tensor) -> None:
        """Measure θ' of the first actor-learner regularly on a sample of these states."""
        if self._link.number != 0:
            return
        self._watch = self._watch or NetworkWatch(network)
        self._watch.see(states)
        if metrics := self._watch.metrics():
            self._link.send((self._shared.step, metrics))

    def report_episode(self, episode: FinishedEpisode) -> None:
        """Report a finished episode after its last steps were used in an update."""
        self._ended.append(episode)


def lay_out(
    config: AsynchronousFields,
    restored: TrainingState | None,
    parameters: FlatParameters,
    measures: Sequence[str],
    others: Mapping[str, Tensor],
) -> SharedState:
    """Allocate the shared memory, fresh or from a checkpoint."""
    beginning = (MomentumSGD if config.optimizer == "momentum_sgd" else RMSProp).beginning(parameters.values)
    rows = 1 if config.optimizer == "shared_rmsprop" else config.num_actors
    shared = SharedState(
        values=parameters.values.share_memory_(),
        statistics=beginning.repeat(rows, 1).share_memory_(),
        steps=torch.zeros(config.num_actors, dtype=torch.int64).share_memory_(),
        learned=torch.zeros(config.num_actors, dtype=torch.int64).share_memory_(),
        measures=tuple(measures),
        sums=torch.zeros(config.num_actors, 1 + len(measures), dtype=torch.float64).share_memory_(),
        others={name: tensor.clone().share_memory_() for name, tensor in others.items()},
        first_step=restored.step if restored else 0,
    )
    if restored:
        parameters.load(restored.component("network"))
        if keeps_statistics(config, restored):
            saved = restored.tensors["optimizer.statistics"]
            for row in range(rows):  # a fork may have more or fewer actor-learners
                shared.statistics[row] = saved[row % len(saved)]
        if not restored.has_only_weights:
            for name, tensor in shared.others.items():
                tensor.copy_(restored.tensors[name])
        shared.steps[0] = shared.learned[0] = restored.step
    return shared


def keeps_statistics(config: AsynchronousFields, restored: TrainingState) -> bool:
    """Return True if the optimizer can continue with a checkpoint's statistics. Momentum's would mislead RMSProp.

    An older checkpoint does not name its optimizer. It is assumed to be the run's.
    """
    if restored.has_only_weights:
        return False
    before = restored.facts.get("optimizer", config.optimizer)
    return (before == "momentum_sgd") == (config.optimizer == "momentum_sgd")


Config = TypeVar("Config", bound=AsynchronousFields)

# The interval of checks for messages and stop requests in the main process.
ROUND_SECONDS = 0.1


def train(
    config: Config,
    run: TrainingRun,
    network: nn.Module,
    actor_learner: Callable[[Link, Config, SharedState], None],
    measures: Sequence[str],
    others: Mapping[str, Tensor] | None = None,
) -> None:
    """Train the network with `num_actors` actor-learners until T reaches T_max or the run should stop.

    `measures` names the measures of an update. Reports contain their mean over all updates since the last report.
    """
    parameters = FlatParameters(network)
    shared = lay_out(config, run.restored, parameters, measures, others or {})
    frames_per_step = config.environment.frames_per_step
    reporter = ActorLearnersReporter(run, shared, frames_per_step)

    def state() -> TrainingState:
        """Return everything the next update depends on, except the environments, which start new episodes.

        It may contain half an update, because actor-learners write without locks.
        """
        step = shared.step
        tensors = prefixed("network", parameters.named())
        tensors |= {"optimizer.statistics": shared.statistics, **shared.others}
        return TrainingState(step, step * frames_per_step, tensors, facts={"optimizer": config.optimizer})

    memory.allow(config.num_actors, "actor-learners")
    run.start_step(starting(config.num_actors, "actor-learner"))
    # They start again if T_max has been raised just after they reached it.
    while config.total_steps > shared.T and not run.should_stop():
        with Processes() as processes:
            for _ in range(config.num_actors):
                processes.start(actor_learner, config, replace(shared, first_step=shared.step))
            run.start_step(FIRST_UPDATE)
            while processes.running and not run.should_stop():
                time.sleep(ROUND_SECONDS)  # waking up for every episode would slow down the actor-learners
                reporter.report(processes.receive(timeout=0))
                if changes := run.apply_changes(config):
                    processes.send_to_all(changes)
                if run.checkpoint_due():
                    run.save(state())
            reporter.report(processes.close())
    run.save(state())


class ActorLearnersReporter:
    """Reporter of the actor-learners' progress to the run."""

    def __init__(self, run: TrainingRun, shared: SharedState, frames_per_step: int) -> None:
        self._run, self._shared, self._frames_per_step = run, shared, frames_per_step
        self._updates = 0
        self._reported = np.zeros(1 + len(shared.measures))
        self._of_network: dict[str, float] = {}

    def report(self, messages: Sequence[tuple[int, Any]]) -> None:
        """Report progress, finished episodes and, when metrics are due, the mean measures of the latest updates."""
        run, frames_per_step = self._run, self._frames_per_step
        step, sums = self._shared.step, self._shared.sums.sum(dim=0).numpy()
        run.advance(step, step * frames_per_step, updates=int(sums[0]) - self._updates)
        self._updates = int(sums[0])
        for at, message in sorted((content for _, content in messages), key=lambda content: int(content[0])):
            if isinstance(message, FinishedEpisode):
                run.episode(at, at * frames_per_step, message.episode_return, message.length)
            else:
                self._of_network = message
        count, *totals = sums - self._reported
        if count and run.metrics_due():
            self._reported = sums
            measures = zip(self._shared.measures, totals, strict=True)
            run.metrics({name: float(total / count) for name, total in measures} | self._of_network)
            self._of_network = {}


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
