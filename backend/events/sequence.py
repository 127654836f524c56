"""Order of events: none is missing."""

import math
from collections.abc import Container, Iterable
from datetime import UTC, datetime

from backend.errors import FieldError, Invalid, Problem
from workers.contract import events as ev
from workers.contract.worker_api import SEQUENCE_GAP


class SequenceGap(Problem):
    """Events are missing between the last one stored and the first one sent."""

    status = 409
    kind = SEQUENCE_GAP
    title = "Events are missing"


def refuse_other_kinds(events: Iterable[ev.Event], known: Container[type[ev.Event]]) -> None:
    """Raise Invalid if an endpoint does not accept an event of its kind."""
    for event in events:
        if type(event) not in known:
            raise Invalid(FieldError(field="events", message=f"no event {event.kind} is expected here"))


def refuse_gap(seqs: Iterable[int], last_seq: int) -> None:
    """Raise SequenceGap unless the numbers of new events rise by one from the last stored one."""
    for expected, seq in enumerate(seqs, start=last_seq + 1):
        if seq != expected:
            raise SequenceGap(
                f"Expected event {expected}, but got {seq}. Send again from {expected}.", expected=expected
            )


def to_datetime(seconds: float) -> datetime:
    """Convert a Unix time. A time outside the calendar becomes 1970, since the clock of a trainer may be wrong."""
    if not math.isfinite(seconds) or not 0 <= seconds < 253_402_300_800:
        seconds = 0.0
    return datetime.fromtimestamp(seconds, UTC)
