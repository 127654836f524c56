"""The run of `arcadia run`, to which all Python processes of the command log, and the standard names of metrics."""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from arcadia.reporting.layout import JournalDirectory
from arcadia.reporting.run import ReportedRun, attach

_printed: set[str] = set()


def warn_once(topic: str, message: str) -> None:
    """Print a warning once per topic. `arcadia run` adds it to the run's log."""
    if topic not in _printed:
        _printed.add(topic)
        print(f"arcadia: {message}", file=sys.stderr, flush=True)


@contextlib.contextmanager
def not_stopping(what: str) -> Iterator[None]:
    """Print an error of the recording instead of raising it, because recording must never stop a script."""
    try:
        yield
    except Exception as error:  # a value of the script may raise any error
        warn_once(f"error of {what}", f"{what} was not recorded ({type(error).__name__}: {error}).")


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


STANDARD_NAMES = {
    "charts/episodic_return": "episode/return",  # CleanRL
    "charts/episodic_length": "episode/length",
    "rollout/ep_rew_mean": "episode/mean_return",  # Stable-Baselines3 logs no single episodes
    "rollout/ep_len_mean": "episode/mean_length",
}

WANDB_LEVELS = {"INFO": "info", "WARN": "warning", "ERROR": "error"}


def with_standard_names(values: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the values. Add an episode's return or length, or their means, under Arcadia's names."""
    if STANDARD_NAMES.keys().isdisjoint(values):
        return values
    return {**{STANDARD_NAMES[name]: value for name, value in values.items() if name in STANDARD_NAMES}, **values}
