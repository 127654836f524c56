"""Changes of the configuration while a run trains, requested or scheduled.

`changes.json` in the run directory has the requested changes. The event file has the applied ones. A change is reported
before it takes effect, so that a killed trainer has either reported it or not used it.
"""

import contextlib
import json
import time
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

from pydantic import JsonValue, ValidationError

from arcadia_workers.contract import events, layout
from arcadia_workers.contract.config import TrainingConfig
from arcadia_workers.contract.events import LogLevel, RequestedChange, changed, changes_adapter
from arcadia_workers.trainer.errors import TrainerError
from arcadia_workers.trainer.run import durable_files
from arcadia_workers.trainer.run.journal import Journal

# The interval of checks of the file of requested changes.
POLL_SECONDS = 0.25
_CHANGED = b'"kind":"changed"'
_STARTED = b'"kind":"started"'


@dataclass
class AppliedChanges:
    """The changes in an event file: all numbers, and the fields changed since the last start of a trainer.

    Earlier fields are in the configuration, which the trainer writes before it starts.
    """

    numbers: set[int] = field(default_factory=set)
    fields: dict[str, JsonValue] = field(default_factory=dict)


def read_applied(directory: Path) -> AppliedChanges:
    """Return the changes that earlier trainers in this directory have reported."""
    applied = AppliedChanges()
    # A new run has no events yet.
    with contextlib.suppress(FileNotFoundError), (directory / layout.EVENTS).open("rb") as lines:
        for line in lines:
            _read_event(line, applied)
    return applied


def _read_event(line: bytes, applied: AppliedChanges) -> None:
    if _STARTED in line:
        applied.fields.clear()
    elif _CHANGED in line and line.endswith(b"\n"):  # a crash may have torn the last line
        event = json.loads(line)
        if event["kind"] == "changed":
            applied.numbers.add(int(event["number"]))
            applied.fields.update(event["fields"])


class ConfigChanges:
    """Requested changes of the configuration. Each is applied once and reported."""

    def __init__(
        self, directory: Path, journal: Journal, applied: set[int], log: Callable[[str, LogLevel], None]
    ) -> None:
        self._path, self._journal, self._log = directory / layout.CHANGES, journal, log
        self._done = set(applied)
        self._waiting: Sequence[RequestedChange] = ()
        self._read: tuple[int, ...] | None = None
        self._next_poll = 0.0

    def apply(self, config: TrainingConfig, step: int, frames: int) -> dict[str, JsonValue]:
        """Apply the changes that are due at this step, in place. Return the changed fields."""
        now = time.monotonic()
        if now >= self._next_poll:
            self._next_poll = now + POLL_SECONDS
            self._poll()
        fields: dict[str, JsonValue] = {}
        for change in self._waiting:
            if change.step <= step:
                fields |= self._apply(change, config, step, frames)
        if self._waiting:
            self._waiting = [change for change in self._waiting if change.number not in self._done]
        return fields

    def _apply(self, change: RequestedChange, config: TrainingConfig, step: int, frames: int) -> dict[str, JsonValue]:
        self._done.add(change.number)
        wanted = changed(config, change.fields)
        if isinstance(wanted, list):
            problems = "; ".join(f"{problem.field}: {problem.message}" for problem in wanted)
            self._log(f"Change {change.number} was not applied: {problems}", "warning")
            return {}
        before, after = config.model_dump(mode="json"), wanted.model_dump(mode="json")
        fields = {name: after[name] for name in change.fields}
        previous = {name: before[name] for name in fields}
        number = change.number
        self._journal.emit(events.Changed, step=step, frames=frames, number=number, fields=fields, previous=previous)
        for name in fields:
            setattr(config, name, getattr(wanted, name))
        return fields

    def _poll(self) -> None:
        """Read the requested changes if the file is new."""
        try:
            status = self._path.stat()
            version = (status.st_mtime_ns, status.st_size, status.st_ino)
            if version == self._read:
                return
            self._read = version
            requested = changes_adapter.validate_json(self._path.read_bytes())
        except FileNotFoundError:
            return
        except (OSError, ValidationError) as error:
            self._log(f"{self._path.name} cannot be read: {error}", "warning")
            return
        waiting = [change for change in requested if change.number not in self._done]
        self._waiting = sorted(waiting, key=lambda change: (change.step, change.number))


Change = tuple[int, str, JsonValue]
"""A step, a field and its new value."""


class ScheduleError(TrainerError):
    """A requested change is not possible."""


def schedule(changes: Iterable[Change]) -> list[tuple[int, dict[str, JsonValue]]]:
    """Return the changed fields of each step, in order."""
    steps: dict[int, dict[str, JsonValue]] = {}
    for step, name, value in changes:
        steps.setdefault(step, {})[name] = value
    return sorted(steps.items())


def check(config: TrainingConfig, changes: Iterable[Change]) -> list[str]:
    """Return why the changes are not possible, one after the other, or an empty list."""
    for step, fields in schedule(changes):
        outcome = changed(config, fields)
        if isinstance(outcome, list):
            return [f"--change {step}:{problem.field}: {problem.message}" for problem in outcome]
        config = outcome
    return []


def request(directory: Path, changes: Iterable[Change], taken: Collection[int]) -> None:
    """Add the changes to the run directory's requests, except for those that it already has."""
    path = directory / layout.CHANGES
    requested = _read(path)
    known = [(change.step, change.fields) for change in requested]
    numbers = count(max([0, *taken, *(change.number for change in requested)]) + 1)
    new = [each for each in schedule(changes) if each not in known]
    if new:
        requested += [RequestedChange(number=next(numbers), fields=fields, step=step) for step, fields in new]
        durable_files.write(path, changes_adapter.dump_json(requested, indent=2))


def _read(path: Path) -> list[RequestedChange]:
    try:
        return changes_adapter.validate_json(path.read_bytes())
    except FileNotFoundError:
        return []
    except ValidationError as error:
        raise ScheduleError(f"{path} is not a list of changes: repair or delete it") from error
