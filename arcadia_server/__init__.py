"""The commands that an installed server adds to `arcadia`."""

from __future__ import annotations


def run(arguments: list[str]) -> int:
    """Run a command of the server. The first argument is its name."""
    from backend.cli import main

    return main(arguments)
