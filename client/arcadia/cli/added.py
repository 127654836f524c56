"""Commands that installed packages add to `arcadia`.

A package adds NAME = "module:function" to the entry points of the group `arcadia.commands`. The function takes the
arguments, starting with the name, and returns the exit status. The first line of its docstring is the command's help.
A function of the group `arcadia.versions` returns a line for `arcadia --version`.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib.metadata import EntryPoint, entry_points

COMMANDS_GROUP, VERSIONS_GROUP = "arcadia.commands", "arcadia.versions"
# Commands of the server's package, to explain what is missing if it is not installed. The client may have some too.
SERVER_COMMANDS = tuple(
    "up backend migrate backup restore worker train evaluate record futures calibrate agent plugins".split()
)
SERVER_MISSING = """`arcadia {name}` needs the server, which is not installed in this environment.
Install both wheels, which `make wheel` builds in a copy of Arcadia's repository:
  pip install dist/arcadia_client-*.whl dist/arcadia-*.whl"""


def added_command(name: str) -> EntryPoint | None:
    """Return the command of another package, or None."""
    return next((entry for entry in entry_points(group=COMMANDS_GROUP) if entry.name == name), None)


def describe_commands() -> dict[str, list[tuple[str, str]]]:
    """Return the names and help texts of the added commands, by package."""
    found: dict[str, list[tuple[str, str]]] = {}
    for entry in entry_points(group=COMMANDS_GROUP):
        package = entry.dist.name if entry.dist else entry.module
        found.setdefault(package, []).append((entry.name, _help(entry)))
    return found


def added_versions() -> Iterator[str]:
    """Yield the lines that other packages add to `arcadia --version`."""
    for entry in entry_points(group=VERSIONS_GROUP):
        yield str(entry.load()())


def _help(entry: EntryPoint) -> str:
    try:
        text: str = entry.load().__doc__ or ""
    except Exception as error:  # a broken package must not hide the other commands
        return f"Cannot be loaded: {error!r}"
    return text.strip().partition("\n")[0]
