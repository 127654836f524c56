"""One attempt's directory: WORKER_DIR/runs/RUN/attempt-N, or WORKER_DIR/jobs/JOB/attempt-N.

It exists from the claim until the backend has stored everything.
"""

import json
import logging
import re
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path, PurePosixPath

from workers.contract import layout
from workers.contract.changes import RequestedChange, changes_adapter
from workers.contract.events import CheckpointFile
from workers.contract.jobs import JobRequest
from workers.contract.live import LiveAddress
from workers.contract.paths import path_inside
from workers.contract.worker_api import RUN_PATH, Claim, JobClaim, OfferedCheckpoint
from workers.worker.answers import RejectedError
from workers.worker.assignment import INSTALLATION, Assignment
from workers.worker.backend_client import Offered
from workers.worker.checkpoint_store import CheckpointStore

log = logging.getLogger(__name__)


class MissingFileError(Exception):
    """A required file cannot be fetched. Starting a run over would lose its training."""


def remove(directory: Path) -> None:
    """Delete an attempt's directory, and its parent if that is empty."""
    shutil.rmtree(directory, ignore_errors=True)
    if directory.parent.exists() and not any(directory.parent.iterdir()):
        directory.parent.rmdir()


def prepare_run(
    directory: Path, assignment: Assignment, claim: Claim, store: CheckpointStore, is_canceled: Callable[[], bool]
) -> None:
    """Create the directory with the configuration and the newest valid checkpoint."""
    _create(directory, assignment)
    (directory / layout.CONFIG).write_text(json.dumps(claim.config, indent=2))
    if claim.changes:
        write_changes(directory, claim.changes)
    for offered in claim.checkpoints:
        if (problem := fetch(directory, assignment, offered, store, is_canceled)) is None:
            return
        log.warning("%s: %s", assignment, problem)
    if claim.checkpoints:
        raise MissingFileError(
            f"None of the run's {len(claim.checkpoints)} latest checkpoints could be fetched intact, so it cannot "
            "continue. Launch it again to start over, or fork an earlier checkpoint."
        )


def prepare_job(
    directory: Path,
    assignment: Assignment,
    claim: JobClaim,
    store: CheckpointStore,
    live: LiveAddress | None,
    is_canceled: Callable[[], bool],
) -> None:
    """Create the directory with the request, and the checkpoint and start set if the job needs them."""
    _create(directory, assignment)
    if claim.checkpoint and (problem := fetch(directory, assignment, claim.checkpoint, store, is_canceled)) is not None:
        raise MissingFileError(f"{problem}. Choose another checkpoint.")
    if claim.starts is not None:
        target = directory / layout.STARTS
        if (problem := _fetch_file(assignment, claim.starts, store, target, "the start set", is_canceled)) is not None:
            raise MissingFileError(f"{problem}. Import the set again.")
    step = claim.checkpoint.step if claim.checkpoint else None
    request = JobRequest(kind=claim.kind, step=step, parameters=claim.parameters, live=live)
    path = directory / layout.REQUEST
    path.touch(0o600)  # it may contain a ticket
    path.write_text(request.model_dump_json(indent=2))


def write_changes(directory: Path, changes: Sequence[RequestedChange]) -> None:
    """Replace the requested changes. The trainer never sees half of the file."""
    unfinished = directory / f".{layout.CHANGES}"
    unfinished.write_bytes(changes_adapter.dump_json([*changes]))
    unfinished.rename(directory / layout.CHANGES)


def fetch(
    directory: Path,
    assignment: Assignment,
    offered: OfferedCheckpoint,
    store: CheckpointStore,
    is_canceled: Callable[[], bool],
) -> str | None:
    """Fetch a checkpoint and write its manifest. Return why it cannot be used, or None."""
    path = PurePosixPath(offered.file)
    if not re.fullmatch(RUN_PATH, offered.file) or str(path.parent) != layout.CHECKPOINTS:
        return f"the checkpoint has an invalid name: {offered.file!r}"
    target = path_inside(directory, offered.file)
    if (problem := _fetch_file(assignment, offered, store, target, path.name, is_canceled)) is not None:
        return problem
    manifest = offered.model_dump(include=set(CheckpointFile.model_fields))
    target.with_suffix(".json").write_text(json.dumps(manifest))
    return None


def _fetch_file(
    assignment: Assignment,
    offered: Offered,
    store: CheckpointStore,
    target: Path,
    name: str,
    is_canceled: Callable[[], bool],
) -> str | None:
    """Fetch a file. Return why it cannot be used, or None."""
    try:
        undamaged = store.fetch(assignment, offered, target, is_canceled)
    except RejectedError as error:
        return f"The backend rejected the download of {name} ({error})"
    return None if undamaged else f"{name} is damaged: its content differs from what was saved"


def _create(directory: Path, assignment: Assignment) -> None:
    if directory.exists():
        shutil.rmtree(directory)
    (directory / layout.CHECKPOINTS).mkdir(parents=True)
    (directory / INSTALLATION).write_text(assignment.installation or "")
