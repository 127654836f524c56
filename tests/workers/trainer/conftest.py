"""Trainers that end with the test."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.workers.trainer import trainers
from tests.workers.trainer.trainers import Trainer
from workers.trainer.gorila import ray_cluster

# Read when torch is loaded: on a busy machine, threads that spin for one another take most of a test's time.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OMP_WAIT_POLICY", "passive")
# Read when Ray is imported, as some tests do before others start one.
os.environ.update(ray_cluster.OF_OUR_OWN)

StartTrainer = Callable[..., Trainer]


@pytest.fixture
def start_trainer(tmp_path: Path) -> Iterator[StartTrainer]:
    """Yield a function that starts a trainer in tmp_path / "run"; whatever still runs at the end is killed."""
    started: list[Trainer] = []

    def start(*arguments: str) -> Trainer:
        started.append(trainers.start(tmp_path / "run", *arguments))
        return started[-1]

    yield start
    for trainer in started:
        trainer.kill()
        trainer.communicate()
