"""The `arcadia` command; each part of it imports only what it needs, since a worker's host has no web framework."""

from __future__ import annotations

import argparse
import logging
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import ValidationError

if TYPE_CHECKING:
    from backend.config import Settings


def parse_arguments(arguments: list[str]) -> argparse.Namespace:
    """Read the command line; `worker` and `train` keep their arguments for the programs they become."""
    parser = argparse.ArgumentParser(prog="arcadia", description="Train game-playing agents and watch them learn.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    up = commands.add_parser("up", help="start everything on this machine")
    backend = commands.add_parser("backend", help="start the backend alone")
    for command in (up, backend):
        command.add_argument("--port", type=int, help="ARCADIA_PORT: the page's port, 8000 unless told otherwise")
    for command in (up, backend, commands.add_parser("migrate", help="bring the database to this version")):
        command.add_argument("--data", type=Path, help="ARCADIA_DATA_DIR: where everything is kept")
    commands.add_parser("worker", help="start a worker (see arcadia worker --help)", add_help=False)
    commands.add_parser("train", help="train without any server (see arcadia train --help)", add_help=False)
    if arguments[:1] in (["worker"], ["train"]):
        return argparse.Namespace(command=arguments[0], rest=arguments[1:])
    return parser.parse_args(arguments)


def read_settings(options: argparse.Namespace) -> Settings:
    """Read the settings, or leave with a sentence on what is wrong with them."""
    from backend.config import Settings

    given = {"data_dir": options.data, "port": getattr(options, "port", None)}
    try:
        return Settings(**{name: value for name, value in given.items() if value is not None})
    except ValidationError as error:
        wrong = "; ".join(f"ARCADIA_{str(e['loc'][0]).upper()}: {e['msg']}" for e in error.errors(include_input=False))
        sys.exit(f"arcadia: {wrong}")


def become(module: str, arguments: list[str]) -> None:
    """Become another program of ours."""
    os.execv(sys.executable, [sys.executable, "-m", module, *arguments])  # noqa: S606 - a list, no shell wanted


def serve(settings: Settings) -> int:
    """Run the backend in this process."""
    import uvicorn

    from backend.app import create_app

    logging.basicConfig(level=logging.INFO, format="%(levelname)-7s %(message)s", stream=sys.stdout)
    for noisy in ("alembic", "httpx"):
        logging.getLogger(noisy).setLevel(logging.WARNING)
    uvicorn.run(
        create_app(settings),
        host=settings.host,
        port=settings.port,
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=5,
    )
    return 0


def start_all(settings: Settings) -> int:
    """Run everything on this machine."""
    from backend.config import refuse_unsafe_binding
    from backend.embedded.data_folder import FolderInUseError
    from backend.embedded.redis_server import NoRedisError
    from backend.embedded.up import CannotStartError, up

    try:
        refuse_unsafe_binding(settings)
        return up(settings)
    except (CannotStartError, FolderInUseError, NoRedisError) as error:
        sys.exit(f"arcadia: {error}")


def main() -> int:
    """Run a command."""
    options = parse_arguments(sys.argv[1:])
    if options.command in ("worker", "train"):
        become("workers" if options.command == "worker" else "workers.trainer", options.rest)
    settings = read_settings(options)

    from backend.config import UnsafeBindingError

    try:
        if options.command == "up":
            return start_all(settings)
        if options.command == "backend":
            return serve(settings)
    except UnsafeBindingError as error:
        sys.exit(f"arcadia: {error}")
    from backend.migrations import migrate

    migrate(settings)
    return 0


if __name__ == "__main__":
    sys.exit(main())
