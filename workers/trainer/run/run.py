"""What an algorithm sees of the run that it trains, and a twin of it that lives in memory."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import torch
from pydantic import JsonValue

from workers.contract.events import LogLevel, RolePlace
from workers.contract.metrics import METRICS


@dataclass
class TrainingState:
    """All that an algorithm needs to go on: weights, statistics and random states as tensors, counters as facts."""

    step: int
    frames: int
    tensors: dict[str, torch.Tensor]
    facts: dict[str, JsonValue] = field(default_factory=dict)

    def component(self, name: str) -> dict[str, torch.Tensor]:
        """The tensors of one component, such as the network, by the names that they have there."""
        prefix = f"{name}."
        return {key.removeprefix(prefix): tensor for key, tensor in self.tensors.items() if key.startswith(prefix)}

    @property
    def has_diverged(self) -> bool:
        """Whether a weight of the network is NaN or infinite, so that nothing it says means anything."""
        return not all(weights.isfinite().all() for weights in self.component("network").values())


def prefixed(component: str, tensors: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """Prefix the names of tensors with the component that they belong to."""
    return {f"{component}.{key}": tensor for key, tensor in tensors.items()}


FIRST_UPDATE = "First update"


def starting(count: int, noun: str) -> str:
    """Name the step that starts this many of something."""
    return f"Starting {count:,} {noun}{'' if count == 1 else 's'}"


class TrainingRun(Protocol):
    """The seam between an algorithm and its program: report, ask whether to stop, store what to resume from."""

    @property
    def restored(self) -> TrainingState | None:
        """What to go on from, or None at the beginning."""
        ...

    @property
    def device(self) -> torch.device:
        """Where the network runs."""
        ...

    def should_stop(self) -> bool:
        """Say whether the user wants the run to save and return."""
        ...

    def advance(self, step: int, frames: int, updates: int = 1) -> None:
        """Tell how far the run is, and by how many updates; after every update, or a few times a second."""
        ...

    def episode(self, step: int, frames: int, episode_return: float, length: int) -> None:
        """Report a finished training episode by its raw return."""
        ...

    def metrics_due(self) -> bool:
        """Say whether it is time for `metrics`, a few times a second."""
        ...

    def metrics(self, values: Mapping[str, float]) -> None:
        """Report values together with the episodes that ended since the last time."""
        ...

    def checkpoint_due(self) -> bool:
        """Say whether it is time to `save`."""
        ...

    def save(self, state: TrainingState) -> None:
        """Keep a copy of the state as a checkpoint; to be called once more before the algorithm returns."""
        ...

    def start_step(self, name: str) -> None:
        """Report which step of starting begins. The first update ends the last one."""
        ...

    def log(self, message: str, level: LogLevel = "info") -> None:
        """Add a line to the run's log."""
        ...

    def roles(self, places: Sequence[RolePlace]) -> None:
        """Tell of every role where it works; at the start, and when one of them has changed."""
        ...


@dataclass
class NullRun:
    """A run without a directory, for tests and measurements: keeps in memory what it is told."""

    restored: TrainingState | None = None
    device: torch.device = field(default_factory=lambda: torch.device("cpu"))
    stop_at_step: int | None = None
    step: int = 0
    frames: int = 0
    updates: int = 0
    episodes: list[tuple[int, int, float, int]] = field(default_factory=list)
    reported: list[dict[str, float]] = field(default_factory=list)
    saved: list[TrainingState] = field(default_factory=list)
    logged: list[str] = field(default_factory=list)
    placed: list[Sequence[RolePlace]] = field(default_factory=list)
    start_steps: list[str] = field(default_factory=list)

    def should_stop(self) -> bool:
        return self.stop_at_step is not None and self.step >= self.stop_at_step

    def advance(self, step: int, frames: int, updates: int = 1) -> None:
        self.step, self.frames = step, frames
        self.updates += updates

    def episode(self, step: int, frames: int, episode_return: float, length: int) -> None:
        self.episodes.append((step, frames, episode_return, length))

    def metrics_due(self) -> bool:
        return True

    def metrics(self, values: Mapping[str, float]) -> None:
        if unknown := values.keys() - METRICS.keys():
            raise ValueError(f"workers/contract/metrics.py lacks {', '.join(sorted(unknown))}")
        self.reported.append({"step": self.step, **values})

    def checkpoint_due(self) -> bool:
        return False

    def save(self, state: TrainingState) -> None:
        self.saved.append(snapshot(state))

    def start_step(self, name: str) -> None:
        self.start_steps.append(name)

    def log(self, message: str, level: LogLevel = "info") -> None:
        self.logged.append(f"{level}: {message}")

    def roles(self, places: Sequence[RolePlace]) -> None:
        self.placed.append(places)


def snapshot(state: TrainingState) -> TrainingState:
    """Copy a state to main memory, each tensor by itself, so that training may go on changing the original."""
    tensors = {
        name: torch.empty(tensor.shape, dtype=tensor.dtype).copy_(tensor.detach())
        for name, tensor in state.tensors.items()
    }
    return TrainingState(state.step, state.frames, tensors, dict(state.facts))
