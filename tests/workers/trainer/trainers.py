"""Helpers that start trainers as processes and read their run directories."""

import os
import subprocess
import sys
from pathlib import Path
from typing import TypeVar

from arcadia_workers.contract import events
from arcadia_workers.contract.events import Event, event_adapter
from tests.workers.waiting import wait_until

Trainer = subprocess.Popen[str]
SomeEvent = TypeVar("SomeEvent")

# A small CartPole configuration that never finishes.
ENDLESS = ("--preset", "paac-cartpole", "--set", "total_steps=1000000000", "--set", "checkpoint_seconds=1")


def start(directory: Path, *arguments: str) -> Trainer:
    """Start a trainer in a run directory."""
    return subprocess.Popen(
        [sys.executable, "-m", "arcadia_workers.trainer", "--dir", str(directory), *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )


def read_events(directory: Path) -> list[Event]:
    """Return the complete events."""
    path = directory / "events.jsonl"
    lines = path.read_bytes().split(b"\n")[:-1] if path.exists() else []
    return [event_adapter.validate_json(line) for line in lines]


def of_kind(directory: Path, kind: type[SomeEvent]) -> list[SomeEvent]:
    """Return the events of one kind."""
    return [event for event in read_events(directory) if isinstance(event, kind)]


def wait_for_checkpoints(directory: Path, trainer: Trainer, number: int) -> None:
    """Wait until the trainer has announced this number of checkpoints."""

    def announced() -> bool:
        assert trainer.poll() is None, trainer.communicate()
        return len(of_kind(directory, events.CheckpointEvent)) >= number

    wait_until(announced)


def assert_unbroken(directory: Path) -> None:
    """Check that no event is missing or duplicated."""
    assert [event.seq for event in read_events(directory)] == list(range(1, len(read_events(directory)) + 1))
