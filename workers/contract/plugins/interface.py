"""The object that an entry point of a plug-in names. `arcadia.plugins` exports it."""

from collections.abc import Sequence
from dataclasses import dataclass

# Increment it when packages written for the last version stop working.
VERSION = 1


@dataclass(frozen=True)
class Plugin:
    """The parts that one entry point provides, and the version of the interface that they were written for."""

    interface: int
    provides: Sequence[object]
