"""Steps and raw returns of episodes, and the environments alone, for the ratio of a method's speed to theirs."""

import time
from collections.abc import Callable
from itertools import cycle

import numpy as np

from arcadia_workers.contract.action_names import ActionSpace, Discrete
from arcadia_workers.contract.config.shared import CeilingFields, Stepping
from arcadia_workers.trainer.environments import environments
from arcadia_workers.trainer.environments.environments import Actions, Flags, Floats
from arcadia_workers.trainer.host import memory
from arcadia_workers.trainer.host.processes import Link, Processes
from arcadia_workers.trainer.run.run import TrainingRun


class EpisodeBook:
    """Counter of the steps and frames of a batch of environments, and of each episode's return and length."""

    def __init__(self, run: TrainingRun, num_envs: int, frames_per_step: int, step: int) -> None:
        self._run = run
        self._returns = np.zeros(num_envs, dtype=np.float64)
        self._lengths = np.zeros(num_envs, dtype=np.int64)
        self._frames_per_step = frames_per_step
        self.step = step

    @property
    def frames(self) -> int:
        """The number of emulator frames so far."""
        return self.step * self._frames_per_step

    def record(self, rewards: Floats, ended: Flags, fresh: Flags) -> None:
        """Record one step of all environments. Fresh ones took no decision and do not count."""
        decided = ~fresh
        self.step += int(np.count_nonzero(decided))
        self._returns += rewards
        self._lengths += decided
        for i in np.flatnonzero(ended):
            self._run.episode(self.step, self.frames, float(self._returns[i]), int(self._lengths[i]))
            self._returns[i] = 0
            self._lengths[i] = 0


TELL_SECONDS = 0.1
# Actions are drawn once, so that drawing takes no time.
DRAWN = 1_000


def measure(config: CeilingFields, seconds: float, should_stop: Callable[[], bool]) -> float | None:
    """Return the environments' steps per second with random actions, or None if the run should stop."""
    stepping = config.stepping
    # For each process: the time of its report and its number of steps.
    first: dict[int, tuple[float, int]] = {}
    last: dict[int, tuple[float, int]] = {}
    memory.allow(stepping.processes)
    with Processes() as processes:
        for number in range(stepping.processes):
            processes.start(step, config, stepping, config.seed + number)
        while not should_stop():
            last.update(processes.receive(TELL_SECONDS))
            if len(last) == stepping.processes:
                # Measure only while all of them step, because they share the host.
                first = first or dict(last)
                spans = [(last[n][0] - begun, last[n][1] - steps) for n, (begun, steps) in first.items()]
                if min(span for span, _ in spans) >= seconds:
                    return sum(steps / span for span, steps in spans)
    return None


def step(link: Link, config: CeilingFields, stepping: Stepping, seed: int) -> None:
    """Step the environments of one process until it should stop, and report the number of steps regularly.

    The reset of an episode is not a step, as in the methods.
    """
    batch = environments.make(config, stepping.envs, seed, stepping.threads)
    try:
        batch.reset()
        steps, due = 0, 0.0
        for actions in cycle(drawn(batch.actions, stepping.envs, seed)):
            if link.stopping:
                break
            batch.send(actions)
            steps += int(np.count_nonzero(~batch.receive().fresh))
            now = time.monotonic()
            if now >= due:
                link.send((now, steps))
                due = now + TELL_SECONDS
    finally:
        batch.close()


def drawn(space: ActionSpace, envs: int, seed: int) -> Actions:
    """Draw `DRAWN` batches of random actions."""
    random = np.random.default_rng(seed)
    if isinstance(space, Discrete):
        return random.integers(0, space.count, (DRAWN, envs))
    return random.uniform(space.low, space.high, (DRAWN, envs, space.size)).astype(np.float32)
