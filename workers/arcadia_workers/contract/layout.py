"""File names in a run directory, paths inside a folder, the data folder, log lines, and which checkpoints are kept."""

import logging
import os
import sys
from collections.abc import Collection, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from pydantic import BaseModel, JsonValue

from arcadia_workers.contract.values import Count

CONFIG = "config.json"
CHANGES = "changes.json"  # requested changes of the configuration
EVENTS = "events.jsonl"
PROVENANCE = "provenance.json"
REQUEST = "request.json"  # replaces the configuration in the directory of a job
STARTS = "starts.json"  # the start points of an evaluation
CHECKPOINTS = "checkpoints"
REPLAYS = "replays"


def checkpoint_file(step: int) -> str:
    """Return the file of a step's checkpoint. Its manifest has the same name with .json."""
    return f"{CHECKPOINTS}/step-{step:012d}.safetensors"


def replay_file(step: int) -> str:
    """Return the video of a step's replay. Its poster has the same name with .png."""
    return f"{REPLAYS}/step-{step:012d}.mp4"


def manifests(directory: Path) -> list[Path]:
    """Return the manifests of all checkpoints, newest first."""
    return sorted((directory / CHECKPOINTS).glob("step-*.json"), reverse=True)


def saved_steps(directory: Path) -> list[int]:
    """Return the steps that have a checkpoint, in ascending order."""
    return sorted(int(path.stem.removeprefix("step-")) for path in manifests(directory))


def newest_step(directory: Path) -> int:
    """Return the step of the newest checkpoint, or 0 without one."""
    return max(saved_steps(directory), default=0)


class OutsideFolderError(ValueError):
    """A stored name points outside its folder."""


def path_inside(root: Path, stored: str) -> Path:
    """Return root / stored. Raise OutsideFolderError if that is not below root, even through a symlink."""
    name = PurePosixPath(stored)
    path = root / name
    try:
        leaves = name.is_absolute() or ".." in name.parts or not name.parts or "\0" in stored
        leaves = leaves or not path.resolve().is_relative_to(root.resolve())
    except (ValueError, OSError, RuntimeError):  # such as a loop of symlinks
        leaves = True
    if leaves:
        raise OutsideFolderError(f"The stored name {stored[:255]!r} points outside its folder.")
    return path


# In a checkout, the package is in the folder workers/.
IS_WHEEL = Path(__file__).parents[2].name != "workers"


def default_data_dir(is_wheel: bool = IS_WHEEL) -> Path:
    """Return the data folder: `data` in a checkout, and one in the user's home for an installed wheel."""
    if not is_wheel:
        return Path("data")
    if given := os.environ.get("XDG_DATA_HOME"):
        return Path(given) / "arcadia"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support" / "arcadia"
    return Path.home() / ".local" / "share" / "arcadia"


def config_dir() -> Path:
    """Return the folder of the user's settings."""
    return Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")


FORMAT = "%(asctime)s %(levelname)-7s %(message)s"
TIME_FORMAT = "%Y-%m-%d %H:%M:%S"


def log_to_standard_output() -> None:
    """Write log lines with their time and level to standard output."""
    logging.basicConfig(level=logging.INFO, format=FORMAT, datefmt=TIME_FORMAT, stream=sys.stdout)


# Default limit for all replays of a run.
DEFAULT_REPLAYS_MEGABYTES = 500
DEFAULT_KEPT = 20
# The first, the best and the last checkpoint.
MIN_KEPT = 3


def prunable(steps: Sequence[int], most: int, spared: Collection[int] = ()) -> list[int]:
    """Return the indices of the checkpoints to delete so that at most `most` stay. Steps are ascending.

    Delete the checkpoint whose neighbors are closest to each other, and repeat. Keep the first, the last and the spared
    ones. This way the checkpoints always cover training evenly.
    """
    left = list(range(len(steps)))
    while len(left) > most:
        inner = [at for at in range(1, len(left) - 1) if left[at] not in spared]
        if not inner:
            break
        del left[min(inner, key=lambda at: steps[left[at + 1]] - steps[left[at - 1]])]
    return [place for place in range(len(steps)) if place not in left]


# The key in the file's metadata. safetensors writes several keys in any order, and equal states must make equal files.
METADATA = "arcadia"
# The fact that names the method of an agent that another library trained. Its configuration only describes the network.
TRAINED_BY = "trained_by"
# The fact that a checkpoint has only the weights of its network. A training that continues from it starts its optimizer
# anew.
WEIGHTS_ONLY = "weights_only"


class CheckpointMetadata(BaseModel):
    """Metadata in a checkpoint file. Older files may lack the versions."""

    step: Count
    frames: Count
    facts: dict[str, JsonValue]
    config: dict[str, JsonValue]
    versions: dict[str, str] = {}


def algorithm_of(facts: dict[str, JsonValue], config: dict[str, Any]) -> str:
    """Return the method that trained a checkpoint."""
    return str(facts.get(TRAINED_BY) or config["algorithm"])
