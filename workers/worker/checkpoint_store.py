"""Cache of fetched checkpoints and start sets by hash. The least recently used are deleted first."""

import hashlib
import logging
import os
import secrets
import shutil
import threading
from collections.abc import Callable
from pathlib import Path

from workers.contract.paths import path_inside
from workers.worker.assignment import Assignment
from workers.worker.backend_client import BackendClient, Offered
from workers.worker.backoff import retry

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
