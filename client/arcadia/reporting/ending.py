"""Runs that a script leaves open. They end with the script, and with its exception if it raised one."""

from __future__ import annotations

import atexit
import os
import sys
from types import TracebackType
from typing import Any, Protocol


class OpenRun(Protocol):
    """A run that can be ended."""

    def finish(self) -> Any: ...
    def fail(self, error: BaseException, /) -> Any: ...


_open_runs: list[OpenRun] = []
_error: BaseException | None = None
_is_watching = False


def end_with_script(run: OpenRun) -> None:
    """End a run when the script ends, unless it has ended before."""
    _open_runs.append(run)
    _watch()


def forget(run: OpenRun) -> None:
    """Remove a run that has ended."""
    if run in _open_runs:
        _open_runs.remove(run)


def _watch() -> None:
    """Watch for the script's end and its exception. Only `sys.excepthook` gets the exception."""
    global _is_watching
    if _is_watching:
        return
    _is_watching = True
    previous = sys.excepthook

    def note_error(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        global _error
        _error = error
        previous(kind, error, trace)

    sys.excepthook = note_error
    atexit.register(_end_open_runs, os.getpid())


def _end_open_runs(owner: int) -> None:
    if os.getpid() != owner:
        return
    for run in tuple(_open_runs):
        if _error is None:
            run.finish()
        else:
            run.fail(_error)
