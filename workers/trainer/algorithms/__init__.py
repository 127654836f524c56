"""One module an algorithm, each with `train(config, run)`, each reading like its paper's pseudocode."""

from collections.abc import Callable

from workers.trainer.algorithms import paac
from workers.trainer.config import RunConfig
from workers.trainer.run import Run

ALGORITHMS: dict[str, Callable[[RunConfig, Run], None]] = {
    "paac": paac.train,
}
