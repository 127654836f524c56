"""The papers' scores without duplicates, with all tables that print them."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache

from workers.contract import published
from workers.contract.protocols import PROTOCOLS
from workers.contract.published.rows import Score


@dataclass
class PublishedScore:
    """A player's score in a game, with the rows that print it."""

    protocol: str
    player: str
    score: float
    note: str | None
    rows: list[Score] = field(default_factory=list)


@cache
def published_scores(env: str) -> Sequence[PublishedScore]:
    """Return the published scores of a game. A citation of another paper's score is the same score."""
    found: list[PublishedScore] = []
    for row in published.scores():
        if row.env != env:
            continue
        protocol, note = _protocol_and_note(row.protocol)
        same = next((one for one in found if one.protocol == protocol and _cites(row, one.rows)), None)
        if same is None:
            same = PublishedScore(protocol, row.player, row.score, note)
            found.append(same)
        same.rows.append(row)
    return found


def _protocol_and_note(written: str) -> tuple[str, str | None]:
    """Split a row's protocol into the protocol and a note on the row."""
    protocol, _, note = written.partition("; ")
    return (written, None) if written in PROTOCOLS else (protocol, note or None)


def _cites(row: Score, rows: Sequence[Score]) -> bool:
    """Return True if a row prints the same score as these, such as A3C's 264 for the 263.9 of A3C FF."""
    return all(
        row.source != other.source
        and row.player.split()[0] == other.player.split()[0]
        and abs(row.score - other.score) <= 0.5 * 10.0 ** -min(_decimals(row.score), _decimals(other.score)) + 1e-9
        for other in rows
    )


def _decimals(score: float) -> int:
    return 0 if score == int(score) else len(f"{score!r}".partition(".")[2])
