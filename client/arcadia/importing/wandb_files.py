"""Offline runs of wandb: `wandb/offline-run-*/run-ID.wandb` and the files beside it."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from arcadia.errors import ArcadiaError
from arcadia.importing import wire
from arcadia.importing.sending import DAMAGED, Event, SourceRun, describe_each, find_files, is_inside, key_of, omission
from arcadia.reporting.attached import WANDB_LEVELS, with_standard_names
from arcadia.reporting.media import MAX_CELLS, Table
from arcadia.reporting.values import flatten, typed

# The file is a LevelDB log: blocks with records, which may be split into several parts.
HEADER = b":W&B"
BLOCK_BYTES, FILE_HEADER_BYTES, PART_HEADER_BYTES = 32_768, 7, 7
FULL, FIRST, LAST = 1, 2, 4


class WandbFile:
    """A file with the records of a run."""

    def __init__(self, path: Path) -> None:
        self.path = path
        # The server uses the time of the import until a record has one.
        self._time: float | None = None
        # The last values and the last step of the history.
        self._last: dict[str, Any] = {}
        self._step = 0

    def read(self) -> Iterator[Event]:
        """Yield the events of all records."""
        for data in read_records(self.path):
            record = wire.message(data)
            for history in record[2]:
                yield from self._history(wire.message(history))
            for output in record[13]:
                if line := wire.text(wire.message(output)[3]).rstrip():
                    yield {"kind": "log", "time": self._time, "level": "info", "message": line}
            for run in record[17]:
                yield from self._run(wire.message(run))
            for config in record[5]:
                yield {"kind": "config", "time": self._time, "values": typed(_items(wire.message(config)[1]))}
            for summary in record[3]:
                yield from self._summary(wire.message(summary))
            for each in record[10]:
                alert = wire.message(each)
                level = WANDB_LEVELS.get(wire.text(alert[3]), "info")
                words = {"title": wire.text(alert[1]), "text": wire.text(alert[2])}
                yield {"kind": "alert", "time": self._time, "level": level, **words}

    def _run(self, run: Any) -> Iterator[Event]:
        config = {name: value for each in run[4] for name, value in _items(wire.message(each)[1]).items()}
        config |= {name: text for name, number in (("group", 6), ("job_type", 7)) if (text := wire.text(run[number]))}
        if config:
            yield {"kind": "config", "time": self._time, "values": typed(config)}
        if tags := [tag.decode(errors="replace") for tag in run[10]]:
            yield {"kind": "tags", "time": self._time, "add": tags, "remove": []}
        if notes := wire.text(run[9]):
            yield {"kind": "notes", "time": self._time, "text": notes}

    def _summary(self, summary: Any) -> Iterator[Event]:
        """Yield what the script has set in the summary. wandb itself copies the last values of the history there."""
        values = {name: value for name, value in flatten(_items(summary[1])) if not name.startswith("_")}
        set_by_script = {name: value for name, value in values.items() if self._last.get(name) != value}
        if numbers := {f"summary/{name}": value for name, value in set_by_script.items() if _is_number(value)}:
            yield {"kind": "metrics", "time": self._time, "step": self._step, "values": numbers}
        for name, value in set_by_script.items():
            if isinstance(value, str) and not _is_number(value):
                yield {"kind": "log", "time": self._time, "level": "info", "message": f"summary/{name}: {value}"}

    def _history(self, history: Any) -> Iterator[Event]:
        values = _items(history[1])
        step = int(values.pop("_step", 0) or 0)
        self._time = float(values.pop("_timestamp", 0) or 0) or self._time
        values.pop("_runtime", None)
        media = {name: value for name, value in values.items() if isinstance(value, dict) and "_type" in value}
        for name in media:
            del values[name]
        self._step = max(self._step, step)
        numbers = {name: value for name, value in flatten(values) if _is_number(value)}
        self._last |= numbers
        if numbers:
            yield {"kind": "metrics", "time": self._time, "step": step, "values": with_standard_names(numbers)}
        for name, value in media.items():
            try:
                events = [{"kind": "media", "step": step, "name": name, **item} for item in self._media(value)]
                reason = "its file is missing, or its kind is not supported"
            except (*DAMAGED, ArcadiaError, OSError) as error:
                events, reason = [], f"{type(error).__name__}: {error}"
            if not events:
                yield omission(self._time, f"{name} at step {step} was left out ({reason}).")
            for event in events:
                yield {"time": self._time, **event}

    def _media(self, value: dict[str, Any]) -> Iterator[Event]:
        """Yield images, videos, histograms and tables. Other media are left out."""
        kind = value["_type"]
        if kind == "histogram":
            counts = value.get("values") or value.get("count") or []
            packed = value.get("packedBins")
            edges = value.get("bins") or (
                [packed["min"] + packed["size"] * each for each in range(len(counts) + 1)] if packed else []
            )
            yield {"media": "histogram", "data": {"edges": edges, "counts": counts}}
        elif kind == "table-file" and (file := self._find_file(value["path"])):
            table = json.loads(file.read_text())
            rows = table["data"][: MAX_CELLS // max(1, len(table["columns"]))]
            yield {"media": "table", "data": Table(table["columns"], rows).data()}
        elif kind in ("image-file", "video-file", "images/separated", "videos"):
            paths = value.get("filenames") or [each["path"] for each in value.get("videos", [value])]
            for path in paths:
                if file := self._find_file(path):
                    yield {"media": "video" if "video" in kind else "image", "content": file.read_bytes()}

    def _find_file(self, path: str) -> Path | None:
        """Return a file beside the log, or None if it is missing. Raise ValueError if it is elsewhere."""
        file = self.path.parent / "files" / path
        if not is_inside(file, self.path.parent):
            raise ValueError(f"{path!r} is outside of the folder of its run.")
        return file if file.is_file() else None


def read_records(path: Path) -> Iterator[bytes]:
    """Yield the records that are complete."""
    data = path.read_bytes()
    if not data.startswith(HEADER):
        raise ArcadiaError(f"{path} is not a file of wandb.")
    position, parts = FILE_HEADER_BYTES, b""
    while position + PART_HEADER_BYTES <= len(data):
        left = BLOCK_BYTES - position % BLOCK_BYTES
        if left < PART_HEADER_BYTES:
            position += left
            continue
        _checksum, size, kind = struct.unpack_from("<IHB", data, position)
        position += PART_HEADER_BYTES
        if position + size > len(data):
            return
        parts = (b"" if kind in (FULL, FIRST) else parts) + data[position : position + size]
        position += size
        if kind in (FULL, LAST):
            yield parts


def find_runs(path: Path, problems: list[str]) -> list[SourceRun]:
    """Return the runs of a folder, or that of one file. Add a sentence to the problems for each unreadable one."""
    runs = {}
    for file in find_files(path, "*.wandb") if path.is_dir() else [path]:
        runs[file.resolve()] = file  # `latest-run` is a link
    return describe_each(runs, _describe, problems)


def _describe(file: Path) -> SourceRun:
    run: Any = next((record[17][0] for record in map(wire.message, read_records(file)) if record[17]), None)
    if run is None:
        raise ArcadiaError(f"{file} has no run.")
    run = wire.message(run)
    key = key_of("wandb", wire.text(run[1]), file.parent.name)
    facts = {"project": wire.text(run[3]), "host": wire.text(run[13])}
    name = wire.text(run[8]) or wire.text(run[1])
    return SourceRun(key, name, "wandb", [WandbFile(file)], {field: value for field, value in facts.items() if value})


def _items(items: list[bytes]) -> dict[str, Any]:
    """Return the values of history or configuration. A nested name is a path."""
    mapping: dict[str, Any] = {}
    for each in items:
        item = wire.message(each)
        *parents, name = [part.decode(errors="replace") for part in item[2]] or [wire.text(item[1])]
        try:
            value = json.loads(wire.text(item[16]))
        except ValueError:
            continue  # a single value without its JSON
        inner = mapping
        for parent in parents:
            inner = inner.setdefault(parent, {})
        inner[name] = value
    mapping.pop("_wandb", None)
    return mapping


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) or value in ("NaN", "Infinity", "-Infinity")
