"""Tests of the rules that find anomalies."""

import math
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pytest

from arcadia_backend.marks.anomalies import ENTROPY, POLICY_LOSS, VALUE_LOSS
from arcadia_backend.marks.rules import MAX_ANOMALIES_PER_RULE, RULES, find_anomalies
from arcadia_backend.marks.signals import FEWEST_SAMPLES, MAX_SAMPLES, Samples, Signals
from arcadia_workers.contract.metrics import EPISODE_RETURN, STEPS_PER_SECOND

Values = npt.NDArray[np.float64]
NUMBER = 300


def samples(values: Values, seconds: Values | None = None) -> Samples:
    """Return values at every 100 steps, once per second."""
    steps = 100 * np.arange(len(values))
    return Samples(steps, np.arange(len(values), dtype=np.float64) if seconds is None else seconds, values)


def found(metric: str, values: Values, seconds: Values | None = None) -> list[tuple[str, int]]:
    """Return the rule and the step of each anomaly in a metric."""
    return [(anomaly.rule, anomaly.step) for anomaly in find_anomalies(Signals({metric: samples(values, seconds)}))]


def noise(scale: float) -> Values:
    """Return reproducible noise."""
    return np.random.default_rng(0).normal(0, scale, NUMBER)


def after(at: int, before: float, then: float) -> Values:
    """Return a step from one value to another."""
    return np.where(np.arange(NUMBER) < at, before, then).astype(np.float64)


def test_an_entropy_that_stays_close_to_zero_has_collapsed() -> None:
    assert found(ENTROPY, after(200, 1.6, 0.001)) == [("entropy_collapsed", 20_000)]


@pytest.mark.parametrize(
    "values",
    [
        pytest.param(np.linspace(1.6, 0.4, NUMBER), id="falls slowly"),
        pytest.param(after(100, 1.6, 0.001) + after(200, 0.0, 1.0), id="recovers"),
        pytest.param(after(NUMBER - 2, 1.6, 0.001), id="only at the end"),
        pytest.param(after(200, 1.6, -3.0), id="continuous actions"),
    ],
)
def test_another_entropy_has_not_collapsed(values: Values) -> None:
    assert found(ENTROPY, values) == []


def test_a_return_that_falls_and_stays_low_has_collapsed() -> None:
    values = np.concatenate([np.linspace(-21, 18, 200), np.full(100, -15.0)]) + noise(0.5)
    ((rule, step),) = found(EPISODE_RETURN, values)
    assert rule == "return_collapsed"
    assert 20_000 <= step <= 21_000


@pytest.mark.parametrize(
    "values",
    [
        pytest.param(np.linspace(-21, 18, NUMBER) + noise(3.0), id="rises"),
        pytest.param(after(0, 0.0, 10.0) + noise(5.0), id="never learns"),
        pytest.param(np.concatenate([np.linspace(0, 100, 100), np.full(50, 10.0), np.full(150, 90.0)]), id="recovers"),
    ],
)
def test_another_return_has_not_collapsed(values: Values) -> None:
    assert found(EPISODE_RETURN, values) == []


def learning(random: np.random.Generator, count: int) -> Values:
    """Return the returns of a run that learns, which vary more and more."""
    return np.asarray(random.lognormal(0, 1.5, count) / (1 + np.exp(12 * (0.4 - np.arange(count) / count))))


def resembling(random: np.random.Generator, count: int) -> Values:
    """Return noise in which each value resembles the one before it."""
    values = random.normal(size=count)
    for at in range(1, count):
        values[at] = 0.95 * values[at - 1] + math.sqrt(1 - 0.95**2) * values[at]
    return values


@pytest.mark.parametrize("count", [100, 400])
@pytest.mark.parametrize(
    "draw",
    [
        pytest.param(lambda random, count: random.lognormal(0, 1.5, count), id="heavy tails"),
        learning,
        pytest.param(lambda random, count: (random.random(count) < 0.1) * 1.0, id="rare wins"),
        resembling,
    ],
)
def test_at_most_a_twentieth_of_healthy_returns_collapse(
    draw: Callable[[np.random.Generator, int], Values], count: int
) -> None:
    """The returns of 200 runs that are as good at the end as ever. A rule on means alarms for up to two thirds."""
    random = np.random.default_rng(0)
    alarms = [rule for _ in range(200) for rule, _step in found(EPISODE_RETURN, draw(random, count))]
    assert alarms.count("return_collapsed") <= 10


@pytest.mark.parametrize(("count", "scale"), [(40, 0.5), (100, 0.5), (100, 5), (400, 0.5), (400, 5)])
def test_a_collapse_among_noise_is_found(count: int, scale: float) -> None:
    random = np.random.default_rng(0)
    collapsed = np.concatenate([np.linspace(-21, 18, count * 2 // 3), np.full(count - count * 2 // 3, -15.0)])
    alarms = [found(EPISODE_RETURN, collapsed + random.normal(0, scale, count)) for _ in range(50)]
    assert sum(any(rule == "return_collapsed" for rule, _ in each) for each in alarms) >= 45


def test_a_value_loss_far_above_all_before_has_exploded() -> None:
    assert found(VALUE_LOSS, np.abs(noise(1.0)) + after(150, 0.0, 1e4)) == [("loss_exploded", 15_000)]
    assert found(VALUE_LOSS, np.abs(noise(1.0)) + np.linspace(0, 50, NUMBER)) == []


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf])
def test_the_first_value_that_is_not_finite_is_found(wrong: float) -> None:
    values = noise(1.0)
    values[[120, 130]] = wrong
    assert found(POLICY_LOSS, values) == [("not_a_number", 12_000)]


def test_a_long_time_without_an_episode_is_found() -> None:
    seconds = np.arange(NUMBER, dtype=np.float64)
    assert found(EPISODE_RETURN, noise(1.0), seconds + after(100, 0, 301)) == [("no_episode", 9_900)]
    assert found(EPISODE_RETURN, noise(1.0), seconds + after(100, 0, 290)) == []
    assert found(EPISODE_RETURN, noise(1.0), 60 * seconds + after(100, 0, 301)) == [], "episodes of a minute"


def test_a_halved_speed_is_found_once_until_it_recovers() -> None:
    speed = 1_000 + noise(50.0)
    assert found(STEPS_PER_SECOND, speed) == []
    slow = speed - after(100, 0, 600) + after(150, 0, 600) - after(200, 0, 700)
    halved = [step for rule, step in found(STEPS_PER_SECOND, slow) if rule == "speed_halved"]
    assert halved == [10_000, 20_000]


def test_a_start_on_a_busy_host_is_no_anomaly() -> None:
    """A speed that falls within the first minute is not judged by any rule."""
    assert found(STEPS_PER_SECOND, after(20, 1_000, 100)[:60]) == []


def test_one_slow_sample_is_no_anomaly() -> None:
    speed = np.full(NUMBER, 1_000.0)
    speed[100] = 10
    assert found(STEPS_PER_SECOND, speed) == []


@pytest.mark.parametrize("make", [np.zeros, np.ones, lambda number: np.full(number, np.nan)])
@pytest.mark.parametrize("number", [0, 1, 2, FEWEST_SAMPLES - 1, FEWEST_SAMPLES, 10 * MAX_SAMPLES])
def test_every_rule_judges_any_number_of_samples(make: Callable[[int], Values], number: int) -> None:
    series = {metric: samples(make(number)) for metric in (ENTROPY, EPISODE_RETURN, VALUE_LOSS, STEPS_PER_SECOND)}
    assert {anomaly.rule for anomaly in find_anomalies(Signals(series))} <= {"not_a_number"}


def test_many_samples_are_merged_to_means() -> None:
    values = np.repeat([1.0, 3.0], 2 * MAX_SAMPLES)
    merged = samples(values).merged()
    assert len(merged.values) == MAX_SAMPLES
    assert merged.values.tolist() == [1.0] * (MAX_SAMPLES // 2) + [3.0] * (MAX_SAMPLES // 2)
    assert merged.steps[1] == 400


def test_a_rule_reports_only_the_first_of_many() -> None:
    seconds = np.cumsum(np.where(np.arange(NUMBER) % 30 == 29, 4_000.0, 1.0))
    assert len(found(EPISODE_RETURN, noise(1.0), seconds)) == MAX_ANOMALIES_PER_RULE


def test_each_rule_explains_itself() -> None:
    assert len({rule.info.name for rule in RULES}) == len(RULES)
    assert all(rule.info.explanation.endswith(".") for rule in RULES)
