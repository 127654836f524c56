"""One module an algorithm, each with `train(config, run)`, each reading like its paper's pseudocode."""

from collections.abc import Callable
from typing import Any

from workers.trainer.algorithms import paac
from workers.trainer.run import Run

# Each takes the configuration that names it.
ALGORITHMS: dict[str, Callable[[Any, Run], None]] = {
    "paac": paac.train,
}
