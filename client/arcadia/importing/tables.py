"""Tables as text: CSV files, and the monitor files of Stable-Baselines3 and RL Zoo."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from arcadia.errors import ArcadiaError
from arcadia.importing.sending import DAMAGED, Event, SourceFile, SourceRun, describe_each, find_files, key_of, omission
from arcadia.reporting.attached import with_standard_names

MONITOR = "*monitor.csv"
STEP_COLUMNS = ("step", "global_step", "_step", "time/total_timesteps", "total_timesteps", "timesteps", "iteration")
TIME_COLUMNS = ("_timestamp", "wall_time", "timestamp")
# Rows of a file that are listed if they are left out.
MAX_LEFT_OUT = 20
BINARY_CHECK_BYTES = 4096


class CsvFile:
    """A table with a header. Each row is an event with the row's numbers."""

    def __init__(self, path: Path, step: str | None = None) -> None:
        self.path, self._step = path, step
        self._rows = self._left_out = 0
        self._time: float | None = None

    def read(self) -> Iterator[Event]:
        """Yield the new rows."""
        with self.path.open(newline="", encoding="utf-8-sig", errors="replace") as file:
            rows = csv.DictReader(file)
            step = self._step or default_step(rows.fieldnames or [])
            for number, row in enumerate(rows):
                if number >= self._rows:
                    self._rows = number + 1
                    if event := self._event(number, row, step):
                        yield event

    def _event(self, number: int, row: dict[str | None, Any], step: str | None) -> Event | None:
        if None in row or None in row.values():
            return self._omission(number, "it has not as many values as the header has columns")
        values = {name: value for name, text in row.items() if name and (value := _number(text)) is not None}
        at = values.pop(step, None) if step else number
        times = [values.pop(name) for name in TIME_COLUMNS if name in values]
        if not values:
            return None
        if at is None or not math.isfinite(at):
            return self._omission(number, f"it has no number in the step column {step}")
        if times and math.isfinite(times[0]):
            self._time = times[0]
        # Without a time, the row was logged when the row before was. The file's own time changes with each new row.
        time = {} if self._time is None else {"time": self._time}
        return {"kind": "metrics", **time, "step": int(at), "values": with_standard_names(values)}

    def _omission(self, number: int, reason: str) -> Event | None:
        """Return the event for a row that is left out, or None if the file has many of them."""
        self._left_out += 1
        if self._left_out > MAX_LEFT_OUT:
            return None
        more = " Later rows like this are left out too." if self._left_out == MAX_LEFT_OUT else ""
        return omission(None, f"Row {number + 1} of {self.path.name} was left out: {reason}.{more}")


class MonitorFile:
    """Monitor file of one of several environments. A row has the return, length and time of an episode."""

    def __init__(self, path: Path, environments: int) -> None:
        self.path, self._environments = path, environments
        self._rows = self._steps = 0

    def read(self) -> Iterator[Event]:
        """Yield the new episodes. The step counts all environments."""
        with self.path.open(newline="", errors="replace") as file:
            started = float(read_header(self.path, file.readline()).get("t_start", 0.0))
            for number, row in enumerate(csv.DictReader(file)):
                if number < self._rows:
                    continue
                episode_return, length, time = (_number(row.get(name)) for name in "rlt")
                if episode_return is None or length is None or not math.isfinite(episode_return + length):
                    continue
                self._rows = number + 1
                self._steps += int(length) * self._environments
                values = {"episode/return": episode_return, "episode/length": length}
                at = started + (time if time is not None and math.isfinite(time) else 0.0)
                yield {"kind": "metrics", "time": at, "step": self._steps, "values": values}


def read_header(path: Path, line: str) -> dict[str, Any]:
    """Return the first line of a monitor file."""
    try:
        return dict(json.loads(line.removeprefix("#")))
    except DAMAGED:
        raise ArcadiaError(f'{path} is not a monitor file: its first line is not #{{"t_start": …}}.') from None


def find_csv(path: Path, problems: list[str], step: str | None = None) -> list[SourceRun]:
    """Return the run of a CSV file, or those of the files in a folder. Raise ArcadiaError if one has no column `step`.

    Add a sentence to the problems for each file that cannot be read.
    """
    paths = find_files(path, "*.csv") if path.is_dir() else [path]
    files = [file for file in paths if not file.match(MONITOR)]
    if step:
        for file in files:
            _require_column(file, step)
    return describe_each(files, lambda file: _describe_csv(file, step), problems)


def default_step(columns: Sequence[str]) -> str | None:
    """Return the column that has the step, if one has a usual name."""
    return next((name for name in STEP_COLUMNS if name in columns), None)


def _require_column(path: Path, step: str) -> None:
    try:
        columns = _read_columns(path)
    except (*DAMAGED, ArcadiaError, OSError):
        # The description of the run reports this.
        return
    if step not in columns:
        raise ArcadiaError(
            f"{path} has no column {step}. Use one of its columns with --step: {', '.join(columns)}. "
            "Nothing was imported."
        )


def _describe_csv(path: Path, step: str | None) -> SourceRun:
    """Return the run of a CSV file, which is known by the file's path. Another column of steps makes another run."""
    columns = _read_columns(path)
    other = [step] if step and step != default_step(columns) else []
    if not any(event["kind"] == "metrics" for event in CsvFile(path, step).read()):
        raise ArcadiaError(f"{path} has no row with a step and numbers, so there is nothing to import.")
    return SourceRun(key_of("csv", str(path.absolute()), *other), _name(path), "CSV", [CsvFile(path, step)])


def _read_columns(path: Path) -> list[str]:
    """Return the names in the header. Raise ArcadiaError if the file is not a table as text."""
    with path.open("rb") as file:
        start = file.read(BINARY_CHECK_BYTES)
    if not start.strip():
        raise ArcadiaError(f"{path} is empty.")
    if b"\0" in start:
        raise ArcadiaError(f"{path} is not a text file in UTF-8. Save it as CSV in UTF-8.")
    with path.open(newline="", encoding="utf-8-sig", errors="replace") as text:
        return list(csv.DictReader(text).fieldnames or [])


def find_monitors(path: Path, problems: list[str]) -> list[SourceRun]:
    """Return the runs of monitor files: one for each folder, whose files are its environments.

    Add a sentence to the problems for each folder that cannot be read.
    """
    folders: dict[Path, list[Path]] = {}
    for file in find_files(path, MONITOR) if path.is_dir() else [path]:
        folders.setdefault(file.parent, []).append(file)
    return describe_each(folders, lambda folder: _describe_monitors(folder, folders[folder]), problems)


def _describe_monitors(folder: Path, paths: list[Path]) -> SourceRun:
    with paths[0].open(newline="", errors="replace") as file:
        first = file.readline().rstrip("\r\n")
    env = str(read_header(paths[0], first).get("env_id") or "")
    files: list[SourceFile] = [MonitorFile(each, len(paths)) for each in paths]
    return SourceRun(key_of("monitor", folder.name, first), _name(folder), "Monitor", files, {"env": env})


def _name(path: Path) -> str:
    return path.absolute().stem if path.suffix == ".csv" else path.absolute().name


def _number(text: Any) -> float | None:
    """Return a number, or None if the text is not one."""
    try:
        return float(text)
    except (TypeError, ValueError):
        return None
