"""The uploader: a process that uploads one journal directory and records system metrics, and `arcadia sync`.

    python -m arcadia.reporting.uploader DIRECTORY

ARCADIA_URL and ARCADIA_TOKEN select the server.
"""

from __future__ import annotations

import json
import os
import select
import shutil
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from arcadia.errors import ArcadiaError
from arcadia.reporting.connection import Connection, RejectedError, UnavailableError, retry
from arcadia.reporting.journal import exclusive
from arcadia.reporting.layout import JournalDirectory, journals_folder
from arcadia.reporting.system_metrics import SystemRecorder
from arcadia.reporting.upload import Upload
from arcadia.reporting.uploader_process import REJECTED
from arcadia.settings import resolve_token, resolve_url


class _Pauses:
    """Pauses that end early when the script ends, which closes this process's input."""

    def __init__(self) -> None:
        self._is_open = True

    def wait(self, seconds: float) -> None:
        """Wait."""
        if not self._is_open:
            time.sleep(seconds)
        elif select.select([sys.stdin], [], [], seconds)[0]:
            self._is_open = False


def main() -> int:
    """Upload the directory of the command line."""
    directory = JournalDirectory(Path(sys.argv[1]))
    url = resolve_url()
    # Wait, because another uploader may be about to end. If it continues, it also uploads this writer's events.
    with exclusive(directory.lock, wait=True):
        directory.complete.unlink(missing_ok=True)
        SystemRecorder(directory).start()
        try:
            Upload(directory, Connection(url, resolve_token(url))).run(_Pauses().wait)
        except RejectedError as error:
            print(f"{time.strftime('%Y-%m-%d %H:%M:%S')} {error}", file=sys.stderr, flush=True)
            return REJECTED
    return 0


@dataclass(frozen=True)
class SyncResult:
    """Result of the upload of a journal directory. `problem` is None if it is uploaded."""

    directory: JournalDirectory
    page: str | None = None
    problem: str | None = None
    # The script still logs, so more events will follow.
    is_running: bool = False
    # Events that the server has stored although it had others under their numbers.
    conflicts: int = 0
    # A sentence for each field or event that the server has rejected.
    left_out: Sequence[str] = ()


def find_journals(folders: Sequence[Path]) -> list[JournalDirectory]:
    """Return the journals to upload: the folders themselves or those in them. The default is all of this user."""
    journals = []
    for folder in folders or [journals_folder()]:
        journal = JournalDirectory(folder.expanduser().absolute())
        if journal.writers():
            journals.append(journal)
        elif folder.is_dir():
            inner = map(JournalDirectory, sorted(each for each in journal.path.iterdir() if each.is_dir()))
            journals += [each for each in inner if each.writers() and not each.is_complete()]
        elif folders:
            raise ArcadiaError(f"{folder} does not exist. Use the folder of a run's journal, or one with such folders.")
    return journals


def sync(directory: JournalDirectory, url: str | None = None, token: str | None = None) -> SyncResult:
    """Upload the events that a journal directory has now."""
    try:
        return _upload(directory, url, token)
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        return SyncResult(directory, problem=f"The journal is damaged ({type(error).__name__}: {error}).")


def _upload(directory: JournalDirectory, url: str | None, token: str | None) -> SyncResult:
    server = resolve_url(url or os.environ.get("ARCADIA_URL") or _intended_url(directory))
    upload = Upload(directory, Connection(server, resolve_token(server, token)))
    with exclusive(directory.lock, wait=False) as is_free:
        if not is_free:
            return SyncResult(directory, problem="Another process uploads it.", is_running=True)
        try:
            retry(upload.send)
        except (UnavailableError, RejectedError, OSError) as error:
            return SyncResult(directory, problem=str(error))
    page = f"{server}{upload.page}"
    is_running = not upload.is_complete()
    return SyncResult(directory, page, None, is_running, upload.conflicts, upload.left_out)


def clean(folders: Sequence[Path]) -> tuple[list[JournalDirectory], list[JournalDirectory]]:
    """Delete the journals that are uploaded. Return them, and those that are kept with what the server has rejected."""
    deleted, kept = list[JournalDirectory](), list[JournalDirectory]()
    for folder in folders or [journals_folder()]:
        inner = sorted(each for each in folder.iterdir() if each.is_dir()) if folder.is_dir() else []
        for journal in map(JournalDirectory, [folder, *inner]):
            if not (journal.writers() and journal.is_complete()):
                continue
            if journal.read_left_out():
                kept.append(journal)
                continue
            with exclusive(journal.lock, wait=False) as is_free:
                if is_free:
                    shutil.rmtree(journal.path)
                    deleted.append(journal)
    return deleted, kept


def _intended_url(directory: JournalDirectory) -> str | None:
    """Return the server that the last script of the run was started for, if it was given one."""
    url = json.loads(directory.writers()[-1].description.read_text()).get("url")
    return str(url) if url else None


if __name__ == "__main__":
    sys.exit(main())
