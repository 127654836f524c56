"""Checkpoints and start points that this worker has fetched, by their hash; the least recently used go first."""

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
from workers.worker.backoff import persist

MOST_BYTES = 2_000_000_000

log = logging.getLogger(__name__)


class CheckpointStore:
    """WORKER_DIR/checkpoints/SHA256, shared by all that this worker has in hand."""

    def __init__(self, client: BackendClient, directory: Path, most_bytes: int = MOST_BYTES) -> None:
        self._client, self._directory, self._most_bytes = client, directory, most_bytes
        self._lock = threading.Lock()
        for torn in directory.glob("*.part"):
            torn.unlink()

    def fetch(self, assignment: Assignment, offered: Offered, target: Path, gives_up: Callable[[], bool]) -> bool:
        """Put a file at its place, and say whether it is undamaged; download it unless it is here."""
        self._directory.mkdir(parents=True, exist_ok=True)
        kept = path_inside(self._directory, offered.sha256)
        # Again where another thread has removed it meanwhile, to have room for its own.
        while not self._hand_out(kept, offered, target):
            if not self._download(assignment, offered, kept, gives_up):
                return False
        return True

    def _hand_out(self, kept: Path, offered: Offered, target: Path) -> bool:
        """Put a file at its place, and say whether it is here undamaged."""
        with self._lock:
            if not _holds(kept, offered.sha256):
                return False
            _link_or_copy(kept, target)
            self._trim(kept)
            return True

    def _download(self, assignment: Assignment, offered: Offered, kept: Path, gives_up: Callable[[], bool]) -> bool:
        # A name that no other thread has, which may fetch the same.
        part = kept.with_name(f"{kept.name}.{secrets.token_hex(4)}.part")
        try:
            undamaged = persist(lambda: self._client.download(assignment, offered, part), gives_up)
            if undamaged:
                part.replace(kept)
            return undamaged
        finally:
            part.unlink(missing_ok=True)

    def _trim(self, used: Path) -> None:
        """Note that a file was used, and remove others, the least recently used first, while they are too many."""
        os.utime(used)
        files = [path for path in self._directory.iterdir() if path.suffix != ".part"]
        files.sort(key=lambda path: path.stat().st_mtime, reverse=True)
        room = self._most_bytes
        for path in files:
            room -= path.stat().st_size
            if room < 0 and path != used:
                log.info("Removing %s, which was not used lately.", path.name[:12])
                path.unlink(missing_ok=True)


def _holds(path: Path, sha256: str) -> bool:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest() == sha256
    except FileNotFoundError:
        return False


def _link_or_copy(source: Path, target: Path) -> None:
    """Link, or copy where the file system has no links; what lies here is never changed in place."""
    target.unlink(missing_ok=True)
    try:
        target.hardlink_to(source)
    except FileNotFoundError:
        raise
    except OSError:
        shutil.copyfile(source, target)
