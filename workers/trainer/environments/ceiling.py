"""Speed of a run's environments without a network, which no method on the same host can exceed."""

import time
from collections.abc import Callable
from itertools import cycle

import numpy as np

from workers.contract.config.ceiling import CeilingFields, Stepping
from workers.contract.spaces import ActionSpace, Discrete
from workers.trainer.environments import environments
from workers.trainer.environments.environments import Actions
from workers.trainer.host import open_files
from workers.trainer.host.processes import Link, Processes

TELL_SECONDS = 0.1
# Actions are drawn once, so that drawing takes no time.
DRAWN = 1_000


def measure(config: CeilingFields, seconds: float, should_stop: Callable[[], bool]) -> float | None:
    """Return the environments' steps per second with random actions, or None if the run should stop."""
    stepping = config.stepping
    # For each process: the time of its report and its number of steps.
    first: dict[int, tuple[float, int]] = {}
    last: dict[int, tuple[float, int]] = {}
    open_files.allow(stepping.processes)
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
