"""Tests of statements about single actions, with known truths."""

import math

import numpy as np
import pytest

from arcadia_workers.contract.inference.losses import (
    DECISIVE,
    LossEstimates,
    bound_loss,
    bounded_interval,
    cautious_interval,
    loss_evidence,
    loss_interval,
    pairs_needed,
    select_losses,
)
from arcadia_workers.contract.inference.means import Floats


def pairs(random: np.random.Generator, mean: float, count: int) -> Floats:
    """Return differences of −1, 0 and 1 with this mean."""
    return random.choice([1.0, 0.0, -1.0], size=count, p=[(0.4 + mean) / 2, 0.6, (0.4 - mean) / 2])


def capital(differences: Floats, scale: float) -> float:
    """Return the mean capital of the gamblers, one bet after the other."""
    total = 0.0
    bets = [0.05, 0.1, 0.2, 0.35, 0.5, 0.7, 0.9, 0.99]
    for bet in bets:
        money = 1.0
        for difference in differences:
            money *= 1 + bet * (difference - 0.02 * scale) / (2 * scale + 0.02 * scale)
        total += money
    return total / len(bets)


@pytest.mark.parametrize("scale", [1.0, 30.0])
def test_the_evidence_is_the_capital_of_a_gambler(scale: float) -> None:
    found = scale * pairs(np.random.default_rng(1), 0.2, 50)
    assert loss_evidence(found.tolist(), scale) == pytest.approx(capital(found, scale))
    assert loss_evidence([], scale) == 1


def test_equal_actions_rarely_reach_the_threshold_at_any_time() -> None:
    random = np.random.default_rng(0)
    games = [pairs(random, 0.0, 256) for _ in range(1_000)]
    wrong = [any(loss_evidence(game[:end].tolist(), 1) >= DECISIVE for end in range(16, 257, 16)) for game in games]
    assert np.mean(wrong) <= 0.05


def test_losses_are_shown_with_enough_pairs() -> None:
    random = np.random.default_rng(0)
    assert loss_evidence(np.ones(16).tolist(), 1) >= DECISIVE
    small = pairs(random, 0.3, 256).tolist()
    assert loss_evidence(small[:32], 1) < DECISIVE <= loss_evidence(small, 1)
    needed = pairs_needed(small[:64], 1)
    assert needed is not None
    assert 64 <= needed < 256
    assert pairs_needed([0.0] * 64, 1) is None


def test_of_the_selected_losses_at_most_one_in_twenty_is_false() -> None:
    random = np.random.default_rng(0)
    shares, selected = [], 0
    for _ in range(100):
        evidence = [loss_evidence(pairs(random, 0.3 * (index < 5), 256).tolist(), 1) for index in range(30)]
        found = select_losses(evidence)
        selected += len(found)
        shares.append(float(np.mean([index >= 5 for index in found])) if found else 0.0)
    assert np.mean(shares) <= 0.05
    assert selected >= 400
    assert select_losses([]) == select_losses([1.0, 19.0]) == []
    assert select_losses([0.1, 45.0, 44.0]) == [1, 2]


@pytest.mark.parametrize("count", [3, 8, 13, 40, 100])
def test_a_cautious_interval_misses_the_mean_of_two_values_rarely(count: int) -> None:
    """Check all pairs of a gain and a loss whose mean is 0, also those that a few values hardly ever contain."""
    ways = np.array([math.comb(count, wins) for wins in range(count + 1)], dtype=float)
    worst = 0.0
    for gain in np.geomspace(0.02, 1, 12):
        for loss in (0.05, 0.2, 0.5, 0.9, 1.0):
            chance = loss / (gain + loss)
            chances = ways * chance ** np.arange(count + 1) * (1 - chance) ** np.arange(count, -1, -1)
            ends = [cautious_interval([gain] * wins + [-loss] * (count - wins), 1.0) for wins in range(count + 1)]
            worst = max(worst, float(sum(p for p, (low, _) in zip(chances, ends, strict=True) if low > 0)))
    assert worst <= 0.04


def test_a_cautious_interval_is_narrower_than_one_without_assumptions() -> None:
    values = np.random.default_rng(0).normal(0.8, 0.3, 20).tolist()
    low, high = cautious_interval(values, 2.0)
    assert 0 < low < 0.8 < high
    assert bounded_interval(values, 2.0)[0] < low
    one = cautious_interval([2.0], 2.0)
    assert one[0] < 0 < one[1] == 2.0
    mirrored = cautious_interval([-value for value in values], 2.0)
    assert mirrored == pytest.approx((-high, -low))


def regret(agent: str, spread: float, random: np.random.Generator) -> tuple[tuple[float, float] | None, float]:
    """Return the interval of the regret of 40 decisions of 10 episodes, and the true mean regret."""
    bounds: list[LossEstimates] = []
    lost = []
    for _ in range(40):
        values = random.normal(0, spread, 6)
        chosen = int(values.argmax()) if agent == "perfect" else int(random.integers(6))
        bounds.append(bound_loss(values[:, np.newaxis] + random.normal(0, 1, (6, 16)), chosen))
        lost.append(float(values.max() - values[chosen]))
    return loss_interval(bounds, [number % 10 for number in range(40)]), float(np.mean(lost))


@pytest.mark.parametrize("agent", ["perfect", "random"])
@pytest.mark.parametrize("spread", [0.0, 0.1, 1.0])
def test_the_regret_lies_in_its_interval(agent: str, spread: float) -> None:
    random = np.random.default_rng(0)
    trials = [regret(agent, spread, random) for _ in range(150)]
    shown = [(ends, truth) for ends, truth in trials if ends]
    assert len(shown) >= 20, "it is hidden if all losses are 0"
    assert np.mean([low <= truth <= high for (low, high), truth in shown]) >= 0.93


def test_more_futures_narrow_the_regret() -> None:
    random = np.random.default_rng(0)
    few, many = (bound_loss(random.normal(0, 1, (6, futures)), 0) for futures in (16, 4_096))
    assert few.at_most - few.at_least > 0.1
    assert many.at_most - many.at_least < 0.1


def test_known_outcomes_have_an_exact_loss() -> None:
    outcomes = np.array([[1.0, 1, 1, 1], [3, 3, 3, 3], [2, 2, 2, 2]])
    assert [bound_loss(outcomes, chosen) for chosen in range(3)] == [(2, 2), (0, 0), (1, 1)]
    assert loss_interval([bound_loss(outcomes, 0)], [0]) is None, "one episode says nothing about others"
