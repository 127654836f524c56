"""One attempt's directory: WORKER_DIR/runs/RUN/attempt-N, from the claim until the backend has everything."""

import json
import logging
import re
import shutil
from collections.abc import Callable
from pathlib import Path, PurePosixPath

from workers.backend_client import BackendClient, Claim, OfferedCheckpoint, RefusedError
from workers.backoff import persist

ATTEMPT = re.compile(r"^attempt-(\d+)$")

log = logging.getLogger(__name__)


def attempt_directory(root: Path, run: int, attempt: int) -> Path:
    """Return where an attempt's files lie."""
    return root / "runs" / str(run) / f"attempt-{attempt}"


def leftovers(root: Path) -> list[tuple[int, int, Path]]:
    """Return the attempts that an earlier life of this worker did not bring to an end."""
    found = []
    for directory in sorted((root / "runs").glob("*/attempt-*")):
        match = ATTEMPT.match(directory.name)
        if match and directory.parent.name.isdigit():
            found.append((int(directory.parent.name), int(match[1]), directory))
    return found


def remove(directory: Path) -> None:
    """Remove an attempt that the backend has all of, and its run's folder once that is empty."""
    shutil.rmtree(directory, ignore_errors=True)
    if directory.parent.exists() and not any(directory.parent.iterdir()):
        directory.parent.rmdir()


def prepare(directory: Path, claim: Claim, client: BackendClient, gives_up: Callable[[], bool]) -> None:
    """Lay out a fresh directory with the configuration and the newest sound checkpoint on offer."""
    if directory.exists():
        shutil.rmtree(directory)
    (directory / "checkpoints").mkdir(parents=True)
    (directory / "config.json").write_text(json.dumps(claim.config, indent=2))
    for offered in claim.checkpoints:
        if fetch(directory, claim, offered, client, gives_up):
            break


def fetch(
    directory: Path, claim: Claim, offered: OfferedCheckpoint, client: BackendClient, gives_up: Callable[[], bool]
) -> bool:
    """Download one checkpoint with its manifest and say whether it arrived sound."""
    path = PurePosixPath(offered.file)
    if len(path.parts) != 2 or path.parts[0] != "checkpoints" or ".." in path.parts:
        log.warning("Run %d: passing over a checkpoint with the odd name %r.", claim.run_id, offered.file)
        return False
    target = directory / path
    part = target.with_suffix(".part")
    try:
        sha256 = persist(lambda: client.download(claim.run_id, claim.attempt, offered.id, part), gives_up)
    except RefusedError as error:
        log.warning("Run %d: cannot have %s (%s); trying the one before it.", claim.run_id, path.name, error)
        return False
    if sha256 != offered.sha256:
        log.warning("Run %d: %s is damaged; trying the one before it.", claim.run_id, path.name)
        part.unlink()
        return False
    part.rename(target)
    manifest = offered.model_dump(include={"file", "sha256", "bytes", "step", "frames"})
    target.with_suffix(".json").write_text(json.dumps(manifest))
    return True
