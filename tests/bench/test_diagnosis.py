"""The promises of docs/diagnosis.md in short simulations, and proof that eager rules break them."""

import json
import sys
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from arcadia_backend.marks import anomalies
from arcadia_backend.marks.rules import RULES
from arcadia_backend.marks.signals import Samples, Signals
from arcadia_backend.metrics.points import POINT
from arcadia_workers.contract.metrics import EPISODE_RETURN, STEPS_PER_SECOND
from bench import diagnosis
from bench.diagnosis import MAX_FALSE, MIN_FOUND, Row, measure
from bench.healthy import FAULTS, KINDS, simulate

RUNS = 4
# So few runs find a fault less or more often than many.
SHORT_RUN_TOLERANCE = 0.1


def mean_share(shares: Mapping[str, float]) -> float:
    """Return the mean over all kinds of runs."""
    return float(np.mean([*shares.values()]))


@pytest.fixture(scope="module")
def rows() -> list[Row]:
    """Return the rows of a short simulation."""
    return measure(RUNS, {})


@pytest.fixture(scope="module")
def healthy() -> list[Signals]:
    """Return finished healthy runs of each kind."""
    random = np.random.default_rng(diagnosis.SEED)
    return [simulate(random, kind, 1.0) for kind in KINDS.values() for _ in range(2)]


def test_no_rule_often_finds_a_fault_in_a_healthy_run(rows: list[Row]) -> None:
    assert {row.rule: row.alarms for row in rows if mean_share(row.alarms) > MAX_FALSE} == {}


def test_each_rule_finds_its_fault(rows: list[Row]) -> None:
    assert [row.rule for row in rows] == [rule.info.name for rule in RULES] == [*FAULTS]
    assert {row.rule: row.found for row in rows if mean_share(row.found) < MIN_FOUND - SHORT_RUN_TOLERANCE} == {}


@pytest.mark.parametrize(
    ("rule", "settings"),
    [
        ("entropy_collapsed", {"COLLAPSED_ENTROPY": 0.5}),
        ("return_collapsed", {"COLLAPSED_RETURN": 0.999, "ALPHA": 10.0}),
        ("loss_exploded", {"EXPLODED_LOSS": 1.2}),
        ("no_episode", {"NO_EPISODE_SECONDS": 1.0, "USUAL_GAPS": 1, "LONG_GAPS": 1}),
        ("speed_halved", {"HALVED": 0.95}),
        ("return_stalled", {"CLEAR_ERRORS": 50.0}),
        ("gradient_exploded", {"EXPLODED_GRADIENT": 1.0, "EXPLODED_LIMITS": 0.1}),
        ("policy_lag", {"MIN_LAG": 0.0, "USUAL_LAGS": 0.3}),
        ("learning_rate_spent", {"CLEAR_CHANCE": 0.6}),
        ("throughput_lost", {"LOST_SPEED": 0.95}),
        ("epsilon_stuck", {"STUCK_EPSILON": 0.1}),
    ],
)
def test_a_rule_that_is_too_eager_breaks_its_promise(
    rule: str, settings: dict[str, Any], healthy: list[Signals], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in settings.items():
        monkeypatch.setattr(anomalies, name, value)
    eager = next(each for each in RULES if each.info.name == rule)
    assert np.mean([any(True for _ in eager.find(signals.finite())) for signals in healthy]) > 2 * MAX_FALSE


def test_a_broken_promise_is_noticed() -> None:
    def row(false: float, recorded: int = 0, found: float = 1.0) -> Row:
        return Row("return_stalled", {"slow": false, "fast": 0.0}, ["run"] * recorded, 40, {"slow": found})

    assert not row(0.05, recorded=2, found=0.75).is_broken(1_000)
    assert row(0.08).is_broken(1_000)
    assert row(0.0, recorded=3).is_broken(1_000)
    assert row(0.0, found=0.6).is_broken(1_000)


def test_the_speed_of_a_recorded_run_is_compared_with_the_clock() -> None:
    reported = np.repeat([1_000.0, 100.0], [300, 100])

    def alarms(speed: np.typing.NDArray[np.float64]) -> set[str]:
        seconds = np.arange(400, dtype=np.float64)
        return diagnosis.false_alarms(
            Signals({STEPS_PER_SECOND: Samples(np.cumsum(speed).astype(np.int64), seconds, reported)})
        )

    assert alarms(reported) == set(), "the host was busy"
    assert alarms(np.full(400, 1_000.0)) == {"speed_halved", "throughput_lost"}


def test_the_time_between_two_attempts_does_not_count() -> None:
    points = np.array([(0, 0, 5.0, 1.0), (1, 1, 7.0, 2.0), (2, 2, 900.0, 3.0)], POINT)
    read = diagnosis.to_signals({EPISODE_RETURN: {1: points[:2], 2: points[2:]}, "other": {1: points}}, {})
    assert read[EPISODE_RETURN].seconds.tolist() == [0, 2, 2]
    assert [*read.series] == [EPISODE_RETURN]


def test_the_program_prints_a_table_or_json(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    row = Row("return_stalled", {"slow": 0.04, "fast": 0.0}, [], 12, {"slow": 0.9})
    monkeypatch.setattr(diagnosis, "measure", lambda _runs, _recorded: [row])
    monkeypatch.setattr(sys, "argv", ["diagnosis"])
    assert diagnosis.main() == 0
    assert "| `return_stalled` | 2.0% | 4.0%, slow | 0 of 12 | 90% |" in capsys.readouterr().out
    monkeypatch.setattr(sys, "argv", ["diagnosis", "--json", "--quick"])
    assert diagnosis.main() == 0
    assert json.loads(capsys.readouterr().out)["runs"] == diagnosis.QUICK_RUNS
