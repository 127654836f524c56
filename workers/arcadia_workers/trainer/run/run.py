"""Interface between a method and the run that it trains, and an in-memory version of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import torch
from pydantic import JsonValue

from arcadia_workers.contract.config import TrainingConfig
from arcadia_workers.contract.events import LogLevel, RequestedChange, RolePlace
from arcadia_workers.contract.layout import WEIGHTS_ONLY
from arcadia_workers.contract.metrics import METRICS


@dataclass
class TrainingState:
    """State from which a method can continue: weights, statistics and random states as tensors, counters as facts."""

    step: int
    frames: int
    tensors: dict[str, torch.Tensor]
    facts: dict[str, JsonValue] = field(default_factory=dict)

    def component(self, name: str) -> dict[str, torch.Tensor]:
        """Return the tensors of one component, such as the network, by their names within it."""
        prefix = f"{name}."
        return {key.removeprefix(prefix): tensor for key, tensor in self.tensors.items() if key.startswith(prefix)}

    @property
    def has_only_weights(self) -> bool:
        """True if the state lacks everything but the network, such as the optimizer's statistics."""
        return self.facts.get(WEIGHTS_ONLY) is True

    @property
    def has_diverged(self) -> bool:
        """True if a weight of the network is NaN or infinite, which makes its output meaningless."""
        return not all(weights.isfinite().all() for weights in self.component("network").values())


def prefixed(component: str, tensors: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """Prefix the names of tensors with their component."""
    return {f"{component}.{key}": tensor for key, tensor in tensors.items()}


FIRST_UPDATE = "First update"


def starting(count: int, noun: str) -> str:
    """Return the name of the step that starts `count` environments or processes."""
    return f"Starting {count:,} {noun}{'' if count == 1 else 's'}"


class TrainingRun(Protocol):
    """Interface of a run for its method: report progress, check for a stop, save checkpoints."""

    @property
    def restored(self) -> TrainingState | None:
        """The state to continue from, or None for a new run."""
        ...

    @property
    def device(self) -> torch.device:
        """The device of the network."""
        ...

    def should_stop(self) -> bool:
        """Return True if the method should save and return."""
        ...

    def advance(self, step: int, frames: int, updates: int = 1) -> None:
        """Report the step, the frames and the new updates, after every update or a few times per second."""
        ...

    def episode(self, step: int, frames: int, episode_return: float, length: int) -> None:
        """Report a finished training episode with its raw return."""
        ...

    def metrics_due(self) -> bool:
        """Return True if it is time to call `metrics`, a few times per second."""
        ...

    def metrics(self, values: Mapping[str, float]) -> None:
        """Report metrics together with the episodes that ended since the last call."""
        ...

    def checkpoint_due(self) -> bool:
        """Return True if it is time to call `save`."""
        ...

    def save(self, state: TrainingState) -> None:
        """Save a copy of the state as a checkpoint. Call it once more before the method returns."""
        ...

    def start_step(self, name: str) -> None:
        """Report that a step of the start begins. The first update ends the last step."""
        ...

    def apply_changes(self, config: TrainingConfig) -> dict[str, JsonValue]:
        """Apply requested changes to the configuration, in place. Return the changed fields.

        Call it between two updates. Read changeable fields from the configuration at every update.
        """
        ...

    def log(self, message: str, level: LogLevel = "info") -> None:
        """Add a line to the run's log."""
        ...

    def roles(self, places: Sequence[RolePlace]) -> None:
        """Report the host of every role, at the start and after each change."""
        ...


@dataclass
class NullRun:
    """Run without a directory, for tests and measurements. It stores all reports in memory."""

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
    # Changes to apply. Each is removed when it is applied.
    changes: list[RequestedChange] = field(default_factory=list)

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
            raise ValueError(f"workers/arcadia_workers/contract/metrics.py lacks {', '.join(sorted(unknown))}")
        self.reported.append({"step": self.step, **values})

    def checkpoint_due(self) -> bool:
        return False

    def save(self, state: TrainingState) -> None:
        self.saved.append(snapshot(state))

    def start_step(self, name: str) -> None:
        self.start_steps.append(name)

    def apply_changes(self, config: TrainingConfig) -> dict[str, JsonValue]:
        due = [change for change in self.changes if change.step <= self.step]
        for change in due:
            self.changes.remove(change)
            config.__dict__.update(change.fields)
        return {name: value for change in due for name, value in change.fields.items()}

    def log(self, message: str, level: LogLevel = "info") -> None:
        self.logged.append(f"{level}: {message}")

    def roles(self, places: Sequence[RolePlace]) -> None:
        self.placed.append(places)


def snapshot(state: TrainingState) -> TrainingState:
    """Copy a state to main memory, so that training may change the original."""
    tensors = {
        name: torch.empty(tensor.shape, dtype=tensor.dtype).copy_(tensor.detach())
        for name, tensor in state.tensors.items()
    }
    return TrainingState(state.step, state.frames, tensors, dict(state.facts))
