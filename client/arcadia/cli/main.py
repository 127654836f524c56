"""The `arcadia` command, with the commands of the client and of installed packages."""

from __future__ import annotations

import signal
import sys
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from arcadia.cli import (
    alerts,
    artifacts,
    control,
    download,
    evaluate,
    launch,
    login,
    metrics,
    runs,
    scripts,
    server,
    study,
    suite,
    watch,
)
from arcadia.cli.options import ConnectionOptions, describe_server, move_global_options
from arcadia.errors import ArcadiaError
from arcadia.version import client_build

COMMANDS_GROUP, VERSIONS_GROUP = "arcadia.commands", "arcadia.versions"
# Commands of the server's package, to explain what is missing if it is not installed. The client may have some too.
SERVER_COMMANDS = tuple(
    (
        "up backend migrate backup restore user worker worker-bundle train evaluate record futures review practice "
        "calibrate agent plugins"
    ).split()
)
SERVER_MISSING = """`arcadia {name}` needs the server, which is not installed in this environment.
Install both wheels, which `make wheel` builds in a copy of Arcadia's repository:
  pip install dist/arcadia_client-*.whl dist/arcadia-*.whl"""


def added_command(name: str) -> EntryPoint | None:
    """Return the command of another package, or None."""
    return next((entry for entry in entry_points(group=COMMANDS_GROUP) if entry.name == name), None)


def describe_commands() -> dict[str, list[tuple[str, str]]]:
    """Return the names and help texts of the added commands, by package."""
    commands: dict[str, list[tuple[str, str]]] = {}
    for entry in entry_points(group=COMMANDS_GROUP):
        package = entry.dist.name if entry.dist else entry.module
        commands.setdefault(package, []).append((entry.name, _help(entry)))
    return commands


def _help(entry: EntryPoint) -> str:
    try:
        text: str = entry.load().__doc__ or ""
    except Exception as error:  # a broken package must not hide the other commands
        return f"Cannot be loaded: {error!r}"
    return text.strip().partition("\n")[0]


def add_commands(app: typer.Typer) -> None:
    """Add all commands."""
    add = app.command
    add("login")(login.login)
    add("logout")(login.logout)
    add("launch")(launch.launch)
    add("runs")(runs.runs)
    add("show")(runs.show)
    add("watch")(watch.watch)
    add("log")(watch.log)
    add("metrics")(metrics.metrics)
    add("stop")(control.stop)
    add("pause")(control.pause)
    add("resume")(control.resume)
    add("change")(control.change)
    add("fork")(control.fork)
    add("clone")(control.clone)
    add("tag")(runs.tag)
    add("move")(server.move)
    add("archive")(control.archive)
    add("delete")(control.delete)
    add("diagnose")(suite.diagnose)
    add("compare")(metrics.compare)
    add("figure")(metrics.figure)
    add("evaluate")(evaluate.evaluate)
    add("record")(evaluate.record)
    app.add_typer(study.app, name="study")
    app.add_typer(suite.app, name="suite")
    app.add_typer(server.app, name="projects")
    app.add_typer(download.app, name="download")
    app.add_typer(evaluate.agent_app, name="agent")
    app.add_typer(artifacts.alias_app, name="alias")
    app.add_typer(artifacts.app, name="artifacts")
    add("run", context_settings={"allow_interspersed_args": False})(scripts.run)
    add("follow")(scripts.follow)
    add("import-logs")(scripts.import_logs)
    add("export")(download.export)
    add("import")(download.import_files)
    add("sync")(scripts.sync)
    app.add_typer(alerts.app, name="alerts")
    add("presets")(launch.presets)
    app.add_typer(server.workers_app, name="workers")
    add("usage")(server.usage)
    add("caps")(server.caps)
    add("executors")(server.executors)
    add("open")(server.open_page)
    add("mcp")(scripts.serve_mcp)


# With these, `evaluate`, `record` and `agent` work on a folder or a policy of this machine.
LOCAL_OPTIONS = ("--run-dir", "--random")


class CommandGroup(TyperGroup):
    """The client's commands, followed in the help by those of other packages."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the arguments. The global options may also follow the command's name."""
        return super().parse_args(ctx, move_global_options(args))

    def shell_complete(self, ctx: Any, incomplete: str) -> list[Any]:
        """Return the completions of the first word, with the commands of other packages."""
        completions = super().shell_complete(ctx, incomplete)
        if completions and incomplete[:1] != "-":
            item = type(completions[0])
            added = [each for commands in describe_commands().values() for each in commands]
            completions += [item(name, help=text) for name, text in added if name.startswith(incomplete)]
        return completions

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
        for entry in entry_points(group=VERSIONS_GROUP):
            print(entry.load()())
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
