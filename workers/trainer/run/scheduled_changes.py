"""Changes of the configuration that the command line requests: `--change STEP:FIELD=VALUE`."""

from collections.abc import Collection, Iterable
from itertools import count
from pathlib import Path

from pydantic import JsonValue, ValidationError

from workers.contract import layout
from workers.contract.changes import RequestedChange, changed, changes_adapter
from workers.contract.config import TrainingConfig
from workers.trainer.errors import TrainerError
from workers.trainer.run import durable_files

Change = tuple[int, str, JsonValue]
"""A step, a field and its new value."""


class ScheduleError(TrainerError):
    """A requested change is not possible."""


def schedule(changes: Iterable[Change]) -> list[tuple[int, dict[str, JsonValue]]]:
    """Return the changed fields of each step, in order."""
    steps: dict[int, dict[str, JsonValue]] = {}
    for step, field, value in changes:
        steps.setdefault(step, {})[field] = value
    return sorted(steps.items())


def check(config: TrainingConfig, changes: Iterable[Change]) -> list[str]:
    """Return why the changes are not possible, one after the other, or an empty list."""
    for step, fields in schedule(changes):
        found = changed(config, fields)
        if isinstance(found, list):
            return [f"--change {step}:{problem.field}: {problem.message}" for problem in found]
        config = found
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
