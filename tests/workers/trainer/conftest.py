"""Trainers that end with the test."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.workers.trainer import trainers
from tests.workers.trainer.trainers import Trainer

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
