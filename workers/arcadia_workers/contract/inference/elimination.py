"""Anytime-valid elimination of points: which points of a study are worse than another.

The null hypothesis of a point says that none of its rivals is better. Its evidence is the mean of the e-values of its
rivals against it. A closed test of these means (Vovk and Wang 2021, arXiv:1912.06116) bounds the probability that a
best point is ever eliminated by 5 % for the whole study, although the evidence is checked after every seed.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from arcadia_workers.contract.inference.means import ALPHA, Floats, e_values

Indices = npt.NDArray[np.int64]

LEVEL = 1 / ALPHA
# Scores compared at once, to limit memory.
BLOCK_NUMBERS = 1_000_000


@dataclass(frozen=True)
class PointEvidence:
    """Evidence that a rival is better than a point: when the point was eliminated, or now."""

    e_value: float
    # E-value that eliminates the point.
    threshold: float
    # Index of the rival with the most evidence. None if the point is not eliminated.
    beaten_by: int | None


class RoundEvidence(NamedTuple):
    """Evidence in one round: for each point, its rivals' mean e-value against it, and the strongest rival's index."""

    against: Floats
    rivals: Indices


def eliminate(scores: Floats, families: Sequence[object]) -> list[PointEvidence]:
    """Return the evidence against each point. Points compete if they have the same family.

    There is one row of scores per point, with one score per seed in order, and NaN for missing ones. The test looks
    at the first seed of each point, then at the first two, and so on.
    """
    members = [np.flatnonzero([each == family for each in families]) for family in dict.fromkeys(families)]
    contests = [each for each in members if len(each) > 1]
    # Rivals of a point that are not eliminated, with the point.
    open_rivals = {point: contest for contest in (set(each.tolist()) for each in contests) for point in contest}
    remaining = set(open_rivals)
    evidence = {point: PointEvidence(1.0, 2 * LEVEL, None) for point in range(len(scores))}
    for against, rivals in _weigh_rounds(scores, contests):
        for point in sorted(remaining, key=lambda point: -against[point]):
            threshold = _threshold(point, remaining, against)
            is_beaten = len(open_rivals[point]) > 1 and bool(against[point] >= threshold)
            beaten_by = int(rivals[point]) if is_beaten else None
            evidence[point] = PointEvidence(float(against[point]), threshold, beaten_by)
            if is_beaten:
                remaining.remove(point)
                open_rivals[point].remove(point)
    return [evidence[point] for point in range(len(scores))]


def _threshold(point: int, remaining: set[int], against: Floats) -> float:
    """Return the e-value at which the mean over each set of remaining points with this one reaches the level."""
    return LEVEL + sum(max(0.0, LEVEL - float(against[other])) for other in remaining if other != point)


def _weigh_rounds(scores: Floats, contests: Sequence[Indices]) -> Iterator[RoundEvidence]:
    """Return the evidence after the first seed of each point, the first two, and so on."""
    seeds = np.arange(scores.shape[1])
    pairs = sum(len(contest) ** 2 for contest in contests)
    block = max(1, BLOCK_NUMBERS // max(1, 2 * pairs * len(seeds)))
    for first in range(0, len(seeds), block):
        rounds = seeds[first : first + block, np.newaxis, np.newaxis]
        yield from _weigh(np.where(seeds <= rounds, scores, np.nan), contests)


def _weigh(scores: Floats, contests: Sequence[Indices]) -> Iterator[RoundEvidence]:
    """Return the evidence in each round. The scores of a round are NaN after its last seed."""
    against, rivals = np.ones(scores.shape[:2]), np.zeros(scores.shape[:2], dtype=np.int64)
    for contest in contests:
        own = scores[:, contest]
        pairs = e_values(own[:, :, np.newaxis], own[:, np.newaxis])
        pairs[:, range(len(contest)), range(len(contest))] = 0.0
        against[:, contest] = pairs.sum(axis=1) / (len(contest) - 1)
        rivals[:, contest] = contest[pairs.argmax(axis=1)]
    return map(RoundEvidence, against, rivals)
