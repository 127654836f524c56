"""The client's version and build."""

from __future__ import annotations

import platform
from importlib.metadata import version


def client_version() -> str:
    """Return the version of the installed client."""
    return version("arcadia-client")


def user_agent() -> str:
    """Return the User-Agent header."""
    return f"arcadia-client/{client_version()} Python/{platform.python_version()}"
