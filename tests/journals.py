"""Event files of trainers, kept open so that tests can compare them with the backend."""

import contextlib
import json
import time
from collections import Counter, defaultdict
from collections.abc import Container
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

Attempt = tuple[int, int]
Point = tuple[str, int, float]


class Journals:
    """Open event files of all attempts. They stay readable after a worker deletes them."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._files: dict[Attempt, IO[str]] = {}
        self._begun: dict[Attempt, str] = {}
        self._events: dict[Attempt, list[dict[str, Any]]] = {}
        self.acknowledged: Counter[Attempt] = Counter()
        self.workers: dict[Attempt, str] = {}
        self.claimed_at: dict[Attempt, float] = {}
        self.begun_at: dict[Attempt, float] = {}

    def follow(self) -> None:
        """Open the files of new attempts, and record how much of each is acknowledged."""
        # A worker may delete a folder during the scan. The next scan finds the others.
        with contextlib.suppress(FileNotFoundError):
            for directory in self._directory.glob("*/runs/*/attempt-*"):
                self._follow(directory / "events.jsonl")

    def _follow(self, file: Path) -> None:
        attempt = (int(file.parent.parent.name), int(file.parent.name.removeprefix("attempt-")))
        self.claimed_at.setdefault(attempt, time.time())
        with contextlib.suppress(FileNotFoundError):
            if attempt not in self._files:
                self._files[attempt] = file.open()
                self.begun_at[attempt] = time.time()
                self.workers[attempt] = file.parents[3].name
            mark = json.loads((file.parent / "acknowledged.json").read_text())
            self.acknowledged[attempt] = max(self.acknowledged[attempt], mark["seq"])

    def attempts(self, run: int) -> list[int]:
        """Return the attempts seen of a run."""
        return sorted(attempt for of, attempt in self._files if of == run)

    def events(self, run: int, attempt: int) -> list[dict[str, Any]]:
        """Return the events that an attempt has written."""
        key = (run, attempt)
        *whole, self._begun[key] = (self._begun.get(key, "") + self._files[key].read()).split("\n")
        events = self._events.setdefault(key, [])
        events += [json.loads(line) for line in whole]
        return events

    def resumed_from(self, run: int, attempt: int) -> int:
        """Return the step that an attempt continued from."""
        events = self.events(run, attempt)
        step: int = next(event["resumed_from"] for event in events if event["kind"] == "started")
        return step

    def points(self, run: int, attempt: int) -> int:
        """Return the number of acknowledged points of an attempt."""
        acknowledged = self.acknowledged[run, attempt]
        return sum(len(points_of(event)) for event in self.events(run, attempt)[:acknowledged]) if acknowledged else 0

    def last_reported(self) -> dict[str, float]:
        """Return when each worker's trainers wrote their last acknowledged points."""
        last: dict[str, float] = {}
        for attempt, worker in self.workers.items():
            acknowledged = self.events(*attempt)[: self.acknowledged[attempt]]
            times = (event["time"] for event in reversed(acknowledged) if event["kind"] == "metrics")
            last[worker] = max(last.get(worker, 0.0), next(times, 0.0))
        return last

    def close(self) -> None:
        """Close the files."""
        for file in self._files.values():
            file.close()


def points_of(event: dict[str, Any]) -> list[Point]:
    """Return the points that an event reports."""
    if event["kind"] != "metrics":
        return []
    points = [(name, event["step"], float(value)) for name, value in event["values"].items()]
    for episode in event["episodes"]:
        points.append(("episode/return", episode["step"], float(episode["episode_return"])))
        points.append(("episode/length", episode["step"], float(episode["length"])))
    return points


@dataclass
class Count:
    """Differences between the stored points and the written ones."""

    written: int = 0
    lost: list[str] = field(default_factory=list)
    doubled: list[str] = field(default_factory=list)
    unseen: list[str] = field(default_factory=list)

    def add(self, exported: list[dict[str, Any]], journals: Journals, run: int, *, whole: Container[int]) -> None:
        """Count the points of a run. All points of `whole` attempts must be stored, of others the acknowledged ones."""
        stored = _by_attempt(exported)
        for attempt in sorted(stored.keys() - set(journals.attempts(run))):
            self.unseen.append(f"run {run}, attempt {attempt}")
        for attempt in journals.attempts(run):
            events = journals.events(run, attempt)
            written = Counter(point for event in events for point in points_of(event))
            acknowledged = len(events) if attempt in whole else journals.acknowledged[run, attempt]
            due = Counter(point for event in events[:acknowledged] for point in points_of(event))
            self.written += written.total()
            self.lost += _reported(run, attempt, due - stored[attempt])
            self.doubled += _reported(run, attempt, stored[attempt] - written)


def _reported(run: int, attempt: int, points: Counter[Point]) -> list[str]:
    return [f"run {run}, attempt {attempt}: {name} = {value} at step {step}" for name, step, value in points.elements()]


def _by_attempt(exported: list[dict[str, Any]]) -> defaultdict[int, Counter[Point]]:
    stored: defaultdict[int, Counter[Point]] = defaultdict(Counter)
    for point in exported:
        stored[point["attempt"]][point["name"], point["step"], float(point["value"])] += 1
    return stored


def assert_kept(exported: list[dict[str, Any]], journals: Journals, run: int, *, whole: set[int]) -> None:
    """Check that no point is stored twice, no acknowledged one is lost, and `whole` attempts are complete."""
    stored = _by_attempt(exported)
    for attempt in stored.keys() | set(journals.attempts(run)):
        points, events = stored[attempt], journals.events(run, attempt)
        assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
        delivered = _delivered(events, points.total())
        assert points == Counter(point for event in events[:delivered] for point in points_of(event))
        rest = events[delivered:]
        lost = [
            event["seq"] for event in rest if event["seq"] <= journals.acknowledged[run, attempt] and points_of(event)
        ]
        assert not lost, f"attempt {attempt}: acknowledged, but not stored"
        if attempt in whole:
            assert not [event["seq"] for event in rest if points_of(event)], f"attempt {attempt}: not all delivered"


def _delivered(events: list[dict[str, Any]], stored: int) -> int:
    """Return the number of events that contain this many points. Events are stored whole and in order."""
    total = 0
    for number, event in enumerate(events):
        if total == stored:
            return number
        total += len(points_of(event))
    assert total == stored, "some stored points are duplicates or were not reported by a trainer"
    return len(events)
