"""What trainers wrote, read beside the worker and kept when the worker clears up; and whether the backend has it."""

import contextlib
import json
from collections import Counter
from pathlib import Path
from typing import IO, Any

Attempt = tuple[int, int]
Point = tuple[str, int, float]


class Journals:
    """Holds every attempt's event file open, so that it can be read to its end although it is removed."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._files: dict[Attempt, IO[str]] = {}
        self._lines: dict[Attempt, str] = {}
        self.acknowledged: Counter[Attempt] = Counter()

    def follow(self) -> None:
        """Open the files of attempts that are new, and note how far each has been acknowledged."""
        for file in self._directory.glob("*/runs/*/attempt-*/events.jsonl"):
            attempt = (int(file.parent.parent.name), int(file.parent.name.removeprefix("attempt-")))
            with contextlib.suppress(FileNotFoundError):
                if attempt not in self._files:
                    self._files[attempt] = file.open()
                mark = json.loads((file.parent / "acknowledged.json").read_text())
                self.acknowledged[attempt] = max(self.acknowledged[attempt], mark["seq"])

    def attempts(self, run: int) -> list[int]:
        """Return the attempts seen of a run."""
        return sorted(attempt for of, attempt in self._files if of == run)

    def events(self, run: int, attempt: int) -> list[dict[str, Any]]:
        """Return the events that an attempt has written."""
        key = (run, attempt)
        self._lines[key] = self._lines.get(key, "") + self._files[key].read()
        whole, _, _ = self._lines[key].rpartition("\n")
        return [json.loads(line) for line in whole.splitlines()]

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


def assert_kept(exported: list[dict[str, Any]], journals: Journals, run: int, *, whole: set[int]) -> None:
    """Check every attempt's points: none doubled, none acknowledged lost; of the `whole` attempts, all there."""
    stored: dict[int, Counter[Point]] = {attempt: Counter() for attempt in journals.attempts(run)}
    for point in exported:
        stored[point["attempt"]][point["name"], point["step"], float(point["value"])] += 1
    for attempt, points in stored.items():
        events = journals.events(run, attempt)
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
    """Return how many events make up so many points: events are stored whole and in order."""
    total = 0
    for number, event in enumerate(events):
        if total == stored:
            return number
        total += len(points_of(event))
    assert total == stored, "points were stored that no trainer reported, or some were doubled"
    return len(events)
