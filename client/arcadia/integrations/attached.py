"""The run of `arcadia run`, to which all Python processes of the command log."""

from __future__ import annotations

import contextlib
import json
import os
from pathlib import Path

from arcadia.reporting.layout import JournalDirectory
from arcadia.reporting.run import ReportedRun, attach

JOURNAL_VARIABLE, WRITER_VARIABLE = "ARCADIA_RUN_JOURNAL", "ARCADIA_RUN_WRITER"

_run: ReportedRun | None = None


def attached_run() -> ReportedRun | None:
    """Return the run of the command that this process belongs to, or None."""
    global _run
    folder, writer = os.environ.get(JOURNAL_VARIABLE), os.environ.get(WRITER_VARIABLE)
    if _run is None and folder and writer and Path(folder).is_dir():
        _run = attach(Path(folder), writer, {}, -1, False)
    return _run


def describe_attached(run: ReportedRun, **fields: str | None) -> None:
    """Describe the command's run as `ReportedRun.describe` does, except for what was given to `arcadia run`."""
    given: list[str] = []
    with contextlib.suppress(FileNotFoundError):  # a disabled run
        file = JournalDirectory(run.directory).of_writer(run.writer).description
        given = json.loads(file.read_text()).get("given", [])
    run.describe(**{field: value for field, value in fields.items() if field not in given})


def attached_or_disabled() -> ReportedRun:
    """Return the run of the command. If that is disabled, return a run that discards everything."""
    return attached_run() or attach(Path("disabled"), "disabled", {}, -1, True)
