"""Main process of actor-learner methods (Mnih et al. 2016, section 4).

It lays out the shared state, starts the actor-learners, reports their progress and saves checkpoints.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
from torch import Tensor, nn

from workers.contract.config import AsynchronousFields
from workers.trainer.environments.own_environment import FinishedEpisode
from workers.trainer.host import open_files
from workers.trainer.host.processes import Link, Processes
from workers.trainer.learning.optimizers import FlatParameters
from workers.trainer.methods.asynchronous.shared_state import SharedState, lay_out
from workers.trainer.run.run import FIRST_UPDATE, TrainingRun, TrainingState, prefixed, starting

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

    open_files.allow(config.num_actors, "actor-learners")
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
