"""Warnings of integrations: each is printed once, and none stops the script."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator

_printed: set[str] = set()


def warn_once(topic: str, message: str) -> None:
    """Print a warning once per topic. `arcadia run` adds it to the run's log."""
    if topic not in _printed:
        _printed.add(topic)
        print(f"arcadia: {message}", file=sys.stderr, flush=True)


@contextlib.contextmanager
def not_stopping(what: str) -> Iterator[None]:
    """Print an error of the recording instead of raising it, because recording must never stop a script."""
    try:
        yield
    except Exception as error:  # a value of the script may raise any error
        warn_once(f"error of {what}", f"{what} was not recorded ({type(error).__name__}: {error}).")
