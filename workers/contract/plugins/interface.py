"""What an entry point of a plug-in names. `arcadia.plugins` is its public name."""

from collections.abc import Sequence
from dataclasses import dataclass

# Raise it when packages that work with the last version no longer do.
VERSION = 1


@dataclass(frozen=True)
class Plugin:
    """The parts that one entry point provides, and the version of the interface that they were written for."""

    interface: int
    provides: Sequence[object]
