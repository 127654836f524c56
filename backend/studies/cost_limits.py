"""Limits on the cost of a study: when its steps must be confirmed, and when it is rejected."""

from collections.abc import Sequence

from backend.errors import FieldError, Invalid

MAX_STUDY_SECONDS = 366 * 86_400.0
# The total of steps must be confirmed above these limits, or if the duration is unknown.
CONFIRM_ABOVE_SECONDS = 86_400.0
CONFIRM_ABOVE_STEPS = 1_000_000_000
# More steps are rejected while the duration is unknown.
MAX_UNMEASURED_STEPS = 10_000_000_000
# Run kinds listed in a message.
MAX_LISTED_KINDS = 3


def confirmation_reason(steps: int, seconds: float | None, unmeasured: Sequence[str]) -> str | None:
    """Return why the total of steps must be confirmed, or None."""
    if seconds is None:
        return f"the duration is unknown: {name_kinds(unmeasured)} has not trained here yet"
    if steps > CONFIRM_ABOVE_STEPS:
        return f"that is more than {CONFIRM_ABOVE_STEPS:,} steps"
    if seconds > CONFIRM_ABOVE_SECONDS:
        return f"that takes about {seconds / 86_400:,.1f} days"
    return None


def cost_refusal(steps: int, seconds: float, unmeasured: Sequence[str], *, measure: str, reduce: str) -> str | None:
    """Return why a cost is rejected even if confirmed, or None.

    `measure` and `reduce` are parts of the message: how to measure the duration, and how to reduce the cost.
    """
    if seconds > MAX_STUDY_SECONDS:
        years = seconds / (365.25 * 86_400)
        return f"that would take about {years:,.1f} years at the rate measured here: {reduce}"
    if unmeasured and steps > MAX_UNMEASURED_STEPS:
        return (
            f"{steps:,} steps are too many while the duration is unknown: {measure} "
            f"{name_kinds(unmeasured)} first, or {reduce}"
        )
    return None


def require_confirmation(runs: int, steps: int, confirm: str | None, confirmed_steps: int | None) -> None:
    """Raise Invalid if the total of steps must be confirmed and is not, or if the confirmed total differs."""
    total = f"{'1 run trains' if runs == 1 else f'{runs:,} runs train'} {steps:,} steps"
    if confirmed_steps is not None and confirmed_steps != steps:
        message = f"{total}, not {confirmed_steps:,}: send {steps}"
        raise Invalid(FieldError(field="confirm_steps", message=message))
    if confirm and confirmed_steps is None:
        message = f'{total}, and {confirm}; send "confirm_steps": {steps} to start them'
        raise Invalid(FieldError(field="confirm_steps", message=message))


def name_kinds(kinds: Sequence[str]) -> str:
    """List the first run kinds, and the number of the others."""
    more = len(kinds) - MAX_LISTED_KINDS
    return ", ".join(kinds[:MAX_LISTED_KINDS]) + (f" and {more:,} more" if more > 0 else "")
