"""Checkpoint files with a manifest that is written last and contains the hash, and which of them are kept."""

import contextlib
import hashlib
import json
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import safetensors.torch
from pydantic import BaseModel, ConfigDict, JsonValue, ValidationError
from safetensors import SafetensorError

from arcadia_workers.contract import layout
from arcadia_workers.contract.config import TrainingConfig
from arcadia_workers.contract.events import CheckpointFile
from arcadia_workers.contract.layout import METADATA, CheckpointMetadata, algorithm_of, prunable
from arcadia_workers.contract.tracks import with_current_names
from arcadia_workers.trainer.errors import TrainerError
from arcadia_workers.trainer.run import durable_files
from arcadia_workers.trainer.run.run import TrainingState


class CheckpointError(TrainerError):
    """A checkpoint could not be written, or none could be read."""

    def __init__(self, message: str, *, is_disk_full: bool = False) -> None:
        super().__init__(message)
        self.is_disk_full = is_disk_full


@dataclass(frozen=True)
class LoadedCheckpoint:
    """Checkpoint that was read and verified."""

    file: CheckpointFile
    state: TrainingState
    # As written, with current names: an older version's configuration may not fit the current model.
    config: dict[str, JsonValue]

    @property
    def algorithm(self) -> str:
        """The method that trained it, which may be one of another library."""
        return algorithm_of(self.state.facts, self.config)


def write(directory: Path, state: TrainingState, config: TrainingConfig, versions: Mapping[str, str]) -> CheckpointFile:
    """Write a state so that a reader finds it complete or not at all."""
    metadata = CheckpointMetadata(
        step=state.step,
        frames=state.frames,
        facts=state.facts,
        config=config.model_dump(mode="json"),
        versions=dict(versions),
    )
    content = safetensors.torch.save(state.tensors, {METADATA: json.dumps(metadata.model_dump())})
    name = layout.checkpoint_file(state.step)
    manifest = CheckpointFile(
        file=name,
        sha256=hashlib.sha256(content).hexdigest(),
        bytes=len(content),
        step=state.step,
        frames=state.frames,
    )
    path = directory / name
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        durable_files.write(path, content)
        durable_files.write(path.with_suffix(".json"), manifest.model_dump_json(indent=2).encode())
    except OSError as error:
        raise CheckpointError(
            f"the checkpoint of step {state.step:,} could not be written ({error.strerror}): "
            f"free some space under {directory}; earlier checkpoints are intact",
            is_disk_full=durable_files.is_disk_full(error),
        ) from error
    return manifest


def read(path: Path) -> LoadedCheckpoint:
    """Read a checkpoint and check it against its manifest. Raise if it is damaged or its run had diverged."""
    manifest_path = path.with_suffix(".json")
    try:
        manifest = CheckpointFile.model_validate_json(manifest_path.read_bytes())
        content = path.read_bytes()
    except OSError as error:
        raise CheckpointError(f"{path.name} cannot be read: {error.strerror}") from error
    except ValidationError as error:
        raise CheckpointError(f"{path.name} cannot be read: its manifest, {manifest_path.name}, is damaged") from error
    if len(content) != manifest.bytes:
        raise CheckpointError(f"{path.name} has {len(content):,} bytes instead of {manifest.bytes:,}")
    if hashlib.sha256(content).hexdigest() != manifest.sha256:
        raise CheckpointError(f"{path.name} is damaged: its content does not match the hash in its manifest")
    try:
        state, config = _parse(content)
    except (SafetensorError, ValueError, KeyError, TypeError) as error:
        raise CheckpointError(
            f"{path.name} is not a checkpoint: its metadata is missing or damaged; choose another"
        ) from error
    if state.has_diverged:
        raise CheckpointError(
            f"{path.name} has weights that are NaN or infinite, because its run had diverged; choose an earlier one"
        )
    return LoadedCheckpoint(manifest, state, config)


def newest(directory: Path, warn: Callable[[str], None]) -> LoadedCheckpoint | None:
    """Read the newest undamaged checkpoint, and warn about each that was skipped."""
    problems = []
    for manifest in layout.manifests(directory):
        try:
            checkpoint = read(manifest.with_suffix(".safetensors"))
        except CheckpointError as error:
            problems.append(str(error))
            continue
        for problem in problems:
            warn(f"{problem}; continuing from step {checkpoint.state.step:,}")
        return checkpoint
    if problems:
        raise CheckpointError(
            f"no checkpoint can be read: {'; '.join(problems)}. "
            f"To start over, delete {directory / layout.CHECKPOINTS} or choose another directory"
        )
    return None


def prune(directory: Path, keep: Iterable[str]) -> None:
    """Delete all other checkpoints with their replays. The manifest goes first, because it vouches for the rest."""
    kept = {Path(name).stem for name in keep}
    folders = (directory / layout.CHECKPOINTS, directory / layout.REPLAYS)
    for manifest in layout.manifests(directory):
        if manifest.stem not in kept:
            manifest.unlink(missing_ok=True)
            for path in [path for folder in folders for path in folder.glob(f"{manifest.stem}.*")]:
                path.unlink(missing_ok=True)


def without_replay(directory: Path, names: Iterable[str]) -> list[CheckpointFile]:
    """Return the manifests of the named checkpoints that have no replay."""
    checkpoints = []
    for path in [directory / name for name in names]:
        if not (directory / layout.REPLAYS / path.with_suffix(".mp4").name).exists():
            with contextlib.suppress(OSError, ValidationError):  # without a readable manifest it cannot be played
                checkpoints.append(CheckpointFile.model_validate_json(path.with_suffix(".json").read_bytes()))
    return checkpoints


def tidy(directory: Path) -> None:
    """Delete files that a killed trainer left incomplete."""
    folder = directory / layout.CHECKPOINTS
    durable_files.remove_temporary(folder)
    for path in folder.glob("step-*.safetensors"):
        if not path.with_suffix(".json").exists():
            path.unlink()


def _parse(content: bytes) -> tuple[TrainingState, dict[str, JsonValue]]:
    header = json.loads(content[8 : 8 + int.from_bytes(content[:8], "little")])
    metadata = CheckpointMetadata.model_validate_json(header["__metadata__"][METADATA])
    state = TrainingState(metadata.step, metadata.frames, safetensors.torch.load(content), metadata.facts)
    return state, with_current_names(metadata.config)


RETURN_WINDOW = 100


class Retention(BaseModel):
    """The best checkpoint of a run. Each checkpoint stores it, so it survives a resume."""

    model_config = ConfigDict(frozen=True)

    best: str | None = None
    # Whether the window is full, and the mean. A mean of few episodes never beats one of a hundred.
    best_score: tuple[bool, float] | None = None

    @property
    def full_window_best(self) -> float | None:
        """The best mean of a full window; None before the first."""
        return self.best_score[1] if self.best_score and self.best_score[0] else None

    def after(self, file: str, returns: list[float]) -> "Retention":
        """Return the retention after a checkpoint whose last episodes had these returns."""
        mean = sum(returns) / len(returns) if returns else math.nan
        if not math.isnan(mean):
            score = (len(returns) >= RETURN_WINDOW, mean)
            if self.best_score is None or score >= self.best_score:
                return Retention(best=file, best_score=score)
        return self


def kept(directory: Path, last: int, most: int, best: str | None) -> list[str]:
    """Return the files to keep, oldest first, after the checkpoint of step `last`.

    Files of later steps are not kept: the run continued from an earlier step.
    """
    steps = [step for step in layout.saved_steps(directory) if step <= last]
    files = [layout.checkpoint_file(step) for step in steps]
    gone = prunable(steps, most, [place for place, file in enumerate(files) if file == best])
    return [file for place, file in enumerate(files) if place not in gone]


class RunFacts(BaseModel):
    """Facts that the run stores in a checkpoint in addition to the method's state."""

    model_config = ConfigDict(frozen=True, ser_json_inf_nan="strings")

    returns: tuple[float, ...] = ()
    retention: Retention = Retention()
