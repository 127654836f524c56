"""Settings for all trainer tests, and a fixture that starts trainers and kills them after the test."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from arcadia_workers.trainer.methods.gorila import ray_cluster
from tests.workers.trainer import trainers
from tests.workers.trainer.trainers import Trainer

# torch reads this when it is loaded. On a busy machine, threads that spin while waiting take most of a test's time.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OMP_WAIT_POLICY", "passive")
# Ray reads these when it is imported, which one test may do before another starts a cluster.
os.environ.update(ray_cluster.OWN_RAY)

StartTrainer = Callable[..., Trainer]


@pytest.fixture
def start_trainer(tmp_path: Path) -> Iterator[StartTrainer]:
    """Yield a function that starts a trainer in tmp_path / "run". Kill remaining trainers after the test."""
    started: list[Trainer] = []

    def start(*arguments: str) -> Trainer:
        started.append(trainers.start(tmp_path / "run", *arguments))
        return started[-1]

    yield start
    for trainer in started:
        trainer.kill()
        trainer.communicate()
