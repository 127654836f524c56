"""Shares of simulations: intervals that cover a known truth, and false verdicts."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

SEED = 20_261_129

Ends = tuple[float, float] | None


@dataclass(frozen=True)
class Row:
    """Simulated shares of one question for each size; None where the product shows nothing."""

    question: str
    scores: str
    shares: Mapping[int, float | None]
    # Whether shares are of wrong verdicts. If not, they are of intervals that cover the truth.
    wrong: bool = False
    # Whether the product promises these: at least this share covered, or at most 5 % wrong.
    promised: bool = field(default=True)
    min_coverage: float = 0.9
    # Shares of the samples for which something is shown. Without one, that is all.
    shown: Mapping[int, float] = field(default_factory=dict)

    def wrong_share(self, size: int) -> float:
        """Return the share of all samples for which something wrong is shown."""
        share = self.shares[size]
        if share is None:
            return 0.0
        return self.shown.get(size, 1.0) * (share if self.wrong else 1 - share)


class Coverage(NamedTuple):
    """The share of intervals that cover the truth, among those shown, and the share of samples that show one."""

    covered: float | None
    shown: float


def coverage(trials: int, seed: int, attempt: Callable[[np.random.Generator], tuple[Ends, float]]) -> Coverage:
    """Return how often an interval is shown, and how often it then covers the truth."""
    random = np.random.default_rng(seed)
    shown = [(ends, truth) for ends, truth in (attempt(random) for _ in range(trials)) if ends is not None]
    right = [low <= truth <= high for (low, high), truth in shown]
    return Coverage(float(np.mean(right)) if right else None, len(shown) / trials)


def covered_row(
    question: str,
    scores: str,
    trials: int,
    attempts: Mapping[int, Callable[[np.random.Generator], tuple[Ends, float]]],
    promised: bool = True,
    min_coverage: float = 0.9,
) -> Row:
    """Return the row of an interval, with an attempt for each size."""
    found = {size: coverage(trials, SEED, attempt) for size, attempt in attempts.items()}
    shares = {size: each.covered for size, each in found.items()}
    shown = {size: each.shown for size, each in found.items()}
    return Row(question, scores, shares, promised=promised, min_coverage=min_coverage, shown=shown)


def broken(row: Row, trials: int) -> bool:
    """Return True if a promise is broken by more than three standard errors of the simulation.

    An interval that is promised to cover 90 % is shown and wrong in at most 10 % of all samples.
    """
    limit = 0.05 if row.wrong else 1 - row.min_coverage
    slack = 3 * (limit * (1 - limit) / trials) ** 0.5
    return row.promised and any(row.wrong_share(size) > limit + slack for size in row.shares)


def table(rows: Iterable[Row]) -> Iterator[str]:
    """Yield the lines of a table in Markdown."""
    yield "| question | scores | share by number |"
    yield "| --- | --- | --- |"
    for row in rows:
        shares = ", ".join(f"{size}: {'–' if share is None else f'{share:.1%}'}" for size, share in row.shares.items())
        yield f"| {row.question} | {row.scores} | {share_label(row)}: {shares} |"


def compact_table(rows: Iterable[Row]) -> Iterator[str]:
    """Yield the lines of a table with the worst share of each question over all scores."""
    yield "| question | simulations | worst share by number |"
    yield "| --- | --- | --- |"
    groups: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        groups.setdefault((row.question, share_label(row)), []).append(row)
    for (question, how), of_question in groups.items():
        shares: dict[int, list[float]] = {}
        for row in of_question:
            for size, share in row.shares.items():
                shares.setdefault(size, []).extend([] if share is None else [share])
        worst = max if of_question[0].wrong else min
        shown = ", ".join(f"{size}: {f'{worst(known):.1%}' if known else '–'}" for size, known in shares.items())
        yield f"| {question} | {len(of_question)} | {how}: {shown} |"


def share_label(row: Row) -> str:
    """Return the label of a row's shares."""
    return ("wrong" if row.wrong else "covered") + ("" if row.promised else " (not promised)")
