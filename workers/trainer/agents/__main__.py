"""`arcadia agent export --run-dir`: export the agent of a run directory as one file; needs no server and no torch."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from workers.contract.agents.writing import NoAgentError, write_agent
from workers.contract.plugins.loading import load_named_in_environment
from workers.trainer.agents.run_directory import ExportError, read_source
from workers.trainer.errors import TrainerError
from workers.trainer.run import durable_files


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
