"""Where things lie in a run directory."""

from pathlib import Path

CONFIG = "config.json"
EVENTS = "events.jsonl"
REQUEST = "request.json"  # in place of the configuration, in a job's directory
STARTS = "starts.json"  # the start points of a job's evaluation
CHECKPOINTS = "checkpoints"
REPLAYS = "replays"


def checkpoint_file(step: int) -> str:
    """Name the file of a step's checkpoint; its manifest has the same name and ends in .json."""
    return f"{CHECKPOINTS}/step-{step:012d}.safetensors"


def replay_file(step: int) -> str:
    """Name the video played from a step's checkpoint; its poster has the same name and ends in .png."""
    return f"{REPLAYS}/step-{step:012d}.mp4"


def manifests(directory: Path) -> list[Path]:
    """List the manifests of all checkpoints, newest first."""
    return sorted((directory / CHECKPOINTS).glob("step-*.json"), reverse=True)


def saved_steps(directory: Path) -> list[int]:
    """Tell from the names alone which steps have a checkpoint, in ascending order."""
    return sorted(int(path.stem.removeprefix("step-")) for path in manifests(directory))


def newest_step(directory: Path) -> int:
    """Say from the names alone which step the newest checkpoint is of; 0 without one."""
    return max(saved_steps(directory), default=0)
