"""Description of a command's failure from its exit status and its last lines."""

from __future__ import annotations

import signal
from collections.abc import Sequence

TRACEBACK = "Traceback (most recent call last):"
MAX_MESSAGE = 2_000


def describe_status(status: int) -> str:
    """Return a sentence that explains an exit status."""
    if status >= 0:
        return f"The command exited with status {status}."
    try:
        return f"The command was killed by {signal.Signals(-status).name}."
    except ValueError:
        return f"The command was killed by signal {-status}."


def find_traceback(lines: Sequence[str]) -> tuple[str, str] | None:
    """Return the last Python error and its traceback, or None if there is no error."""
    start = next((number for number in reversed(range(len(lines))) if lines[number].strip() == TRACEBACK), None)
    if start is None:
        return None
    end = next((number for number in range(start + 1, len(lines)) if not lines[number].startswith(" ")), None)
    if end is None:
        return None
    return lines[end][:MAX_MESSAGE], "\n".join(lines[start : end + 1])
