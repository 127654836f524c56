"""References to objects of modules, such as package.module:NAME."""

from importlib import import_module
from typing import Any


def resolve(reference: str) -> Any:
    """Import the object of a reference."""
    module, _, name = reference.partition(":")
    return getattr(import_module(module), name)
