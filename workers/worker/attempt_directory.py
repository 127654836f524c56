"""One attempt's directory: WORKER_DIR/runs/RUN/attempt-N, or WORKER_DIR/jobs/JOB/attempt-N.

It is there from the claim until the backend has everything.
"""

import json
import logging
import re
import shutil
from collections.abc import Callable
from pathlib import Path, PurePosixPath

from workers.contract import layout
from workers.contract.events import CheckpointFile
from workers.contract.jobs import JobRequest
from workers.contract.live import LiveAddress
from workers.contract.paths import path_inside
from workers.contract.worker_api import RUN_PATH, Claim, JobClaim, OfferedCheckpoint
from workers.worker.answers import RefusedError
from workers.worker.assignment import INSTALLATION, Assignment
from workers.worker.backend_client import Offered
from workers.worker.checkpoint_store import CheckpointStore

log = logging.getLogger(__name__)


class NeedsMoreError(Exception):
    """A file that the assignment needs does not arrive; a run that began anew would throw away what it has learned."""


def remove(directory: Path) -> None:
    """Remove an attempt's directory, and the folder around it once that is empty."""
    shutil.rmtree(directory, ignore_errors=True)
    if directory.parent.exists() and not any(directory.parent.iterdir()):
        directory.parent.rmdir()


def prepare_run(
    directory: Path, assignment: Assignment, claim: Claim, store: CheckpointStore, gives_up: Callable[[], bool]
) -> None:
    """Make a fresh directory with the configuration and the newest checkpoint that arrives undamaged."""
    _make_anew(directory, assignment)
    (directory / layout.CONFIG).write_text(json.dumps(claim.config, indent=2))
    for offered in claim.checkpoints:
        if (problem := fetch(directory, assignment, offered, store, gives_up)) is None:
            return
        log.warning("%s: %s", assignment, problem)
    if claim.checkpoints:
        raise NeedsMoreError(
            f"None of the run's {len(claim.checkpoints)} latest checkpoints could be had undamaged, so it cannot go "
            "on. Launch it again to begin anew, or fork an earlier one."
        )


def prepare_job(
    directory: Path,
    assignment: Assignment,
    claim: JobClaim,
    store: CheckpointStore,
    live: LiveAddress | None,
    gives_up: Callable[[], bool],
) -> None:
    """Make a fresh directory with the request, and the checkpoint and the start points where it needs some."""
    _make_anew(directory, assignment)
    if claim.checkpoint and (problem := fetch(directory, assignment, claim.checkpoint, store, gives_up)) is not None:
        raise NeedsMoreError(f"{problem}. Choose another checkpoint.")
    if claim.starts is not None:
        target = directory / layout.STARTS
        if (
            problem := _problem_of(assignment, claim.starts, store, target, "the set of start points", gives_up)
        ) is not None:
            raise NeedsMoreError(f"{problem}. Import the set again.")
    step = claim.checkpoint.step if claim.checkpoint else None
    request = JobRequest(kind=claim.kind, step=step, parameters=claim.parameters, live=live)
    path = directory / layout.REQUEST
    path.touch(0o600)  # it may hold what lets the process in
    path.write_text(request.model_dump_json(indent=2))


def fetch(
    directory: Path,
    assignment: Assignment,
    offered: OfferedCheckpoint,
    store: CheckpointStore,
    gives_up: Callable[[], bool],
) -> str | None:
    """Fetch one checkpoint and write its manifest, or say why it cannot be used."""
    path = PurePosixPath(offered.file)
    if not re.fullmatch(RUN_PATH, offered.file) or str(path.parent) != layout.CHECKPOINTS:
        return f"the checkpoint's name is odd: {offered.file!r}"
    target = path_inside(directory, offered.file)
    if (problem := _problem_of(assignment, offered, store, target, path.name, gives_up)) is not None:
        return problem
    manifest = offered.model_dump(include=set(CheckpointFile.model_fields))
    target.with_suffix(".json").write_text(json.dumps(manifest))
    return None


def _problem_of(
    assignment: Assignment,
    offered: Offered,
    store: CheckpointStore,
    target: Path,
    name: str,
    gives_up: Callable[[], bool],
) -> str | None:
    """Fetch a file, or say why it cannot be used."""
    try:
        undamaged = store.fetch(assignment, offered, target, gives_up)
    except RefusedError as error:
        return f"{name} cannot be had from the backend ({error})"
    return None if undamaged else f"{name} is damaged: what the backend has is not what was saved"


def _make_anew(directory: Path, assignment: Assignment) -> None:
    if directory.exists():
        shutil.rmtree(directory)
    (directory / layout.CHECKPOINTS).mkdir(parents=True)
    (directory / INSTALLATION).write_text(assignment.installation or "")
