"""The commands that an installed server adds to `arcadia`. They import nothing else until they run."""

from __future__ import annotations

import os


def version() -> str:
    """Return the version, the commit and the database schema."""
    from arcadia_backend.cli import describe_version

    return describe_version()


def run(arguments: list[str]) -> int:
    """Run a command. The first argument is its name."""
    from arcadia_backend.cli import main

    # Files in the current folder must not hide packages from the processes that are started here.
    os.environ["PYTHONSAFEPATH"] = "1"

    return main(arguments)


def up(arguments: list[str]) -> int:
    """Start the backend, a worker and Redis on this machine."""
    return run(arguments)


def backend(arguments: list[str]) -> int:
    """Start only the backend."""
    return run(arguments)


def migrate(arguments: list[str]) -> int:
    """Migrate the database to this version."""
    return run(arguments)


def backup(arguments: list[str]) -> int:
    """Back up the database and the files, also while Arcadia runs."""
    return run(arguments)


def restore(arguments: list[str]) -> int:
    """Restore a backup into an empty installation that is not running."""
    return run(arguments)


def user(arguments: list[str]) -> int:
    """List, add and change people, on the machine of the data folder."""
    return run(arguments)


def worker(arguments: list[str]) -> int:
    """Start a worker."""
    return run(arguments)


def worker_bundle(arguments: list[str]) -> int:
    """Pack the worker into one file, for hosts that cannot install packages."""
    return run(arguments)


def train(arguments: list[str]) -> int:
    """Train without a server."""
    return run(arguments)


def evaluate(arguments: list[str]) -> int:
    """Evaluate an agent."""
    return run(arguments)


def record(arguments: list[str]) -> int:
    """Record an episode of an agent."""
    return run(arguments)


def futures(arguments: list[str]) -> int:
    """Simulate how an episode of an agent continues."""
    return run(arguments)


def review(arguments: list[str]) -> int:
    """Find the decisions of an episode at which an agent lost."""
    return run(arguments)


def practice(arguments: list[str]) -> int:
    """Train an agent from its mistakes, and compare it with a control."""
    return run(arguments)


def calibrate(arguments: list[str]) -> int:
    """Compare an agent's values with simulated futures."""
    return run(arguments)


def agent(arguments: list[str]) -> int:
    """Export an agent of a run directory as one file."""
    return run(arguments)


def plugins(arguments: list[str]) -> int:
    """List, check, allow and create plug-ins."""
    return run(arguments)
