"""One module an algorithm, each with `train(config, run)`, each reading like its paper's pseudocode."""

from collections.abc import Callable
from typing import Any

from workers.trainer.algorithms import a3c, async_q, ga3c, gorila, paac, paac_q
from workers.trainer.run import Run

# Each takes the configuration that names it.
ALGORITHMS: dict[str, Callable[[Any, Run], None]] = {
    "a3c": a3c.train,
    "one_step_q": async_q.train,
    "one_step_sarsa": async_q.train,
    "n_step_q": async_q.train,
    "paac": paac.train,
    "paac_q": paac_q.train,
    "ga3c": ga3c.train,
    "gorila": gorila.train,
}
