"""Event file of a run: one JSON object per line, written without buffering."""

import fcntl
import json
import os
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Self, TypeVar

from pydantic import BaseModel

from arcadia_workers.contract import events, layout
from arcadia_workers.trainer.errors import TrainerError
from arcadia_workers.trainer.run.durable_files import Reserve, is_disk_full

# Limit for events that wait in memory while the disk is full.
BACKLOG_LIMIT = 10_000
# Longer than any line, so that the tail of the file contains the last complete one.
TAIL_BYTES = 4_000_000
# Interval of looking for space while a run waits.
SPACE_SECONDS = 0.5

AnyEvent = TypeVar("AnyEvent", bound=BaseModel)


class DirectoryBusyError(TrainerError):
    """Another trainer is at work in the run directory."""


class Journal:
    """Writer of RUN_DIR/events.jsonl, which continues after the last complete line of an existing file."""

    def __init__(self, directory: Path) -> None:
        self.path = directory / layout.EVENTS
        self._file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(self._file)
            raise DirectoryBusyError(f"another trainer is at work in {directory}; stop it or choose another") from None
        self._size, self._seq = _cut_torn_line(self._file)
        self._backlog: deque[bytes] = deque()
        self._should_stop: Callable[[], bool] | None = None
        self.reserve = Reserve(directory)
        self._began, self._began_monotonic = time.time(), time.monotonic()

    def wait_for_space(self, should_stop: Callable[[], bool]) -> None:
        """From now on, an event waits for space on a full disk, unless a stop is requested. So training waits too."""
        self._should_stop = should_stop
        self.reserve.hold()

    def emit(self, kind: type[AnyEvent], *, step: int, frames: int, **fields: object) -> AnyEvent:
        """Append one event. While the disk is full, it waits for the next call, or for space."""
        now = self._training_time() if kind is events.Metrics else time.time()
        event = kind.model_validate({"seq": self._seq + 1, "time": now, "step": step, "frames": frames, **fields})
        self._seq += 1
        self._backlog.append(_line(event))
        problem = self._try_to_write()
        while problem is not None and is_disk_full(problem) and self._should_stop is not None:
            if self._should_stop():
                self.reserve.release()
                problem = self._try_to_write()
                break
            time.sleep(SPACE_SECONDS)
            problem = self._try_to_write()
        if problem is not None and len(self._backlog) > BACKLOG_LIMIT:
            raise problem
        return event

    def close(self) -> None:
        """Write waiting events, sync the file and close it."""
        self.reserve.release()
        try:
            self._write_backlog()
            os.fsync(self._file)
        finally:
            os.close(self._file)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _training_time(self) -> float:
        """Return the start time plus the elapsed time, which ignores clock changes and suspension."""
        return self._began + time.monotonic() - self._began_monotonic

    def _try_to_write(self) -> OSError | None:
        """Write waiting events. Return the error if some still wait."""
        try:
            self._write_backlog()
        except OSError as error:
            return error
        return None

    def _write_backlog(self) -> None:
        while self._backlog:
            line, written = self._backlog[0], 0
            try:
                while written < len(line):  # writing the rest raises the error that stopped the first part
                    written += os.write(self._file, line[written:])
            except OSError:
                os.ftruncate(self._file, self._size)
                raise
            self._size += len(line)
            self._backlog.popleft()


def _line(event: BaseModel) -> bytes:
    """Return an event as a line. Replace one that is too long to send by a warning."""
    line = event.model_dump_json().encode() + b"\n"
    if len(line) <= events.LONGEST_LINE:
        return line
    kept = event.model_dump(include={"seq", "time", "step", "frames"})
    kind = event.model_dump(include={"kind"})["kind"]
    message = f"An event ({kind}) was skipped: its {len(line):,} bytes exceed the limit."
    return events.Log(level="warning", message=message, **kept).model_dump_json().encode() + b"\n"


def _cut_torn_line(file: int) -> tuple[int, int]:
    """Truncate a last line that a crash left incomplete. Return the file's size and the last event's seq."""
    size = os.fstat(file).st_size
    start = max(0, size - TAIL_BYTES)
    tail = os.pread(file, TAIL_BYTES, start)
    while tail:
        tail = tail[: tail.rfind(b"\n") + 1]
        line = tail[tail[:-1].rfind(b"\n") + 1 :]
        try:
            seq = int(json.loads(line)["seq"])
        except ValueError:
            tail = tail[: -len(line)]
            continue
        os.ftruncate(file, start + len(tail))
        return start + len(tail), seq
    if start > 0:
        raise ValueError(f"the last {TAIL_BYTES} bytes of {layout.EVENTS} hold no event: the file is damaged")
    os.ftruncate(file, 0)
    return 0, 0
