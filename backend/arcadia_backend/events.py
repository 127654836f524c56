"""Events of a run or job: whether one is missing, and whether a repeated one has other contents."""

import hashlib
import json
import math
import struct
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import groupby
from typing import Any

from sqlalchemy import Select, select
from sqlalchemy.orm import Session

from arcadia_backend.database.tables import Attempt, EventDigests, Job
from arcadia_backend.errors import FieldError, Invalid, Problem
from arcadia_workers.contract import events as ev
from arcadia_workers.contract.worker_api import SEQUENCE_GAP


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


DIGEST_BYTES = 8
# A row with fewer digests is extended by the next batch, so that rows stay few.
ROW_EVENTS = 1_024
# The number under which the registration of a writer is stored, since its events start with 1.
REGISTRATION = 0

_METRICS = {"seq", "kind", "time", "step", "values"}
_JSON = json.JSONEncoder(sort_keys=True)


def digest_of(contents: Mapping[str, Any]) -> bytes:
    """Return the digest of an event's contents, without its number. The order of the fields does not count."""
    return hashlib.blake2b(_encode(contents), digest_size=DIGEST_BYTES).digest()


def _encode(contents: Mapping[str, Any]) -> bytes:
    """Return an event as bytes, which must not change between versions. Metrics have a faster way than JSON."""
    if contents.keys() == _METRICS and contents["kind"] == "metrics" and type(contents["values"]) is dict:
        names = sorted(contents["values"])
        numbers = [contents["time"], *(contents["values"][name] for name in names)]
        if type(contents["step"]) is int and all(type(number) is float for number in numbers):
            packed = struct.pack(f"<{len(numbers)}d", *numbers)
            return packed + "\0".join([str(contents["step"]), *names]).encode("utf-8", "surrogatepass")
    return _JSON.encode({**contents, "seq": 0}).encode()


def digest_of_event(event: ev.Event) -> bytes:
    """Return the digest of a trainer's event. Fields that were not sent do not count: a later version may add some."""
    return digest_of(event.model_dump(mode="json", exclude_unset=True))


class EventConflict(Problem):
    """An event that has the number of a stored one, but other contents."""

    status = 409
    kind = "event-conflict"
    title = "Another event has this number"


@dataclass(frozen=True)
class Unstored:
    """The indexes of the events to store, and how many of them have the number of a stored event."""

    indexes: list[int]
    conflicts: int


def take_unstored(session: Session, owner: Attempt | Job, events: Sequence[tuple[int, bytes]]) -> Unstored:
    """Return which numbered events of an attempt must be stored, and record that they are.

    Skip repeats. Keep both events if one differs from the stored event with its number. Raise SequenceGap if an event
    is missing.
    """
    last_seq = owner.last_seq
    refuse_gap((seq for seq, _ in events if seq > last_seq), last_seq)
    conflicts = _find_conflicts(session, owner, events)
    indexes = [index for index, (seq, _) in enumerate(events) if seq > last_seq or index in conflicts]
    _record(session, owner, [events[index] for index in indexes])
    owner.last_seq = max([last_seq, *(seq for seq, _ in events)])
    return Unstored(indexes, len(conflicts))


def is_other_registration(session: Session, attempt: Attempt, digest: bytes) -> bool:
    """Return True if the registration of a writer differs from all earlier ones, and record it."""
    stored = _load(session, attempt, REGISTRATION, REGISTRATION).get(REGISTRATION, set())
    if digest in stored:
        return False
    _record(session, attempt, [(REGISTRATION, digest)])
    return bool(stored)


def _find_conflicts(session: Session, owner: Attempt | Job, events: Sequence[tuple[int, bytes]]) -> set[int]:
    """Return the indexes of events whose number is stored, but not with these contents.

    Events of earlier versions have no digest, and count as equal.
    """
    repeated = [seq for seq, _ in events if seq <= owner.last_seq]
    if not repeated:
        return set()
    stored = _load(session, owner, min(repeated), max(repeated))
    conflicts = set()
    for index, (seq, digest) in enumerate(events):
        if seq in stored and digest not in stored[seq]:
            stored[seq].add(digest)
            conflicts.add(index)
    return conflicts


def _record(session: Session, owner: Attempt | Job, events: Sequence[tuple[int, bytes]]) -> None:
    """Store the digests of events. Extend the row that ends before them, unless it is full."""
    for _, group in groupby(enumerate(events), lambda each: each[1][0] - each[0]):
        successive = [event for _, event in group]
        first, last = successive[0][0], successive[-1][0]
        digests = b"".join(digest for _, digest in successive)
        short = _of(owner).where(EventDigests.last_seq == first - 1, EventDigests.first_seq >= first - ROW_EVENTS)
        row = session.scalar(short.limit(1)) if first > 1 else None
        if row is None:
            session.add(EventDigests(**_key(owner), first_seq=first, last_seq=last, digests=digests))
        else:
            row.digests, row.last_seq = row.digests + digests, last
        session.flush()


def _load(session: Session, owner: Attempt | Job, first: int, last: int) -> dict[int, set[bytes]]:
    """Return the digests of each stored number in a range."""
    digests: dict[int, set[bytes]] = {}
    for row in session.scalars(_of(owner).where(EventDigests.last_seq >= first, EventDigests.first_seq <= last)):
        for seq in range(max(first, row.first_seq), min(last, row.last_seq) + 1):
            start = (seq - row.first_seq) * DIGEST_BYTES
            digests.setdefault(seq, set()).add(row.digests[start : start + DIGEST_BYTES])
    return digests


def _of(owner: Attempt | Job) -> Select[EventDigests]:
    return select(EventDigests).filter_by(**_key(owner))


def _key(owner: Attempt | Job) -> dict[str, int]:
    kind = {"job_id": owner.id} if isinstance(owner, Job) else {"run_id": owner.run_id}
    return {**kind, "attempt": owner.attempt}
