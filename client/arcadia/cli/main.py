"""The `arcadia` command, with the commands of the client and of installed packages."""

from __future__ import annotations

import signal
import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from arcadia.cli.added import SERVER_COMMANDS, SERVER_MISSING, added_command, added_versions, describe_commands
from arcadia.cli.commands import add_commands
from arcadia.cli.connection import ConnectionOptions, describe_server, move_global_options
from arcadia.errors import ArcadiaError
from arcadia.version import client_build

# With these, `evaluate`, `record` and `agent` work on a folder or a policy of this machine.
LOCAL_OPTIONS = ("--run-dir", "--random")


class CommandGroup(TyperGroup):
    """The client's commands, followed in the help by those of other packages."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the arguments. The global options may also follow the command's name."""
        return super().parse_args(ctx, move_global_options(args))

    def shell_complete(self, ctx: Any, incomplete: str) -> list[Any]:
        """Return the completions of the first word, with the commands of other packages."""
        found = super().shell_complete(ctx, incomplete)
        if found and incomplete[:1] != "-":
            item = type(found[0])
            added = [each for commands in describe_commands().values() for each in commands]
            found += [item(name, help=text) for name, text in added if name.startswith(incomplete)]
        return found

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
add_commands(app)


def _print_version(ctx: typer.Context, wanted: bool) -> None:
    if wanted:
        print(f"arcadia-client {client_build()}")
        for line in added_versions():
            print(line)
        if line := describe_server(ConnectionOptions(ctx.params.get("url"), ctx.params.get("token_file"))):
            print(line)
        raise typer.Exit


@app.callback()
def options(
    ctx: typer.Context,
    url: Annotated[
        str | None,
        typer.Option(
            "--url", is_eager=True, metavar="URL", help="URL of the server. Default: ARCADIA_URL or the last login."
        ),
    ] = None,
    token_file: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            is_eager=True,
            envvar="ARCADIA_TOKEN_FILE",
            help="File with the token. Default: ARCADIA_TOKEN or the last login.",
        ),
    ] = None,
    version: Annotated[  # noqa: ARG001 - its callback prints the versions
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Show the versions.")
    ] = False,
) -> None:
    """Train agents to play games, and watch them learn."""
    ctx.obj = ConnectionOptions(url, token_file)


def _own_commands() -> set[str]:
    commands = {command.name or command.callback.__name__ for command in app.registered_commands if command.callback}
    return commands | {str(group.name) for group in app.registered_groups}


def accept_ctrl_c() -> None:
    """Let Ctrl-C end this command and its children, although some shells start background jobs that ignore it."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def main() -> int:
    """Run the command, and return its exit status.

    Three names are commands of the client and of the server. With a local option they work here, without a server.
    """
    accept_ctrl_c()
    arguments = sys.argv[1:]
    name = arguments[0] if arguments else ""
    if name not in _own_commands() or any(argument.partition("=")[0] in LOCAL_OPTIONS for argument in arguments):
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
    except OSError as error:
        # For example, a file of the command line that cannot be read or written.
        place = f"{error.filename}: " if error.filename else ""
        print(f"arcadia: {place}{error.strerror or error}.", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
