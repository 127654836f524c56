"""Simulated studies until certain: false verdicts, and the seeds saved compared with a fixed number at equal power.

python -m bench.seeds_until_certain [--studies N]
"""

import argparse
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable
from functools import cache

import numpy as np

from arcadia_workers.contract.inference.elimination import eliminate
from arcadia_workers.contract.inference.means import Floats, welch
from bench.raw_values import add_csv_option, write_rows

DIFFERENCES = {20: (1.0, 1.5, 2.0, 3.0, 5.0), 50: (0.5, 0.8, 1.0, 1.5)}
MAX_FIXED_SEEDS = 120
SEED = 2026

Row = dict[str, object]
Draw = Callable[[np.random.Generator, tuple[int, int]], Floats]

DISTRIBUTIONS: dict[str, Draw] = {
    "normal": lambda random, shape: random.normal(size=shape),
    "log-normal (σ = 1.5)": lambda random, shape: random.lognormal(0, 1.5, shape),
    "beta (0.3, 0.3)": lambda random, shape: random.beta(0.3, 0.3, shape),
    "most seeds at the maximum": lambda random, shape: np.minimum(random.normal(510, 20, shape), 500),
    "0 or 1": lambda random, shape: random.integers(0, 2, shape).astype(float),
}


def main() -> None:
    """Print both tables as Markdown."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--studies", type=int, default=2_000, help="simulated studies per row")
    add_csv_option(parser)
    options = parser.parse_args()
    studies, rows = options.studies, list[Row]()
    print("| scores | 2 points | 4 points |\n| --- | --- | --- |")
    for name, draw in DISTRIBUTIONS.items():
        counts = {points: _count_false(draw, points, studies) for points in (2, 4)}
        rows += [_false_row(name, points, studies, count) for points, count in counts.items()]
        print(f"| {name} | {counts[2] / studies:.1%} | {counts[4] / studies:.1%} |", flush=True)
    count = _count_false_by_welch(studies // 4)
    rows.append(_false_row("normal, by Welch's interval", 2, studies // 4, count))
    print(f"\nWelch's interval checked at each seed: {count / (studies // 4):.1%}")
    print("\n| limit | difference | power | seeds, mean | fixed seeds | saved |\n| --- | --- | --- | --- | --- | --- |")
    for limit, differences in DIFFERENCES.items():
        for difference in differences:
            rows.append(_saved_row(limit, difference, studies))
    write_rows(options.csv, rows)


def _false_row(scores: str, points: int, studies: int, false: int) -> Row:
    row: Row = {"scores": scores, "points": points, "limit": 20, "difference": 0.0, "studies": studies}
    return row | {"false": false, "seeds_used": "", "fixed_seeds": ""}


def _count_false(draw: Draw, points: int, studies: int) -> int:
    """Return the number of studies without a difference that call some point worse."""
    random = np.random.default_rng(SEED)
    found = [eliminate(draw(random, (points, 20)), [0] * points) for _ in range(studies)]
    return sum(any(each.beaten_by is not None for each in evidence) for evidence in found)


def _count_false_by_welch(studies: int) -> int:
    """Return the number of studies without a difference in which Welch's interval ever excludes zero."""
    random = np.random.default_rng(SEED)
    pairs = (_draw_pair(random, 0.0, 20) for _ in range(studies))
    return sum(any(_excludes_zero(*pair[:, :seeds]) for seeds in range(3, 21)) for pair in pairs)


def _is_better(better: Floats, worse: Floats) -> bool:
    difference = welch(better, worse)
    return difference is not None and difference.low > 0


def _excludes_zero(one: Floats, other: Floats) -> bool:
    difference = welch(one, other)
    return difference is not None and (difference.low > 0 or difference.high < 0)


def _saved_row(limit: int, difference: float, studies: int) -> Row:
    """Print and return the seeds that studies used, one more than the limit if no point won."""
    random = np.random.default_rng(SEED)
    used = [_seeds_used(_draw_pair(random, difference, limit)) for _ in range(studies)]
    power = sum(count <= limit for count in used) / studies
    mean = float(np.mean(np.minimum(used, limit)))
    fixed = _fixed_seeds(difference, power, studies)
    saved = f"{1 - mean / fixed:.0%}"
    print(f"| {limit} | {difference} σ | {power:.1%} | {mean:.1f} | {fixed} | {saved} |", flush=True)
    row: Row = {"scores": "normal", "points": 2, "limit": limit, "difference": difference, "studies": studies}
    counts = " ".join(f"{seeds}:{count}" for seeds, count in sorted(Counter(used).items()))
    return row | {"false": "", "seeds_used": counts, "fixed_seeds": fixed}


def _draw_pair(random: np.random.Generator, difference: float, seeds: int) -> Floats:
    return np.asarray(random.normal(size=(2, seeds)) + np.array([[0.0], [difference]]))


def _seeds_used(scores: Floats) -> int:
    """Return the number of seeds at which the better point wins, or one more than all seeds if it never wins."""
    counts = range(1, scores.shape[1] + 1)
    return 1 + bisect_left(counts, True, key=lambda count: eliminate(scores[:, :count], "aa")[0].beaten_by is not None)


def _fixed_seeds(difference: float, power: float, studies: int) -> int:
    """Return the number of seeds with which Welch's interval has at least this power."""
    found = bisect_left(range(3, MAX_FIXED_SEEDS), power, key=lambda seeds: _welch_power(difference, seeds, studies))
    return 3 + found


@cache
def _welch_power(difference: float, seeds: int, studies: int) -> float:
    random = np.random.default_rng(SEED)
    pairs = (_draw_pair(random, difference, seeds) for _ in range(studies))
    return float(np.mean([_is_better(better, worse) for worse, better in pairs]))


if __name__ == "__main__":
    main()
