"""The build of Arcadia that a process runs: its version and commit, such as 0.1.0+3f4a75ab5123."""

import functools
import os
import shutil
import subprocess
from importlib.metadata import version
from pathlib import Path

ROOT = Path(__file__).parents[3]
SETTING = "ARCADIA_BUILD"
COMMIT_LENGTH = 12
# Beside this module in a wheel: the commit that it was built from.
COMMIT_FILE = "commit.txt"


@functools.cache
def build() -> str:
    """Return this process's build. Without a known commit it is the version alone."""
    revision = commit()
    return f"{version('arcadia')}+{revision}" if revision else version("arcadia")


def commit() -> str:
    """Return the commit from the setting, the wheel or the checkout, or an empty string."""
    set_by_user = os.environ.get(SETTING, "")[: COMMIT_LENGTH + len("-dirty")]
    return set_by_user or _commit_of_wheel() or _commit_of_checkout()


def differ(one: str, other: str) -> bool:
    """Return True if two builds are known to differ."""
    if "+" in one and "+" in other:
        return one != other
    return one.partition("+")[0] != other.partition("+")[0]


def _commit_of_wheel() -> str:
    file = Path(__file__).with_name(COMMIT_FILE)
    return file.read_text() if file.is_file() else ""


def _commit_of_checkout() -> str:
    """Return the commit of this checkout, marked as dirty if files were changed. Empty outside a checkout."""
    if not (ROOT / ".git").exists() or shutil.which("git") is None:
        return ""
    command = ["git", "-C", str(ROOT), "describe", "--always", "--dirty", "--exclude=*", f"--abbrev={COMMIT_LENGTH}"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=5, check=True)
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.strip()
