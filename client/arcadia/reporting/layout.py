"""Files of a journal directory, which contains all logged data of one run."""

from __future__ import annotations

import contextlib
import json
import os
import re
import secrets
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from arcadia.errors import ArcadiaError

KEY = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


class WriterFiles:
    """The files of one writer, which is a process that logs."""

    def __init__(self, directory: Path, writer: str) -> None:
        self.writer = writer
        # The registration for the uploader, and facts that only the script knows.
        self.description = directory / f"{writer}.json"
        self.journal = directory / f"{writer}.jsonl"
        # Locked while the writer's process lives.
        self.lock = directory / f"{writer}.lock"
        # Becomes the first event.
        self.provenance = directory / f"{writer}.provenance"
        # Becomes the second event if the server has rejected fields of the registration.
        self.corrections = directory / f"{writer}.corrections"
        # A sentence for each event that the server has rejected, so that only the journal has it.
        self.left_out = directory / f"{writer}.left-out"
        # The last sequence number that the server has stored, for the user.
        self.acknowledged = directory / f"{writer}.acknowledged"

    def is_online(self) -> bool:
        """Return True if the writer was started with an uploader."""
        try:
            return bool(json.loads(self.description.read_text()).get("is_online"))
        except (OSError, ValueError):  # a disabled run
            return False

    def read_left_out(self) -> list[str]:
        """Return a sentence for each event that the server has rejected."""
        try:
            return self.left_out.read_text().splitlines()
        except FileNotFoundError:
            return []

    def journal_bytes(self) -> int:
        """Return the size of the journal, which is 0 before the first event."""
        try:
            return self.journal.stat().st_size
        except FileNotFoundError:
            return 0


class JournalDirectory:
    """The directory of one run: <folder>/<key>."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.files = path / "files"
        # Copies of the files of artifacts, by hash.
        self.artifacts = path / "artifacts"
        # Locked while an uploader works on the directory.
        self.lock = path / "lock"
        # Information from the server: the run's page, a request to stop, a problem.
        self.status = path / "status.json"
        # Exists once all journals are uploaded, with their size then.
        self.complete = path / "complete"
        self.uploader_log = path / "uploader.log"

    @property
    def key(self) -> str:
        """The run's key."""
        return self.path.name

    def create(self) -> None:
        """Create the directory. Only its owner may read it, because it contains command lines and diffs."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self.path.mkdir(mode=0o700, exist_ok=True)
            self.files.mkdir(exist_ok=True)
        except OSError as error:
            raise ArcadiaError(
                f"The journal cannot be written to {self.path} ({error.strerror}). "
                "Set ARCADIA_JOURNALS or directory= to a folder that this process may write to."
            ) from None

    def of_writer(self, writer: str) -> WriterFiles:
        """Return the files of a writer."""
        return WriterFiles(self.path, writer)

    def writers(self) -> list[WriterFiles]:
        """Return the files of all writers, in the order in which they started."""
        described = sorted(file.stem for file in self.path.glob("*.json") if file != self.status)
        return [self.of_writer(writer) for writer in described]

    def mark_complete(self, size: int) -> None:
        """Mark journals of this size as uploaded."""
        replace_file(self.complete, str(size))

    def is_complete(self) -> bool:
        """Return True if all journals are uploaded. A longer one may have been copied over one that was."""
        try:
            size = self.complete.read_text()
        except FileNotFoundError:
            return False
        # Earlier versions wrote an empty file.
        return not size or int(size) == sum(files.journal_bytes() for files in self.writers())

    def read_left_out(self) -> list[str]:
        """Return a sentence for each event that the server has rejected, of all writers."""
        return [sentence for files in self.writers() for sentence in files.read_left_out()]

    def remove_writer(self, writer: str) -> None:
        """Delete the files of a writer. Delete the directory if it has no other writer."""
        # First the description, without which the process that records the provenance deletes its own file.
        self.of_writer(writer).description.unlink(missing_ok=True)
        for file in self.path.glob(f"{writer}.*"):
            file.unlink(missing_ok=True)
        if not self.writers():
            shutil.rmtree(self.path, ignore_errors=True)

    def read_status(self) -> dict[str, Any]:
        """Return the content of the status file, or an empty dict without one."""
        try:
            return dict(json.loads(self.status.read_text()))
        except (OSError, ValueError):
            return {}


def page_url(status: Mapping[str, Any]) -> str | None:
    """Return the URL of the run's page from the content of a status file, or None before the run is registered."""
    return f"{status['url']}{status['path']}" if status.get("path") else None


def describe_conflicts(conflicts: int) -> str:
    """Return a warning about events that the server had stored with other contents."""
    return (
        f"The server already had other events under the numbers of {conflicts:,}. All are kept, so some steps may have "
        "two points. Two copies of this journal were probably uploaded; see the run's log."
    )


def describe_left_out(directory: JournalDirectory) -> str:
    """Return where the events are that the server has rejected."""
    return f"The only copy of what was left out is in {directory.path}. `arcadia sync --clean` keeps it."


def journals_folder(directory: str | os.PathLike[str] | None = None) -> Path:
    """Return the folder of all journals: the given one, ARCADIA_JOURNALS, or one in the user's data folder."""
    if folder := directory or os.environ.get("ARCADIA_JOURNALS"):
        return Path(folder).expanduser().absolute()
    data = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(data).absolute() / "arcadia" / "journals"


def new_key() -> str:
    """Return a key for a new run."""
    return secrets.token_hex(6)


def new_writer() -> str:
    """Return an id for a writer. Ids sort in the order in which the writers started."""
    now = time.time()
    return f"{time.strftime('%Y%m%dT%H%M%S', time.gmtime(now))}.{int(now % 1 * 1e6):06}-{secrets.token_hex(3)}"


def check_key(key: str) -> str:
    """Return the key. Raise ArcadiaError if it cannot be one."""
    if not KEY.fullmatch(key):
        raise ArcadiaError(
            f"{key!r} cannot be the id of a run. Use 1 to 64 letters, digits, dots, dashes and underscores, "
            "beginning with a letter or a digit."
        )
    return key


def replace_status(file: Path, content: Mapping[str, Any] | str) -> None:
    """Replace a file that only informs. Print an error, because a full disk must not stop an upload."""
    try:
        replace_file(file, content)
    except OSError as error:
        print(f"{file} cannot be written: {error}", file=sys.stderr, flush=True)


def replace_file(file: Path, content: Mapping[str, Any] | str | bytes) -> None:
    """Replace a file atomically."""
    if isinstance(content, Mapping):
        content = json.dumps(content, allow_nan=False)
    new = file.with_name(f".{file.name}.{os.getpid()}")
    try:
        new.write_bytes(content.encode() if isinstance(content, str) else content)
        new.replace(file)
    except OSError:
        with contextlib.suppress(OSError):
            new.unlink(missing_ok=True)
        raise


def start_process(
    module: str, directory: JournalDirectory, *arguments: str, environment: Mapping[str, str] | None = None
) -> subprocess.Popen[bytes]:
    """Start a module of this package for a journal directory. Its output goes to the directory's log.

    It has its own session, so Ctrl-C in a terminal does not reach it. Its input ends with this process.
    """
    variables = {**os.environ, **(environment or {}), "PYTHONPATH": _python_path()}
    with directory.uploader_log.open("ab") as log:
        return subprocess.Popen(
            [sys.executable, "-m", module, str(directory.path), *arguments],
            # Modules in the script's folder could hide those of Python.
            cwd=directory.path,
            env=variables,
            stdin=subprocess.PIPE,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )


def let_continue(process: subprocess.Popen[bytes]) -> None:
    """Let a process outlive this one, without Popen's warning."""
    if process.stdin is not None:
        process.stdin.close()
    if process.poll() is None:
        process.returncode = 0


def _python_path() -> str:
    """Return PYTHONPATH with absolute folders. It includes this package, which the script may find another way."""
    folders = [str(Path(__file__).parents[2])]
    folders += [str(Path(each).absolute()) for each in os.environ.get("PYTHONPATH", "").split(os.pathsep) if each]
    return os.pathsep.join(folders)
