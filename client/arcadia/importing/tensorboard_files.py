"""Event files of TensorBoard, read once or followed."""

from __future__ import annotations

import math
import re
import secrets
import struct
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from arcadia.errors import ArcadiaError
from arcadia.importing import wire
from arcadia.importing.sending import DAMAGED, Event, RunUpload, SourceFile, SourceRun, find_files, key_of
from arcadia.reporting.attached import with_standard_names
from arcadia.reporting.connection import Connection, UnavailableError
from arcadia.reporting.media import MAX_BINS
from arcadia.reporting.upload import HEARTBEAT_SECONDS
from arcadia.reporting.values import read_settings_table, typed

PATTERN = "*tfevents*"
HEADER_BYTES, FOOTER_BYTES = 12, 4
DTYPE_FLOAT, DTYPE_DOUBLE = 1, 2
_GIF = b"GIF8"
# Stable-Baselines3 names the folders of its trainings after the method: PPO_1.
SB3_FOLDER = re.compile(r"(A2C|ARS|CrossQ|DDPG|DQN|MaskablePPO|PPO|QRDQN|RecurrentPPO|SAC|TD3|TQC|TRPO)_\d+")


class EventFile:
    """An event file, which may still grow. A record that is not complete yet is read later."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._position = 0
        # Only the first record of a tag names its plugin.
        self._plugins: dict[str, str] = {}

    def read(self) -> Iterator[Event]:
        """Yield the events of new records."""
        for record in self._records():
            yield from self._events(record)

    def _records(self) -> Iterator[bytes]:
        with self.path.open("rb") as file:
            while True:
                file.seek(self._position)
                header = file.read(HEADER_BYTES)
                if len(header) < HEADER_BYTES:
                    return
                size, checksum = struct.unpack("<QI", header)
                if checksum != masked_crc32c(header[:8]):
                    raise ArcadiaError(
                        f"{self.path} is not an event file of TensorBoard, or is damaged at byte {self._position:,}."
                    )
                if size > self.path.stat().st_size - self._position - HEADER_BYTES - FOOTER_BYTES:
                    return
                data = file.read(size)
                self._position += HEADER_BYTES + size + FOOTER_BYTES
                yield data

    def _events(self, record: bytes) -> Iterator[Event]:
        try:
            event = wire.message(record)
            values = [wire.message(each) for summary in event[5] for each in wire.message(summary)[1]]
        except DAMAGED as error:
            place = f"before byte {self._position:,}"
            raise ArcadiaError(f"{self.path} is damaged {place} ({error}). Events before that are imported.") from None
        time = wire.numbers(event[1], "d")[-1] if event[1] else 0.0
        step = wire.signed(event[2])
        metrics: dict[str, Any] = {}
        others: list[Event] = []
        for value in values:
            self._read_value(value, metrics, others)
        if metrics:
            yield {"kind": "metrics", "time": time, "step": step, "values": with_standard_names(metrics)}
        for other in others:
            with_step = {"step": step} if other["kind"] == "media" else {}
            yield {"time": time, **with_step, **other}

    def _read_value(self, value: Any, metrics: dict[str, Any], others: list[Event]) -> None:
        tag = wire.text(value[1])
        for metadata in value[9]:
            for plugin in wire.message(metadata)[1]:
                fields = wire.message(plugin)
                self._plugins[tag] = wire.text(fields[1])
                if self._plugins[tag] == "hparams" and (settings := _settings(fields[2])):
                    others.append({"kind": "config", "values": typed(settings)})
        if value[2]:
            metrics[tag] = wire.numbers(value[2], "f")[-1]
        elif value[4]:
            others += _media(tag, wire.message(value[4][-1])[4])
        elif value[5]:
            histogram = wire.message(value[5][-1])
            limits, counts = wire.numbers(histogram[6], "d"), wire.numbers(histogram[7], "d")
            low = wire.numbers(histogram[1], "d")[-1] if histogram[1] else 0.0
            others += _histogram(tag, [min(low, *limits[:1]), *limits], counts)
        elif value[8]:
            self._read_tensor(tag, wire.message(value[8][-1]), metrics, others)

    def _read_tensor(self, tag: str, tensor: Any, metrics: dict[str, Any], others: list[Event]) -> None:
        plugin = self._plugins.get(tag, "")
        if plugin == "text":
            shown = " ".join(each.decode(errors="replace") for each in tensor[8])
            if settings := read_settings_table(shown):
                others.append({"kind": "config", "values": settings})
                return
            others.append({"kind": "log", "level": "info", "message": f"{tag.removesuffix('/text_summary')}: {shown}"})
        elif plugin == "images":
            others += _media(tag, tensor[8][2:])  # the first two are width and height
        elif values := _floats(tensor):
            if len(values) == 1:
                metrics[tag] = values[0]
            elif plugin == "histograms" and len(values) % 3 == 0:
                rows = [values[start : start + 3] for start in range(0, len(values), 3)]
                others += _histogram(tag, [rows[0][0], *(row[1] for row in rows)], [row[2] for row in rows])


def masked_crc32c(data: bytes) -> int:
    """Return the checksum of TFRecord files: CRC-32C, rotated by 15 bits, plus a constant."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    crc ^= 0xFFFFFFFF
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def find_runs(folder: Path) -> list[SourceRun]:
    """Return the runs of a folder: one for each folder with event files, as TensorBoard shows them."""
    folders: dict[Path, list[SourceFile]] = {}
    for path in find_files(folder, PATTERN):
        folders.setdefault(path.parent, []).append(EventFile(path))
    runs = []
    for parent, files in folders.items():
        inner = parent.relative_to(folder).as_posix()
        name = folder.absolute().name if inner == "." else inner
        # The name of an event file has its time, host and process.
        facts = {"method": trained[1]} if (trained := SB3_FOLDER.fullmatch(parent.name)) else {}
        key = key_of("tensorboard", parent.name, files[0].path.name)
        runs.append(SourceRun(key, name, "TensorBoard", files, facts))
    return runs


def _floats(tensor: Any) -> list[float]:
    kind = wire.signed(tensor[1])
    if kind == DTYPE_FLOAT:
        return wire.numbers(tensor[5] or tensor[4], "f")
    if kind == DTYPE_DOUBLE:
        return wire.numbers(tensor[6] or tensor[4], "d")
    return []


def _media(tag: str, files: list[bytes]) -> list[Event]:
    kinds = [(content, "video" if content.startswith(_GIF) else "image") for content in files]
    return [{"kind": "media", "name": tag, "media": kind, "content": content} for content, kind in kinds]


def _histogram(tag: str, edges: list[float], counts: list[float]) -> list[Event]:
    """Return a histogram without empty bins at its ends, because TensorBoard's outermost edges are about 1e308."""
    used = [number for number, count in enumerate(counts) if count]
    if not used:
        return []
    first, last = used[0], used[-1]
    edges, counts = edges[first : last + 2], counts[first : last + 1]
    if len(counts) > MAX_BINS:
        step = math.ceil(len(counts) / MAX_BINS)
        counts = [sum(counts[start : start + step]) for start in range(0, len(counts), step)]
        edges = [*edges[:-1:step], edges[-1]]
    return [{"kind": "media", "name": tag, "media": "histogram", "data": {"edges": edges, "counts": counts}}]


def _settings(contents: list[bytes]) -> dict[str, Any]:
    """Return the hyperparameters of a session."""
    settings: dict[str, Any] = {}
    for content in contents:
        for session in wire.message(content)[3]:
            for entry in wire.message(session)[1]:
                pair = wire.message(entry)
                value = wire.message(pair[2][-1]) if pair[2] else {}
                if value.get(2):
                    settings[wire.text(pair[1])] = wire.numbers(value[2], "d")[-1]
                elif value.get(3):
                    settings[wire.text(pair[1])] = wire.text(value[3])
                elif value.get(4):
                    settings[wire.text(pair[1])] = bool(value[4][-1])
    return settings


class Follower:
    """Upload of all runs in a folder, until it is closed."""

    def __init__(self, connection: Connection, folder: Path, project: str | None, show: Callable[[str], None]) -> None:
        self._connection, self._folder, self._project, self._show = connection, folder, project, show
        self._leader = f"follow-{secrets.token_hex(6)}"
        self._runs: dict[str, RunUpload] = {}

    def send(self) -> int:
        """Send new events and return their number. If the server is unavailable, the next call sends them."""
        sent = 0
        try:
            for run in find_runs(self._folder):
                if run.key not in self._runs:
                    upload = self._runs[run.key] = RunUpload(self._connection, run, self._leader, self._project)
                    self._show(f"{run.name} is at {self._connection.url}{upload.path}")
                sent += self._runs[run.key].send(run.files)
                self._runs[run.key].report_alive(HEARTBEAT_SECONDS)
        except UnavailableError as error:
            print(f"arcadia: {error} Trying again.", file=sys.stderr, flush=True)
        return sent

    def close(self) -> None:
        """End the runs as finished. Following them again continues them."""
        self.send()
        for upload in self._runs.values():
            upload.end()
