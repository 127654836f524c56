"""State of the git checkout that Arcadia's code runs from."""

import os
import re
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from workers.contract.provenance import MAX_DIFF_BYTES, MAX_UNTRACKED, Checkout
from workers.trainer.errors import TrainerError

GIT_SECONDS = 20
# More than the longest diff, and enough for the names of all untracked files.
MAX_OUTPUT_BYTES = 4 * MAX_DIFF_BYTES
# Diffs may hold any byte. Control characters would make the event's line several times longer.
_CONTROL = re.compile(r"[\0-\x08\x0b-\x1f\x7f]")
_NO_BRANCH = "(detached)"
_TRACKED = ("1 ", "2 ", "u ")
_UNTRACKED = "? "


class CheckoutError(TrainerError):
    """Git cannot describe the checkout."""


@dataclass(frozen=True)
class CheckoutState:
    """A checkout with the changes since its commit."""

    checkout: Checkout
    diff: str


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
    checkout = Checkout(
        commit=facts["branch.oid"],
        branch=None if branch == _NO_BRANCH else branch,
        dirty=is_changed or bool(untracked),
        diff_cut=is_cut,
        untracked=untracked[:MAX_UNTRACKED],
    )
    return CheckoutState(checkout, diff)


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
