"""State of a git checkout."""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from arcadia.errors import ArcadiaError

# A provenance is one event, which must fit into a line of the event file.
MAX_DIFF_BYTES = 1_000_000
MAX_UNTRACKED = 1_000
GIT_SECONDS = 20
# More than the longest diff, and enough for the names of all untracked files.
MAX_OUTPUT_BYTES = 4 * MAX_DIFF_BYTES
# Diffs may hold any byte. Control characters would make the event's line several times longer.
_CONTROL = re.compile(r"[\0-\x08\x0b-\x1f\x7f]")
_NO_BRANCH = "(detached)"
_TRACKED = ("1 ", "2 ", "u ")
_UNTRACKED = "? "


class CheckoutError(ArcadiaError):
    """Git cannot describe the checkout."""


@dataclass(frozen=True)
class CheckoutState:
    """A commit with the changes since then. `branch` is None if none is checked out."""

    commit: str
    branch: str | None
    # Whether tracked files differ from the commit, or untracked files exist.
    dirty: bool
    # Whether the diff is longer than the part that is kept.
    diff_cut: bool
    untracked: list[str] = field(default_factory=list)
    diff: str = ""


def find_checkout(folder: Path) -> Path | None:
    """Return the root of the checkout that a folder is in, or None."""
    return next((each for each in (folder, *folder.parents) if (each / ".git").exists()), None)


def read_checkout(root: Path) -> CheckoutState | None:
    """Return the state of the checkout at `root`, or None if it is not one. Raise CheckoutError if git fails."""
    if not (root / ".git").exists():
        return None
    status = _git(root, "status", "--porcelain=v2", "--branch", "--untracked-files=all", "-z").split("\0")
    facts = dict(line[2:].split(" ", 1) for line in status if line.startswith("# ") and " " in line[2:])
    untracked = [line[2:] for line in status if line.startswith(_UNTRACKED)]
    is_changed = any(line.startswith(_TRACKED) for line in status)
    diff, is_cut = "", False
    if is_changed:
        whole = _CONTROL.sub("\ufffd", _git(root, "diff", "--no-color", "--no-ext-diff", "--no-textconv", "HEAD"))
        diff = whole.encode()[:MAX_DIFF_BYTES].decode(errors="ignore")
        is_cut = len(diff) < len(whole)
    branch = facts["branch.head"]
    return CheckoutState(
        commit=facts["branch.oid"],
        branch=None if branch == _NO_BRANCH else branch,
        dirty=is_changed or bool(untracked),
        diff_cut=is_cut,
        untracked=untracked[:MAX_UNTRACKED],
        diff=diff,
    )


def _git(root: Path, *arguments: str) -> str:
    """Return the start of a git command's output. The command neither locks nor changes the checkout."""
    variables = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    command = ["git", "--no-optional-locks", "-C", str(root), "-c", "core.fsmonitor=false", *arguments]
    # A diff can be larger than the memory, so it does not pass through a pipe.
    with tempfile.TemporaryFile() as output:
        try:
            subprocess.run(
                command,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.PIPE,
                env={**variables, "LC_ALL": "C"},
                timeout=GIT_SECONDS,
                check=True,
            )
        except FileNotFoundError:
            raise CheckoutError("git is not installed, so the state of the checkout is unknown.") from None
        except subprocess.TimeoutExpired:
            raise CheckoutError(f"git {arguments[0]} took more than {GIT_SECONDS} seconds.") from None
        except subprocess.CalledProcessError as error:
            said = error.stderr.decode(errors="replace").strip()
            raise CheckoutError(f"git {arguments[0]} failed: {said}") from None
        output.seek(0)
        return output.read(MAX_OUTPUT_BYTES).decode(errors="replace")
