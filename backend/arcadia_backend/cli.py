"""The `arcadia` command. Functions import what they need, since a worker's host has no web framework."""

from __future__ import annotations

import argparse
import logging
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import ValidationError

from arcadia_backend.refusals import RefusedError
from arcadia_workers.contract.layout import default_data_dir
from arcadia_workers.contract.plugins.discovery import allowed_plugins, name_in_environment, read_file

if TYPE_CHECKING:
    from arcadia_backend.config import Settings


MAX_WORKERS = 64
# uvicorn's exit status if the application does not start.
CANNOT_START = 3
# One program does these jobs without a server.
JOB_COMMANDS = ("evaluate", "record", "futures", "review", "practice", "calibrate")
# Commands that are separate programs.
PROGRAMS = {
    "worker": "arcadia_workers.worker",
    "service": "arcadia_workers.worker.service",
    "worker-bundle": "arcadia_workers.worker.bundle",
    "train": "arcadia_workers.trainer",
    **dict.fromkeys(JOB_COMMANDS, "arcadia_workers.trainer.job"),
    "agent": "arcadia_workers.trainer.agents",
    "plugins": "arcadia_workers.contract.plugins",
}
# These load plug-ins without a backend or a worker that has checked them.
STANDALONE = ("train", *JOB_COMMANDS, "agent")


def parse_worker_count(text: str) -> int:
    """Parse the number of workers."""
    if not text.isdecimal() or not 1 <= int(text) <= MAX_WORKERS:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 1 to {MAX_WORKERS}")
    return int(text)


def describe_version() -> str:
    """Return the build and the database schema. A worker's host has no database migrations."""
    from arcadia_workers.contract.build import build

    try:
        from arcadia_backend.database.migrations import newest_schema
    except ImportError:
        return f"arcadia {build()}"
    return f"arcadia {build()}, database schema {newest_schema()}"


def parse_arguments(arguments: list[str]) -> argparse.Namespace:
    """Parse the command line. The arguments of separate programs are passed on."""
    if arguments[:1] and arguments[0] in PROGRAMS:
        return argparse.Namespace(command=arguments[0], rest=arguments[1:])
    parser = argparse.ArgumentParser(prog="arcadia", description="Train agents to play games, and watch them learn.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    up = commands.add_parser("up", description="Start the backend, a worker and Redis on this machine.")
    backend = commands.add_parser("backend", description="Start only the backend.")
    for command in (up, backend):
        command.add_argument("--port", type=int, help="ARCADIA_PORT: port of the server (default: 8000)")
    up.add_argument("--workers", type=parse_worker_count, default=1, metavar="N", help="number of workers (default: 1)")
    migrate = commands.add_parser("migrate", description="Migrate the database to this version.")
    migrate.add_argument("--plan", action="store_true", help="only show what would change, and how long it takes")
    backup = commands.add_parser("backup", description="Back up the database and the files, also while Arcadia runs.")
    backup.add_argument("folder", type=Path, metavar="DIR", help="new folder for the backup")
    restore = commands.add_parser(
        "restore", description="Restore a backup into an empty installation that is not running."
    )
    restore.add_argument("folder", type=Path, metavar="DIR", help="folder of the backup")
    for command in (up, backend, migrate, backup, restore):
        command.add_argument(
            "--data", type=Path, help=f"ARCADIA_DATA_DIR: the data folder (default: {default_data_dir()})"
        )
    user = commands.add_parser("user", description="List, add and change people, on the machine of the data folder.")
    _add_user_arguments(user)
    return parser.parse_args(arguments)


def _add_user_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the actions of `arcadia user`."""
    data = argparse.ArgumentParser(add_help=False)
    data.add_argument("--data", type=Path, help=f"ARCADIA_DATA_DIR: the data folder (default: {default_data_dir()})")
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    actions.add_parser("list", parents=[data], description="List all people.")
    add = actions.add_parser("add", parents=[data], description="Add a person, and print a link for the password.")
    add.add_argument("name", metavar="NAME", help="name, such as 'Ana Silva'")
    add.add_argument("--administrator", action="store_true", help="administers the installation, as the first one does")
    for name, description in (
        ("link", "Print a one-time link with which a person chooses a password."),
        ("disable", "Sign a person out, and refuse further sign-ins."),
        ("enable", "Let a disabled person sign in again."),
        ("promote", "Make a person an administrator of the installation."),
    ):
        actions.add_parser(name, parents=[data], description=description)
    for name, command in actions.choices.items():
        if name != "list":
            command.add_argument("email", metavar="EMAIL", help="e-mail address of the person")


def read_settings(options: argparse.Namespace) -> Settings:
    """Read the settings. Raise RefusedError if they are invalid."""
    from arcadia_backend.config import Settings
    from arcadia_workers.contract.settings import SecretFileError, unknown_settings

    if unknown := unknown_settings(os.environ):
        raise RefusedError(unknown)
    options_given = {"data_dir": options.data, "port": getattr(options, "port", None)}
    try:
        settings = Settings(**{name: value for name, value in options_given.items() if value is not None})
        return settings.model_copy(update={"plugins": allowed_plugins(settings.data_dir)})
    except ValidationError as error:
        message = "; ".join(
            f"ARCADIA_{str(e['loc'][0]).upper()}: {e['msg']}" for e in error.errors(include_input=False)
        )
        raise RefusedError(message) from None
    except SecretFileError as error:
        raise RefusedError(str(error)) from None


def check_plugins() -> None:
    """Name only usable plug-ins to the program that follows, and report the problems of others."""
    if names := allowed_plugins():
        from arcadia_workers.contract.plugins.trial import find_problems

        problems = find_problems(names)
        for name, problem in problems.items():
            print(f"arcadia: plug-in {name}: {problem}", file=sys.stderr)
        name_in_environment([name for name in names if name not in problems])


def serve(settings: Settings) -> int:
    """Run the backend in this process."""
    import uvicorn

    from arcadia_backend.app import create_app
    from arcadia_backend.startup.checks import make_ready, refuse_taken_port
    from arcadia_backend.web.middleware import limit_log_lines
    from arcadia_backend.web.serving import QuietServer, behind_proxies, server_options
    from arcadia_workers.contract.layout import log_to_standard_output

    log_to_standard_output()
    for noisy in ("alembic", "httpx"):
        logging.getLogger(noisy).setLevel(logging.WARNING)
    limit_log_lines()
    app = create_app(settings)
    refuse_taken_port(settings.host, settings.port, "backend")
    make_ready(settings)
    options = server_options(settings)
    served = behind_proxies(app, settings)
    server = QuietServer(uvicorn.Config(served, host=settings.host, port=settings.port, **options))
    with suppress(KeyboardInterrupt):  # the server has shut down
        server.run()
    return 0 if server.started else CANNOT_START


def start_all(settings: Settings, workers: int) -> int:
    """Run the whole installation on this machine."""
    from arcadia_backend.startup.up import up

    if not settings.plugins and (elsewhere := read_file(default_data_dir())):
        print(
            f"arcadia: {default_data_dir().resolve()} allows plug-ins {', '.join(elsewhere)}, but the data folder is "
            f"{settings.data_dir.resolve()}. `arcadia plugins allow NAME --data {settings.data_dir}` allows one here.",
            file=sys.stderr,
        )
    return up(settings, workers)


def migrate(settings: Settings, *, only_plan: bool = False) -> int:
    """Migrate the database to this version, or show what that would do."""
    from arcadia_backend.startup.checks import describe_plan, make_ready

    if only_plan:
        print(describe_plan(settings))
    else:
        make_ready(settings)
    return 0


def back_up(settings: Settings, folder: Path) -> int:
    """Back up the installation."""
    from arcadia_backend.backup.making import back_up

    print(back_up(settings, folder))
    return 0


def restore(settings: Settings, folder: Path) -> int:
    """Restore a backup."""
    from arcadia_backend.backup.restoring import restore

    print(restore(settings, folder))
    return 0


def change_people(settings: Settings, options: argparse.Namespace) -> int:
    """List, add or change people."""
    from arcadia_backend.accounts.commands import run
    from arcadia_backend.startup.checks import make_ready

    make_ready(settings)
    print(run(settings, options))
    return 0


def main(arguments: list[str] | None = None) -> int:
    """Run the command."""
    options = parse_arguments(sys.argv[1:] if arguments is None else arguments)
    if options.command not in STANDALONE:
        # Only the owner may read the data folder.
        os.umask(0o077)
    if options.command in STANDALONE:
        check_plugins()
    if options.command in PROGRAMS:
        of_jobs = [options.command] if options.command in JOB_COMMANDS else []
        program = [sys.executable, "-m", PROGRAMS[options.command], *of_jobs, *options.rest]
        os.execv(sys.executable, program)  # noqa: S606 - a list, no shell
    commands: dict[str, Callable[[Settings], int]] = {
        "up": lambda settings: start_all(settings, options.workers),
        "backend": serve,
        "migrate": lambda settings: migrate(settings, only_plan=options.plan),
        "backup": lambda settings: back_up(settings, options.folder),
        "restore": lambda settings: restore(settings, options.folder),
        "user": lambda settings: change_people(settings, options),
    }
    try:
        return commands[options.command](read_settings(options))
    except RefusedError as error:
        print(f"arcadia: {error}", file=sys.stderr)
        return error.status


if __name__ == "__main__":
    sys.exit(main())
