"""File names in a run directory."""

from pathlib import Path

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
