"""The `arcadia` command: what the client can do, and what installed packages add."""

from __future__ import annotations

import sys
from importlib.metadata import EntryPoint, entry_points

import typer

from arcadia.errors import ArcadiaError
from arcadia.version import client_version

# Installed packages add commands here: NAME = "module:function". The function takes the arguments, starting with the
# name, and returns the exit status. The server's package adds up, backend, worker, train and others.
COMMANDS_GROUP = "arcadia.commands"

app = typer.Typer(
    name="arcadia",
    help="Train agents to play games, and watch them learn.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"arcadia-client {client_version()}")
        raise typer.Exit


@app.callback()
def options(
    version: bool = typer.Option(False, "--version", callback=_print_version, is_eager=True, help="Show the version."),
) -> None:
    """Train agents to play games, and watch them learn."""


def _added_command(arguments: list[str]) -> EntryPoint | None:
    """Return the command of another package that the arguments name.

    Some names are commands of the client too. With --run-dir they work on a folder, without a server.
    """
    name = arguments[0] if arguments else ""
    if name in _own_commands() and "--run-dir" not in arguments:
        return None
    return next((entry for entry in entry_points(group=COMMANDS_GROUP) if entry.name == name), None)


def _own_commands() -> set[str]:
    commands = {command.name or command.callback.__name__ for command in app.registered_commands if command.callback}
    return commands | {str(group.name) for group in app.registered_groups}


def main() -> int:
    """Run the command, and return its exit status."""
    arguments = sys.argv[1:]
    if entry := _added_command(arguments):
        return int(entry.load()(arguments))
    try:
        app(arguments)
    except ArcadiaError as error:
        print(f"arcadia: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
