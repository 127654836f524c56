"""Agent files of run directories. `arcadia_workers.contract.agents` makes the files."""

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from math import ceil
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from arcadia_workers.contract import layout
from arcadia_workers.contract.agents.document import MAX_POINTS
from arcadia_workers.contract.agents.writing import AgentSource, NoAgentError, write_agent
from arcadia_workers.contract.plugins.loading import load_named_in_environment
from arcadia_workers.contract.protocols.document import EvaluationDocument
from arcadia_workers.trainer.errors import TrainerError
from arcadia_workers.trainer.run import durable_files


class ExportError(TrainerError):
    """The agent file cannot be written."""


def read_source(directory: Path, choice: str, evaluations: Sequence[Path]) -> AgentSource:
    """Read the content of a checkpoint's agent file. The choice is a step, newest, or best by training returns."""
    step = _chosen(directory, choice)
    path = directory / layout.checkpoint_file(step)
    try:
        content = path.read_bytes()
    except OSError as error:
        raise ExportError(f"{path} cannot be read: {error.strerror}") from error
    replay = directory / layout.replay_file(step)
    return AgentSource(
        name=directory.resolve().name,
        checkpoint=content,
        evaluations=[_evaluation(file) for file in evaluations],
        curve=_curve(directory, step),
        replay=replay if replay.is_file() else None,
    )


def _chosen(directory: Path, choice: str) -> int:
    steps = layout.saved_steps(directory)
    if not steps:
        raise ExportError(f"{directory} has no checkpoint: choose the directory of a run that has one")
    if choice == "newest":
        return steps[-1]
    if choice == "best":
        best = [event["step"] for event in _events(directory, "checkpoint") if event["best"] and event["step"] in steps]
        if not best:
            raise ExportError(f"{directory} has no best checkpoint, because no episode has ended: use newest")
        return int(best[-1])
    if not choice.isdecimal() or int(choice) not in steps:
        raise ExportError(f"{directory} has no checkpoint {choice!r}; it has {', '.join(map(str, steps))}")
    return int(choice)


def _curve(directory: Path, step: int) -> list[tuple[float, float]]:
    """Return the mean returns of training episodes by frames, up to a step."""
    episodes = [
        (episode["frames"], float(episode["episode_return"]))
        for event in _events(directory, "metrics")
        for episode in event["episodes"]
        if episode["step"] <= step
    ]
    size = max(1, ceil(len(episodes) / MAX_POINTS))
    parts = [episodes[first : first + size] for first in range(0, len(episodes), size)]
    return [(part[-1][0], sum(score for _, score in part) / len(part)) for part in parts]


def _events(directory: Path, kind: str) -> Iterator[dict[str, Any]]:
    """Yield the events of a kind. The file of events may be missing, and its last line may be incomplete."""
    file = directory / layout.EVENTS
    for line in file.read_text().splitlines() if file.is_file() else []:
        try:
            event = json.loads(line)
        except ValueError:
            continue
        if event.get("kind") == kind:
            yield event


def _evaluation(file: Path) -> EvaluationDocument:
    try:
        return EvaluationDocument.model_validate_json(file.read_bytes())
    except OSError as error:
        raise ExportError(f"--evaluation {file} cannot be read: {error.strerror}") from error
    except ValidationError as error:
        raise ExportError(f"--evaluation {file} is not the output of `arcadia evaluate --json`") from error


def parser() -> argparse.ArgumentParser:
    """Return the argument parser."""
    parser = argparse.ArgumentParser(prog="arcadia agent", description="Agent files.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    export = commands.add_parser(
        "export",
        description="Export the agent of a run directory as one file: weights, model card, ONNX, and a program that "
        "plays it. Needs no server.",
    )
    add = export.add_argument
    add("--run-dir", type=Path, metavar="DIR", required=True, help="the run whose agent is exported")
    add("--checkpoint", default="newest", metavar="STEP", help="its step, newest or best (default: newest)")
    add(
        "--evaluation",
        type=Path,
        action="append",
        default=[],
        metavar="FILE",
        help="the output of `arcadia evaluate --json`, for the model card",
    )
    add("--overwrite", action="store_true", help="replace a file that exists")
    add("file", type=Path, metavar="FILE", help="the agent file, such as pong.agent.zip")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line. Return the exit status."""
    options = parser().parse_args(arguments)
    load_named_in_environment()
    try:
        print(export(options))
    except TrainerError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def export(options: argparse.Namespace) -> Path:
    """Write the agent file. It appears under its name when it is complete."""
    file: Path = options.file
    if file.exists() and not options.overwrite:
        raise ExportError(f"{file} exists. Replace it with --overwrite")
    source = read_source(options.run_dir, options.checkpoint, options.evaluation)
    unfinished = durable_files.temporary(file)
    try:
        with unfinished.open("wb") as target:
            write_agent(source, target)
        durable_files.publish(unfinished, file)
    except NoAgentError as error:
        raise ExportError(str(error)) from error
    except OSError as error:
        raise ExportError(f"{file} cannot be written: {error.strerror}") from error
    finally:
        unfinished.unlink(missing_ok=True)
    return file


if __name__ == "__main__":
    sys.exit(main())
