"""Command line of the trainer."""

import argparse
import json
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from pydantic import JsonValue, ValidationError

from arcadia_workers.contract import layout
from arcadia_workers.contract.config import RunConfig, TrainingConfig, config_adapter
from arcadia_workers.contract.config.problems import FieldProblem, problems_of
from arcadia_workers.contract.presets import PRESETS, refusal_of_other_method, unknown_preset
from arcadia_workers.trainer.errors import TrainerError
from arcadia_workers.trainer.run import config_changes, durable_files
from arcadia_workers.trainer.run.config_changes import AppliedChanges, Change, read_applied
from arcadia_workers.trainer.run.journal import Journal


class LaunchError(TrainerError):
    """The command line or the configuration is wrong. The error has one message per problem."""

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = list(problems)


@dataclass(frozen=True)
class Launch:
    """Parsed command line."""

    config: TrainingConfig
    directory: Path
    resume: bool
    progress_bar: bool
    # Changes to make during training, and the numbers of those that earlier attempts in the directory have made.
    changes: Sequence[Change] = ()
    changes_applied: frozenset[int] = frozenset()


def parser() -> argparse.ArgumentParser:
    """Return the argument parser."""
    parser = argparse.ArgumentParser(
        prog="arcadia train",
        description="Train one run in a directory, which gets events.jsonl, checkpoints/ and replays/.",
    )
    parser.add_argument("config", nargs="?", type=Path, metavar="CONFIG.json", help="the run's configuration")
    parser.add_argument("--preset", metavar="NAME", help="start from a named configuration instead")
    parser.add_argument("--list-presets", action="store_true", help="list the presets and exit")
    parser.add_argument(
        "--set", action="append", default=[], metavar="FIELD=VALUE", dest="changes", help="change one field; repeatable"
    )
    parser.add_argument(
        "--change",
        action="append",
        default=[],
        metavar="STEP:FIELD=VALUE",
        dest="scheduled",
        help="change one field at a step of the training; repeatable",
    )
    parser.add_argument("--dir", type=Path, metavar="RUN_DIR", dest="directory", help="the run directory")
    parser.add_argument("--resume", action="store_true", help="continue from the newest checkpoint in RUN_DIR")
    parser.add_argument("--gpu", type=int, metavar="N", help="train on GPU N, as nvidia-smi numbers them")
    parser.add_argument("--no-progress-bar", action="store_true", help="do not print progress")
    return parser


def read(arguments: argparse.Namespace) -> Launch:
    """Check the arguments and return the request."""
    if arguments.directory is None:
        raise LaunchError(["name the run directory: --dir RUN_DIR"])
    given, changes = _given_config(arguments), _changes(arguments.changes)
    applied = read_applied(arguments.directory) if arguments.resume else AppliedChanges()
    scheduled = [_scheduled(text) for text in arguments.scheduled]
    if refusal := refusal_of_other_method(str(given.get("algorithm")), changes.get("algorithm")):
        raise LaunchError([_sentence(refusal)])
    config = validated({**given, **applied.fields, **changes})
    if problems := config_changes.check(config, scheduled):
        raise LaunchError(problems)
    _refuse_another_run(arguments.directory, arguments.resume)
    _refuse_other_shape(arguments.directory, config)
    bar = not arguments.no_progress_bar
    return Launch(config, arguments.directory, arguments.resume, bar, scheduled, frozenset(applied.numbers))


def presets() -> str:
    """Return a list of the presets with their titles."""
    width = max(map(len, PRESETS))
    return "\n".join(f"{preset.name:<{width}}  {preset.title}. {preset.shows}" for preset in PRESETS.values())


def validated(values: dict[str, JsonValue]) -> RunConfig:
    """Return the configuration. Raise with a message per wrong field."""
    try:
        return config_adapter.validate_python(values)
    except ValidationError as error:
        raise LaunchError([_sentence(problem) for problem in problems_of(error)]) from error


def _given_config(arguments: argparse.Namespace) -> dict[str, JsonValue]:
    if arguments.config and arguments.preset:
        raise LaunchError([f"give either {arguments.config} or --preset {arguments.preset}, not both"])
    if arguments.preset:
        if arguments.preset not in PRESETS:
            raise LaunchError([unknown_preset(arguments.preset)])
        return PRESETS[arguments.preset].config.model_dump(mode="json")
    kept = arguments.directory / layout.CONFIG
    if arguments.config is None and not (arguments.resume and kept.exists()):
        raise LaunchError(["name a configuration: CONFIG.json or --preset NAME (--list-presets lists them)"])
    return _read_json(arguments.config or kept)


def _read_json(path: Path) -> dict[str, JsonValue]:
    try:
        values = json.loads(path.read_bytes())
    except OSError as error:
        raise LaunchError([f"{path} cannot be read: {error.strerror}"]) from error
    except (ValueError, RecursionError) as error:
        raise LaunchError([f"{path} is not JSON: {error}"]) from error
    if not isinstance(values, dict):
        raise LaunchError([f"{path} must hold one JSON object with the configuration's fields"])
    return values


def _changes(changes: list[str]) -> dict[str, JsonValue]:
    values: dict[str, JsonValue] = {}
    for change in changes:
        field, equals, value = change.partition("=")
        if not equals:
            raise LaunchError([f"--set {change}: write it as field=value, as in --set seed=3"])
        if field.strip() in values:
            raise LaunchError([f"--set {field.strip()} is given twice: give it once"])
        values[field.strip()] = _value(value)
    return values


def _scheduled(text: str) -> Change:
    step, colon, change = text.partition(":")
    field, equals, value = change.partition("=")
    if not (colon and equals and step.strip().isdecimal()):
        raise LaunchError([f"--change {text}: write it as step:field=value, as in --change 1200000:learning_rate=1e-4"])
    return int(step), field.strip(), _value(value)


def _value(text: str) -> JsonValue:
    try:
        value: JsonValue = json.loads(text)
    except ValueError:
        return text  # a bare word is text
    return value


def _sentence(problem: FieldProblem) -> str:
    return f"{problem.field}: {problem.message}"


def _refuse_another_run(directory: Path, resume: bool) -> None:
    """Raise if the directory holds another run. An empty event file does not count as a run."""
    events = directory / layout.EVENTS
    holds_run = (events.exists() and events.stat().st_size) or layout.manifests(directory)
    if holds_run and not resume:
        raise LaunchError([f"{directory} already holds a run: add --resume to continue it, or choose another"])


def _refuse_other_shape(directory: Path, config: RunConfig) -> None:
    """Raise if the directory's checkpoints do not fit this configuration."""
    kept = directory / layout.CONFIG
    if not (layout.manifests(directory) and kept.exists()):
        return
    ours, theirs = config.shape, validated(_read_json(kept)).shape
    wrong = [field for field in theirs if ours.get(field) != theirs[field]]
    if wrong:
        words = "the checkpoints here were trained with {}, which cannot change: choose another --dir"
        raise LaunchError([f"{field}: {words.format(theirs[field])}" for field in wrong])


def take_directory(launch: Launch) -> Journal:
    """Create the directory, lock it for this trainer, and write the configuration."""
    directory = launch.directory
    kept = directory / layout.CONFIG
    with ExitStack() as taken:
        try:
            directory.mkdir(parents=True, exist_ok=True)
            # Lock first, because the directory may belong to another trainer.
            journal = taken.enter_context(Journal(directory))
            if not kept.exists() or _read_json(kept) != launch.config.model_dump(mode="json"):
                durable_files.write(kept, launch.config.model_dump_json(indent=2).encode())
            config_changes.request(directory, launch.changes, launch.changes_applied)
        except OSError as error:
            raise LaunchError([f"{directory} cannot be used as a run directory: {error.strerror}"]) from error
        except config_changes.ScheduleError as error:
            raise LaunchError([str(error)]) from error
        taken.pop_all()
    return journal
