"""Outcome of a try to deliver an alert."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Attempted:
    """Outcome of one try to deliver an alert."""

    status: int | None = None
    response: str | None = None
    # Why it failed, or None if it succeeded.
    error: str | None = None
    # True if another try cannot succeed.
    is_final: bool = False
