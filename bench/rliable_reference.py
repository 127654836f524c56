"""Compute reference values for tests/backend/comparisons/test_statistics.py with rliable.

    python -m venv /tmp/rliable && /tmp/rliable/bin/pip install rliable==1.2.0 'pandas<3'
    /tmp/rliable/bin/python bench/rliable_reference.py > tests/fixtures/rliable.json

The library and its dependencies are 200 MB, so they are not part of the project.
"""

import json
import math
from importlib.metadata import version
from typing import Any

import numpy as np
import scipy.stats  # type: ignore[import-untyped,import-not-found,unused-ignore]
from rliable import library, metrics  # type: ignore[import-not-found,unused-ignore]

REPETITIONS = 2_000
# Number of draws of the bootstrap that is compared with these values.
DRAWS = 20_000
# Both ends of an interval are estimates. In both bootstraps they have the error of a binomial share.
ERRORS = 4


def aggregates(scores: Any) -> Any:
    """Return mean, median and interquartile mean in one array."""
    return np.array([metrics.aggregate_mean(scores), metrics.aggregate_median(scores), metrics.aggregate_iqm(scores)])


def ends(function: Any, scores: Any) -> dict[str, Any]:
    """Return the quantiles of rliable's bootstrap between which each end of a 95 % interval must be."""
    slack = ERRORS * math.sqrt(0.025 * 0.975 * (1 / REPETITIONS + 1 / DRAWS))
    found = {}
    for name, tail in (("outer", 0.025 - slack), ("inner", 0.025 + slack)):
        np.random.seed(1)
        _, intervals = library.get_interval_estimates(
            {"it": scores}, function, reps=REPETITIONS, confidence_interval_size=1 - 2 * tail
        )
        found[name] = np.asarray(intervals["it"]).tolist()
    return {"low": [found["outer"][0], found["inner"][0]], "high": [found["inner"][1], found["outer"][1]]}


def made() -> dict[str, Any]:
    """Return scores of several shapes with the library's results."""
    random = np.random.default_rng(7)
    thresholds = np.linspace(-1, 3, 9)
    cases: list[dict[str, Any]] = []
    for runs, tasks, others in ((5, 1, 4), (10, 6, 7), (3, 2, 3)):
        one = np.round(random.normal(1, 1, (runs, tasks)), 1)  # rounded, so that there are ties
        other = np.round(random.normal(0.5, 1.5, (others, tasks)), 1)
        cases.append(
            {
                "scores": one.tolist(),
                "other": other.tolist(),
                "aggregates": aggregates(one).tolist(),
                "aggregates_interval": ends(aggregates, one),
                "thresholds": thresholds.tolist(),
                "profile": library.score_distributions(one, thresholds).tolist(),
                "improvement": float(metrics.probability_of_improvement(one, other)),
                "improvement_interval": ends(
                    lambda x, y: np.array([metrics.probability_of_improvement(x, y)]), [one, other]
                ),
            }
        )
    curve = np.cumsum(random.normal(1, 1, (6, 1, 5)), axis=-1)

    def efficiency(scores: Any) -> Any:
        return np.array([metrics.aggregate_iqm(scores[..., place]) for place in range(scores.shape[-1])])

    return {
        "rliable": version("rliable"),
        "scipy": version("scipy"),
        "repetitions": REPETITIONS,
        "draws": DRAWS,
        "cases": cases,
        "curve": {"scores": curve[:, 0].tolist(), "iqm": efficiency(curve).tolist(), "ends": ends(efficiency, curve)},
        "student": [[p, v, float(scipy.stats.t.ppf(p, v))] for p in (0.9, 0.975) for v in (1.0, 2.0, 3.7, 12.5, 300.0)],
        "welch": [welch(case["scores"], case["other"]) for case in cases],
    }


def welch(one: Any, other: Any) -> list[float]:
    """Return the interval of the difference of the first columns' means."""
    found = scipy.stats.ttest_ind([row[0] for row in one], [row[0] for row in other], equal_var=False)
    low, high = found.confidence_interval(0.95)
    return [float(low), float(high)]


if __name__ == "__main__":
    print(json.dumps(made(), indent=1))
