"""One attempt's directory, WORKER_DIR/runs/RUN/attempt-N or WORKER_DIR/jobs/JOB/attempt-N, and its files.

It exists from the claim until the backend has stored everything.
"""

import hashlib
import json
import logging
import os
import re
import secrets
import shutil
import threading
from collections.abc import Callable, Sequence
from pathlib import Path, PurePosixPath

from arcadia_workers.contract import layout
from arcadia_workers.contract.events import CheckpointFile, RequestedChange, changes_adapter
from arcadia_workers.contract.jobs import JobRequest
from arcadia_workers.contract.layout import path_inside
from arcadia_workers.contract.live import LiveAddress
from arcadia_workers.contract.worker_api import RUN_PATH, Claim, JobClaim, OfferedCheckpoint
from arcadia_workers.worker.answers import RejectedError, retry
from arcadia_workers.worker.assignment import INSTALLATION, Assignment
from arcadia_workers.worker.backend_client import BackendClient, Offered

MAX_BYTES = 2_000_000_000

log = logging.getLogger(__name__)


class CheckpointStore:
    """The files WORKER_DIR/checkpoints/SHA256, shared by all assignments of this worker."""

    def __init__(self, client: BackendClient, directory: Path, max_bytes: int = MAX_BYTES) -> None:
        self._client, self._directory, self._max_bytes = client, directory, max_bytes
        self._lock = threading.Lock()
        for incomplete in directory.glob("*.part"):
            incomplete.unlink()

    def fetch(self, assignment: Assignment, offered: Offered, target: Path, is_canceled: Callable[[], bool]) -> bool:
        """Put a file at its target, downloading it if necessary. Return True if it is intact."""
        self._directory.mkdir(parents=True, exist_ok=True)
        kept = path_inside(self._directory, offered.sha256)
        # Retry if another thread has deleted the file to make room.
        while not self._link_cached(kept, offered, target):
            if not self._download(assignment, offered, kept, is_canceled):
                return False
        return True

    def _link_cached(self, kept: Path, offered: Offered, target: Path) -> bool:
        """Link a cached file to its target. Return False if it is not in the cache or damaged."""
        with self._lock:
            if not _holds(kept, offered.sha256):
                return False
            _link_or_copy(kept, target)
            self._trim(kept)
            return True

    def _download(self, assignment: Assignment, offered: Offered, kept: Path, is_canceled: Callable[[], bool]) -> bool:
        # A unique name, because another thread may fetch the same file.
        part = kept.with_name(f"{kept.name}.{secrets.token_hex(4)}.part")
        try:
            undamaged = retry(lambda: self._client.download(assignment, offered, part), is_canceled)
            if undamaged:
                part.replace(kept)
            return undamaged
        finally:
            part.unlink(missing_ok=True)

    def _trim(self, used: Path) -> None:
        """Mark a file as used, and delete the least recently used ones beyond the limit."""
        os.utime(used)
        files = [path for path in self._directory.iterdir() if path.suffix != ".part"]
        files.sort(key=lambda path: path.stat().st_mtime, reverse=True)
        room = self._max_bytes
        for path in files:
            room -= path.stat().st_size
            if room < 0 and path != used:
                log.info("Deleting %s from the cache.", path.name[:12])
                path.unlink(missing_ok=True)


def _holds(path: Path, sha256: str) -> bool:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest() == sha256
    except FileNotFoundError:
        return False


def _link_or_copy(source: Path, target: Path) -> None:
    """Create a hard link, or a copy if the file system has no links. Cached files never change."""
    target.unlink(missing_ok=True)
    try:
        target.hardlink_to(source)
    except FileNotFoundError:
        raise
    except OSError:
        shutil.copyfile(source, target)


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


class ChangeRequests:
    """The changes delivered to the trainer of an attempt."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._given: Sequence[RequestedChange] = ()
        self._is_failing = False

    def hand_over(self, changes: Sequence[RequestedChange]) -> None:
        """Write the changes to the attempt's directory if they are new. Repeat it if the disk is full."""
        if not changes or changes == self._given:
            return
        try:
            write_changes(self._directory, changes)
        except OSError as error:
            if not self._is_failing:
                log.warning("Cannot hand changes over to the trainer, retrying: %s", error)
            self._is_failing = True
        else:
            self._given, self._is_failing = changes, False
