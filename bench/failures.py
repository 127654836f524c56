"""What a study claims about a method that often fails: `python -m bench.failures [--studies N] [--csv FILE]`.

Two methods have normal scores of the same spread. The first one fails in some of its seeds and is better in the others.
If a failed run counts as the lowest score, it is the worse method in every case here. The command shows the verdict of
a study until certain, the same without failed runs, and the verdict of a study with a fixed number of seeds.
"""

import argparse
from collections.abc import Iterator
from statistics import NormalDist

import numpy as np

from arcadia_backend.studies.results import PlannedRun, decide
from arcadia_backend.studies.specification import Specification
from arcadia_workers.contract.inference.elimination import eliminate
from arcadia_workers.contract.inference.means import MIN_RUNS, Floats, best_against_others
from bench.raw_values import add_csv_option, write_rows

SEED = 2026
# Share of failed seeds, and by how many standard deviations the other seeds are better.
CASES = ((0.2, 0.2), (0.4, 0.3), (0.4, 0.6), (0.4, 1.0), (0.6, 2.0))
FIXED_SEEDS = (5, 10)
LIMIT = 20
RATES = [{"field": "learning_rate", "values": [1e-4, 1e-3]}]
UNTIL = Specification.model_validate(
    {"name": "Failures", "preset": "paac-cartpole", "axes": RATES, "seeds": 1, "until": "certain", "max_seeds": LIMIT}
)

Row = dict[str, object]


def draw(random: np.random.Generator, fails: float, better: float, seeds: int) -> tuple[Floats, Floats]:
    """Return the scores of both methods. NaN is a failed run."""
    scores = random.normal(better, 1, seeds)
    return np.where(random.random(seeds) < fails, np.nan, scores), random.normal(size=seeds)


def probability_of_winning(fails: float, better: float) -> float:
    """Return the probability that a run of the first method scores higher than one of the second."""
    return (1 - fails) * NormalDist().cdf(better / 2**0.5)


def runs_of(scores: Floats) -> list[PlannedRun]:
    """Return the runs of a point."""
    return [
        PlannedRun(seed, seed, "finished" if np.isfinite(score) else "failed", 1, 1, float(score), "CartPole-v1")
        for seed, score in enumerate(scores, 1)
    ]


def highest(points: tuple[Floats, Floats]) -> int | None:
    """Return the point that the product says ranks highest, or None."""
    decisions = decide(UNTIL, {number: runs_of(scores) for number, scores in enumerate(points)})
    left = [number for number, each in decisions.items() if each.beaten_by is None]
    return left[0] if len(left) == 1 else None


def highest_of_finished(points: tuple[Floats, Floats]) -> int | None:
    """Return the point that would rank highest if failed runs were left out, or None."""
    scores = np.full((2, LIMIT), np.nan)
    for row, each in zip(scores, points, strict=True):
        finished = each[np.isfinite(each)]
        row[: len(finished)] = finished
    left = [number for number, each in enumerate(eliminate(scores, "aa")) if each.beaten_by is None]
    return left[0] if len(left) == 1 else None


def claim(points: tuple[Floats, Floats]) -> str:
    """Return what the verdict on a fixed number of seeds says about the first method."""
    finished = [each[np.isfinite(each)] for each in points]
    if min(map(len, finished)) < MIN_RUNS or finished[0].mean() <= finished[1].mean():
        return "nothing"
    [difference] = best_against_others(finished)
    if difference is None or difference.low <= 0:
        return "nothing"
    return "among finished runs" if len(finished[0]) < len(points[0]) else "beats"


def rows(studies: int) -> Iterator[Row]:
    """Simulate each case."""
    for fails, better in CASES:
        random = np.random.default_rng(SEED)
        until = [draw(random, fails, better, LIMIT) for _ in range(studies)]
        found, finished = ([*map(judge, until)] for judge in (highest, highest_of_finished))
        row: Row = {"fails": fails, "better": better, "studies": studies}
        row |= {"wins": f"{probability_of_winning(fails, better):.4f}", "left_out": finished.count(0)}
        row |= {"highest": found.count(0), "other_highest": found.count(1)}
        for seeds in FIXED_SEEDS:
            claims = [claim(draw(random, fails, better, seeds)) for _ in range(studies)]
            row |= {f"among_{seeds}": claims.count("among finished runs"), f"beats_{seeds}": claims.count("beats")}
        yield row


def main() -> None:
    """Print the counts of each case."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--studies", type=int, default=2_000, help="simulated studies per case")
    add_csv_option(parser)
    options = parser.parse_args()
    found = []
    for row in rows(options.studies):
        found.append(row)
        print(row, flush=True)
    write_rows(options.csv, found)


if __name__ == "__main__":
    main()
