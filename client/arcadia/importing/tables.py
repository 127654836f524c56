"""Tables as text: CSV files, and the monitor files of Stable-Baselines3 and RL Zoo."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from arcadia.errors import ArcadiaError
from arcadia.importing.source import DAMAGED, Event, SourceFile, SourceRun, describe_each, find_files, key_of
from arcadia.integrations.standard_names import with_standard_names

MONITOR = "*monitor.csv"
STEP_COLUMNS = ("step", "global_step", "_step", "time/total_timesteps", "total_timesteps", "timesteps", "iteration")
TIME_COLUMNS = ("_timestamp", "wall_time", "timestamp")


class CsvFile:
    """A table with a header. Each row is an event with the row's numbers."""

    def __init__(self, path: Path, step: str | None = None) -> None:
        self.path, self._step = path, step
        self._rows = 0

    def read(self) -> Iterator[Event]:
        """Yield the new rows."""
        with self.path.open(newline="", encoding="utf-8-sig", errors="replace") as file:
            rows = csv.DictReader(file)
            columns = rows.fieldnames or []
            step = self._step or next((name for name in STEP_COLUMNS if name in columns), None)
            if step and step not in columns:
                raise ArcadiaError(f"{self.path} has no column {step}. It has: {', '.join(columns)}")
            for number, row in enumerate(rows):
                if number >= self._rows:
                    self._rows = number + 1
                    if event := self._event(number, row, step):
                        yield event

    def _event(self, number: int, row: dict[str, Any], step: str | None) -> Event | None:
        values = {name: value for name, text in row.items() if (value := _number(text)) is not None}
        at = values.pop(step, None) if step else number
        times = [values.pop(name) for name in TIME_COLUMNS if name in values]
        if at is None or not math.isfinite(at) or not values:
            return None
        # Without a time, the server uses that of the import. The file's own time changes with each new row.
        time = {"time": times[0]} if times and math.isfinite(times[0]) else {}
        return {"kind": "metrics", **time, "step": int(at), "values": with_standard_names(values)}


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


def find_csv(path: Path, step: str | None = None) -> list[SourceRun]:
    """Return the run of a CSV file, or those of the files in a folder. A run is known by its file's path."""
    files = find_files(path, "*.csv") if path.is_dir() else [path]
    return [
        SourceRun(key_of("csv", str(file.absolute())), _name(file), "CSV", [CsvFile(file, step)])
        for file in files
        if not file.match(MONITOR)
    ]


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
