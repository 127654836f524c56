"""The `arcadia` command: what the client can do, and what installed packages add."""

from __future__ import annotations

import sys
from typing import Any

import typer
from typer.core import TyperGroup

from arcadia.cli.added import SERVER_COMMANDS, SERVER_MISSING, added_command, added_versions, describe_commands
from arcadia.cli.mcp import serve_mcp
from arcadia.errors import ArcadiaError
from arcadia.version import client_version


class CommandGroup(TyperGroup):
    """The client's commands, followed in the help by those of other packages."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the lists of commands."""
        super().format_commands(ctx, formatter)
        for package, commands in describe_commands().items():
            with formatter.section(f"Commands of the package {package}"):
                formatter.write_dl([each for each in commands if each[0] not in self.commands])


app = typer.Typer(
    name="arcadia",
    cls=CommandGroup,
    help="Train agents to play games, and watch them learn.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


app.command("mcp")(serve_mcp)


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"arcadia-client {client_version()}")
        for line in added_versions():
            print(line)
        raise typer.Exit


@app.callback()
def options(
    version: bool = typer.Option(False, "--version", callback=_print_version, is_eager=True, help="Show the versions."),
) -> None:
    """Train agents to play games, and watch them learn."""


def _own_commands() -> set[str]:
    commands = {command.name or command.callback.__name__ for command in app.registered_commands if command.callback}
    return commands | {str(group.name) for group in app.registered_groups}


def main() -> int:
    """Run the command, and return its exit status.

    Some names are commands of the client and of the server. With --run-dir they work on a folder, without a server.
    """
    arguments = sys.argv[1:]
    name = arguments[0] if arguments else ""
    if name not in _own_commands() or "--run-dir" in arguments:
        if entry := added_command(name):
            return int(entry.load()(arguments))
        if name in SERVER_COMMANDS:
            print(SERVER_MISSING.format(name=name), file=sys.stderr)
            return 1
    try:
        app(arguments, prog_name="arcadia")
    except ArcadiaError as error:
        print(f"arcadia: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
