"""Bands of a study's groups, compared with a computation from exported CSV files."""

import csv
import io
import itertools
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from arcadia_workers.contract.inference.means import t_interval
from arcadia_workers.contract.inference.samples import DRAWS, MIN_INTERQUARTILE_RUNS, Interval, widen
from tests.backend.studies.conftest import RATES, Studies
from tests.factories import event, metrics, started

Floats = npt.NDArray[np.float64]
METHODS = ["paac-cartpole", "a3c-cartpole", "ga3c-cartpole"]
SEEDS = 5
PLACES = 10
# Parallel environments end episodes at the same step.
AT_ONCE = 2
# All resamples of five runs, which are equally likely.
RESAMPLES = np.array(list(itertools.product(range(SEEDS), repeat=SEEDS)))
# The error of the ends of an interval: at most four times that of a binomial share with this many draws.
SLACK = 4 * math.sqrt(0.025 * 0.975 / DRAWS)


def near(expected: Any, error: float = 1e-5) -> Any:
    """Return an approximation of a number that is rounded to six digits, as in a figure."""
    return pytest.approx(expected, rel=1e-5, abs=error)


def finished(studies: Studies) -> list[int]:
    """Train three methods with three rates and five seeds each, with returns at different steps."""
    axes = [{"field": "preset", "values": METHODS}, {"field": "learning_rate", "values": RATES}]
    study = studies.start(preset=None, axes=axes, seeds=f"1-{SEEDS}", max_concurrent_runs=50)
    random = np.random.default_rng(1)
    for _ in range(len(METHODS) * len(RATES) * SEEDS):
        run = studies.api.claim()
        seed, total = run["config"]["seed"], run["config"]["total_steps"]
        steps = [total * place // PLACES + seed for place in range(PLACES)]
        reported = [
            metrics(2 + n, step, returns=[float(each) for each in random.normal(step, 100, AT_ONCE)])
            for n, step in enumerate(steps)
        ]
        held = run["run_id"], run["attempt"]
        assert studies.api.send(*held, started(), *reported, event(2 + PLACES, "finished", total)).status_code == 200
        assert studies.api.release(*held, "finished").status_code == 200
    points = studies.read(study["id"])["table"]
    return [run["run_id"] for point in points for run in point["runs"]]


def exported(studies: Studies, run_id: int) -> tuple[list[float], list[float]]:
    """Return the mean return of the episodes that ended at each step, from a run's CSV file."""
    text = studies.api.user.get(f"/api/v1/export/runs/{run_id}.csv").text
    rows = [row for row in csv.DictReader(io.StringIO(text)) if row["name"] == "episode/return"]
    assert len(rows) == PLACES * AT_ONCE
    returns: dict[float, list[float]] = {}
    for row in rows:
        returns.setdefault(float(row["step"]), []).append(float(row["value"]))
    return [*returns], [sum(each) / len(each) for each in returns.values()]


def together(curves: list[tuple[list[float], list[float]]]) -> tuple[Floats, list[Floats]]:
    """Return all steps with a return, and the returns of the active runs at each step."""
    places = np.unique(np.concatenate([x for x, _ in curves]))
    heights = np.array([np.interp(places, x, y, left=np.nan, right=np.nan) for x, y in curves])
    return places, [column[np.isfinite(column)] for column in heights.T]


def median_reached(scores: Floats, center: str) -> Floats:
    """Return the mean, or the interquartile mean, over the last axis."""
    cut = scores.shape[-1] // 4 if center == "iqm" else 0
    kept: Floats = np.sort(scores, axis=-1)[..., cut : scores.shape[-1] - cut]
    return np.asarray(kept.mean(axis=-1))


def resampled(scores: Floats, center: str) -> Floats:
    """Return the sorted centers of all possible resamples."""
    chosen = (
        RESAMPLES if len(scores) == SEEDS else np.array([*itertools.product(range(len(scores)), repeat=len(scores))])
    )
    return np.sort(median_reached(scores[chosen], center))


def drawn(studies: Studies, runs: list[int], center: str, band: str) -> Iterator[tuple[list[int], dict[str, Any]]]:
    """Return the line and both ends of the band of each group."""
    params = {"runs": ",".join(map(str, runs)), "group": "seed", "center": center, "band": band}
    response = studies.api.user.get("/api/v1/figures/curves", params=params)
    assert response.status_code == 200, response.text
    groups: dict[tuple[int, ...], dict[str, Any]] = {}
    for trace in response.json()["data"]:
        groups.setdefault(tuple(trace["meta"]["group"]), {})[trace["meta"]["part"]] = trace
    for ids, parts in groups.items():
        assert parts["low"]["x"] == parts["high"]["x"] == parts["line"]["x"]
        yield [*ids], parts


@pytest.mark.nightly
def test_lines_and_bands_match_the_csv_files(studies: Studies) -> None:
    runs = finished(studies)
    curves = {run: exported(studies, run) for run in runs}
    for center, band in itertools.product(("mean", "iqm"), ("range", "standard-error", "bootstrap")):
        found = list(drawn(studies, runs, center, band))
        assert sorted(run for ids, _ in found for run in ids) == sorted(runs)
        assert [len(ids) for ids, _ in found] == [SEEDS] * (len(METHODS) * len(RATES))
        for ids, parts in found:
            places, scores = together([curves[run] for run in ids])
            assert parts["line"]["x"] == places.tolist()
            expected = [float(median_reached(each, center)) for each in scores]
            assert parts["line"]["y"] == near(expected)
            for each, low, center_there, high in zip(
                scores, parts["low"]["y"], parts["line"]["y"], parts["high"]["y"], strict=True
            ):
                validate(band, center, each, low, center_there, high)


def validate(band: str, center: str, scores: Floats, low: float, line: float, high: float) -> None:
    """Compare one position of a band with the direct computation."""
    if len(scores) == 1:
        assert low == line == high
    elif band == "range":
        assert (low, high) == (near(scores.min()), near(scores.max()))
    elif band == "standard-error" and center == "mean":
        error = scores.std(ddof=1) / math.sqrt(len(scores))
        assert (low, high) == (near(line - error, 0.01), near(line + error, 0.01))
    elif band == "standard-error":
        # The bootstrap's standard deviation is off by at most four standard errors.
        error = resampled(scores, center).std()
        assert (high - low) / 2 == pytest.approx(error, rel=4 / math.sqrt(2 * DRAWS))
    elif center == "mean":
        # Two runs are too few for an interval, so the band is the line.
        ends = t_interval(scores.tolist()) or (line, line)
        assert (low, high) == (near(ends[0], 0.01), near(ends[1], 0.01))
    elif len(scores) < MIN_INTERQUARTILE_RUNS:
        assert low == line == high
    else:
        every = resampled(scores, center)
        widened = float(widen(np.zeros(()), Interval(np.array(-1.0), np.array(1.0)), [len(scores)]).high)
        for end, tail in ((line + (low - line) / widened, 0.025), (line + (high - line) / widened, 0.975)):
            least, most = np.quantile(every, [max(0.0, tail - SLACK), min(1.0, tail + SLACK)], method="inverted_cdf")
            assert least - 0.01 <= end <= most + 0.01
