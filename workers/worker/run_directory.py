"""One attempt's directory: WORKER_DIR/runs/RUN/attempt-N, from the claim until the backend has everything."""

import json
import logging
import re
import shutil
from collections.abc import Callable
from pathlib import Path, PurePosixPath

from workers.contract import layout
from workers.contract.events import CheckpointFile
from workers.contract.worker_api import RUN_PATH, Claim, OfferedCheckpoint
from workers.worker.answers import RefusedError
from workers.worker.backend_client import BackendClient
from workers.worker.backoff import persist

# What follows the number was put aside, as another installation's run of the same number was trained here.
ATTEMPT = re.compile(r"^attempt-(\d+)(\.[0-9a-z]+)?$")
# Names the installation that the run is of.
INSTALLATION = "installation"

log = logging.getLogger(__name__)


class NoCheckpointError(Exception):
    """The run has checkpoints, but none of them arrives; to begin anew would throw away what it has learned."""


def attempt_directory(root: Path, run: int, attempt: int) -> Path:
    """Return where an attempt's files lie."""
    return root / "runs" / str(run) / f"attempt-{attempt}"


def leftovers(root: Path) -> list[tuple[int, int, Path]]:
    """Return the attempts that this worker had not finished when it last ended."""
    found = []
    for directory in sorted((root / "runs").glob("*/attempt-*")):
        match = ATTEMPT.match(directory.name)
        if match and directory.parent.name.isdigit():
            found.append((int(directory.parent.name), int(match[1]), directory))
    return found


def installation_of(directory: Path) -> str | None:
    """Return the installation that an attempt is of; None where an earlier version noted none."""
    try:
        return (directory / INSTALLATION).read_text() or None
    except FileNotFoundError:
        return None


def remove(directory: Path) -> None:
    """Remove an attempt's directory, and its run's folder once that is empty."""
    shutil.rmtree(directory, ignore_errors=True)
    if directory.parent.exists() and not any(directory.parent.iterdir()):
        directory.parent.rmdir()


def prepare(directory: Path, claim: Claim, client: BackendClient, gives_up: Callable[[], bool]) -> None:
    """Make a fresh directory with the configuration and the newest checkpoint that arrives undamaged."""
    if directory.exists():
        _make_way(directory, claim.installation)
    (directory / layout.CHECKPOINTS).mkdir(parents=True)
    (directory / INSTALLATION).write_text(claim.installation)
    (directory / layout.CONFIG).write_text(json.dumps(claim.config, indent=2))
    if claim.checkpoints and not any(fetch(directory, claim, each, client, gives_up) for each in claim.checkpoints):
        raise NoCheckpointError(
            f"None of the run's {len(claim.checkpoints)} latest checkpoints could be had undamaged, so it cannot go "
            "on. Launch it again to begin anew, or fork an earlier one."
        )


def _make_way(directory: Path, installation: str) -> None:
    """Put aside what is of another installation, which has not got all of it; remove what is of this one."""
    theirs = installation_of(directory)
    if theirs in (None, installation):
        shutil.rmtree(directory)
    else:
        directory.rename(directory.with_name(f"{directory.name}.{theirs}"))


def fetch(
    directory: Path, claim: Claim, offered: OfferedCheckpoint, client: BackendClient, gives_up: Callable[[], bool]
) -> bool:
    """Download one checkpoint, write its manifest, and say whether it arrived undamaged."""
    path = PurePosixPath(offered.file)
    if not re.fullmatch(RUN_PATH, offered.file) or str(path.parent) != layout.CHECKPOINTS:
        log.warning("Run %d: passing over a checkpoint with the odd name %r.", claim.run_id, offered.file)
        return False
    target = directory / path
    part = target.with_suffix(".part")
    try:
        undamaged = persist(lambda: client.download(claim.run_id, claim.attempt, offered, part), gives_up)
    except RefusedError as error:
        log.warning("Run %d: cannot have %s (%s); trying the one before it.", claim.run_id, path.name, error)
        return False
    if not undamaged:
        log.warning("Run %d: %s is damaged; trying the one before it.", claim.run_id, path.name)
        part.unlink()
        return False
    part.rename(target)
    manifest = offered.model_dump(include=set(CheckpointFile.model_fields))
    target.with_suffix(".json").write_text(json.dumps(manifest))
    return True
