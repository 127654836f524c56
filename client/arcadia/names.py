"""References to runs, such as 7-12, unique names and @last, and the fields of listed runs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any, Protocol

from arcadia.errors import AmbiguousReferenceError, NotFoundError

LAST = "@last"
MAX_RANGE = 1_000
_NUMBERS = re.compile(r"\s*\d+(\s*-\s*\d+)?(\s*,\s*\d+(\s*-\s*\d+)?)*\s*")


class HasId(Protocol):
    """Anything with a number, such as a run."""

    @property
    def id(self) -> int:
        """Return the number."""
        ...


RunReference = int | str | HasId
"""A number, a unique name, `@last`, or a run. Where several runs are accepted, also a range such as 7-12."""
RunReferences = RunReference | Sequence[RunReference]
"""One reference, or several."""


@dataclass(frozen=True)
class Numbers:
    """Runs named by their numbers."""

    ids: tuple[int, ...]
    # In a range, numbers of deleted runs are left out. A single number must exist.
    is_range: bool


@dataclass(frozen=True)
class Name:
    """A run named by its unique name."""

    name: str


@dataclass(frozen=True)
class Last:
    """The newest run."""


Parsed = Numbers | Name | Last


def parse_reference(reference: RunReference) -> Parsed:
    """Return the meaning of a reference. Raise AmbiguousReferenceError if it is malformed."""
    if isinstance(reference, bool):
        raise AmbiguousReferenceError(f"{reference} is not a run. Use a number, a name or {LAST}.")
    if isinstance(reference, int):
        return Numbers((reference,), is_range=False)
    if not isinstance(reference, str):
        return Numbers((reference.id,), is_range=False)
    text = reference.strip()
    if text == LAST:
        return Last()
    if not text or text.startswith("@"):
        raise AmbiguousReferenceError(
            f"{reference!r} is not a run. Use a number, a range such as 7-12, a name or {LAST}."
        )
    if _NUMBERS.fullmatch(text):
        return Numbers(tuple(dict.fromkeys(_expand(text))), is_range=not text.isdecimal())
    return Name(text)


def flatten_references(references: Iterable[RunReferences]) -> list[RunReference]:
    """Return single references from references and lists of them."""
    flat: list[RunReference] = []
    for each in references:
        flat += [each] if isinstance(each, str) or not isinstance(each, Sequence) else each
    return flat


def joined_ids(ids: Iterable[int]) -> str:
    """Return the numbers of runs in the format of an API parameter."""
    return ",".join(map(str, ids))


def require_one_id(parsed: Numbers, reference: RunReference) -> int:
    """Return the number of a single run."""
    if len(parsed.ids) != 1:
        raise AmbiguousReferenceError(f"{reference} names {len(parsed.ids)} runs where one is expected.")
    return parsed.ids[0]


def require_one_match(ids: Sequence[int], name: str, noun: str = "run") -> int:
    """Return the number of the only run with a name."""
    if not ids:
        raise NotFoundError.of_name(noun, name)
    if len(ids) > 1:
        numbers = ", ".join(map(str, ids))
        raise AmbiguousReferenceError(f"Several {noun}s are named {name!r}: {numbers}. Use the number of one.")
    return ids[0]


def _expand(text: str) -> Iterable[int]:
    for part in text.split(","):
        first, _, last = part.partition("-")
        low, high = int(first), int(last or first)
        if not 0 <= high - low < MAX_RANGE:
            raise AmbiguousReferenceError(f"{part.strip()} is not a range of at most {MAX_RANGE:,} runs, such as 7-12.")
        yield from range(low, high + 1)


# Fields that the server leaves out of a listed run if they are null or empty.
_EMPTY: Mapping[str, Any] = {
    "origin_label": None,
    "queue": None,
    "tags": [],
    "parent": None,
    "started_at": None,
    "finished_at": None,
    "archived_at": None,
    "state_reason": None,
    "failure": None,
    "worker": None,
    "total_steps": None,
    "steps_per_second": None,
    "seconds_left": None,
    "last_return": None,
    "best_return": None,
    "poster_file_id": None,
    "metrics": {},
}


def read_run_page(page: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the runs of a page. Add the empty fields, and the actions, which runs of a page share."""
    return [_complete(run) | {"actions": page["actions"][run["actions"]]} for run in page["items"]]


def _complete(run: Mapping[str, Any]) -> dict[str, Any]:
    return {**run, **{name: copy(value) for name, value in _EMPTY.items() if name not in run}}
