"""Generate the reference in docs/client/cli.md from the commands: python client/generate_reference.py [--check]."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

from arcadia.cli.main import app

DOCUMENT = Path(__file__).parents[1] / "docs" / "client" / "cli.md"
HEADING = "## Reference\n"
WIDTH = 80


def help_texts(command: Any, parent: typer.Context | None = None, name: str = "arcadia") -> Iterator[tuple[str, str]]:
    """Yield the name and the help of each command that works without a subcommand, in the order of the help."""
    context = typer.Context(command, info_name=name, parent=parent, terminal_width=WIDTH)
    if getattr(command, "invoke_without_command", True):
        yield context.command_path, command.get_help(context)
    for child_name, child in getattr(command, "commands", {}).items():
        yield from help_texts(child, context, child_name)


def generate(document: str) -> str:
    """Return the document with the current reference."""
    before, heading, _ = document.partition(HEADING)
    if not heading:
        raise SystemExit(f"{DOCUMENT} has no line {HEADING.strip()!r}")
    parts = [f"### {name}\n\n```text\n{text}\n```\n" for name, text in help_texts(typer.main.get_command(app))]
    return "\n".join([before + HEADING, *parts])


def main() -> int:
    """Write the document, or with --check return 1 if it is outdated."""
    document = DOCUMENT.read_text()
    generated = generate(document)
    if "--check" in sys.argv[1:]:
        if generated != document:
            print("docs/client/cli.md is outdated. Run python client/generate_reference.py.", file=sys.stderr)
        return int(generated != document)
    DOCUMENT.write_text(generated)
    return 0


if __name__ == "__main__":
    sys.exit(main())
