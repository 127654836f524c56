"""Import of optional packages."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from arcadia.errors import MissingPackageError


def import_optional(module: str, purpose: str, package: str | None = None) -> Any:
    """Return a module. Raise MissingPackageError with the command that installs it."""
    try:
        return import_module(module)
    except ImportError as error:
        package = package or module.partition(".")[0]
        raise MissingPackageError(
            f"{purpose} needs the package {package}, which cannot be imported ({error}). "
            f"Install it: pip install {package}"
        ) from error
