"""The client's version and build."""

from __future__ import annotations

import getpass
import os
import platform
import re
import shutil
import socket
import subprocess
from importlib.metadata import version
from pathlib import Path

# Beside this module in a wheel: the commit that it was built from.
COMMIT_FILE = "commit.txt"
COMMIT_LENGTH = 12
MAX_NAME_LENGTH = 40
_REPOSITORY = Path(__file__).parents[2]


def client_version() -> str:
    """Return the version of the installed client."""
    return version("arcadia-client")


def client_build() -> str:
    """Return the version and the commit, such as 0.1.0+3f4a75ab5123. Without a known commit it is the version alone."""
    file = Path(__file__).with_name(COMMIT_FILE)
    revision = file.read_text() if file.is_file() else commit()
    return f"{client_version()}+{revision}" if revision else client_version()


def user_agent(interface: str = "", user: str = "") -> str:
    """Return the User-Agent header. It names the interface, such as CLI, and its user, for the server to show.

    For example: arcadia-client/0.1.0 (CLI; ana@gpu-box) Python/3.12.3
    """
    details = "; ".join(part for part in (interface, user) if part)
    return f"arcadia-client/{client_version()} {f'({details}) ' if details else ''}Python/{platform.python_version()}"


def user_name() -> str:
    """Return the name of the user of this process, or an empty text if the user has none, as in some containers."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return ""


def local_user() -> str:
    """Return the user of this process and its host, such as ana@gpu-box. A part that is unknown is left out."""
    parts = (_in_header(user_name()), _in_header(socket.gethostname()))
    return "@".join(part for part in parts if part)


def _in_header(text: str) -> str:
    """Return a text with only characters that a comment in a header can have."""
    return re.sub(r"[^\w.-]", "?", text, flags=re.ASCII)[:MAX_NAME_LENGTH]


def commit() -> str:
    """Return the commit that ARCADIA_BUILD names or that is checked out, or nothing.

    A checkout with changed files is marked as dirty.
    """
    if set_by_user := os.environ.get("ARCADIA_BUILD", "")[: COMMIT_LENGTH + len("-dirty")]:
        return set_by_user
    if not (_REPOSITORY / ".git").exists() or shutil.which("git") is None:
        return ""
    describe = ["describe", "--always", "--dirty", "--exclude=*", f"--abbrev={COMMIT_LENGTH}"]
    try:
        done = subprocess.run(
            ["git", "-C", str(_REPOSITORY), *describe], capture_output=True, text=True, timeout=5, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.strip()
