"""Tests of the procedure of a review, with simulated futures of known outcomes."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pytest

from arcadia_workers.contract.futures import MAX_PAIRS
from arcadia_workers.contract.inference.means import Floats
from arcadia_workers.contract.review import SCREENED, ReviewedDecision
from arcadia_workers.trainer.review.procedure import MEASURED, WINDOW, ReviewInProgress, preselect

NAMES = ("NOOP", "UP", "DOWN")


@dataclass(frozen=True)
class Outcomes:
    """Outcomes of futures, and the same as scores times ten."""

    outcomes: Floats

    @property
    def scores(self) -> Floats:
        """Return the scores."""
        return 10 * self.outcomes


class Futures:
    """Futures that win 1 or lose 1. The chances of each decision depend on the first action."""

    def __init__(self, *chances: Sequence[float]) -> None:
        self.chances = chances
        self.played: list[tuple[int, range]] = []

    def __call__(self, decision: int, firsts: Sequence[int], futures: range) -> Outcomes:
        """Play them. The same numbers share their luck between actions."""
        self.played.append((decision, futures))
        luck = np.array([np.random.default_rng([decision, future]).random() for future in futures])
        chances = np.array([self.chances[decision][first] for first in firsts])
        return Outcomes(np.where(luck < chances[:, np.newaxis], 1.0, -1.0))


def review_of(simulate: Futures, count: int | None = None) -> ReviewInProgress:
    decisions = range(len(simulate.chances) if count is None else count)
    reviewed = [ReviewedDecision(decision=decision, reason="every", taken="NOOP") for decision in decisions]
    return ReviewInProgress(reviewed, NAMES, simulate, is_clipped=True)


def findings(review: ReviewInProgress) -> list[str]:
    return [each.finding for each in review.reviewed]


MIXED = ((0.1, 0.9, 0.1), (0.5, 0.5, 0.5), (0.5, 0.53, 0.5), (0.9, 0.1, 0.1))


def test_mistakes_are_shown_and_their_loss_is_measured() -> None:
    review = review_of(Futures(*MIXED))
    review.run(lambda: False)
    assert findings(review) == ["mistake", "no challenger", "not shown", "no challenger"]
    mistake = review.reviewed[0]
    assert (mistake.taken, mistake.better) == ("NOOP", "UP")
    assert mistake.loss is not None
    assert mistake.loss.mean == pytest.approx(1.6, abs=0.3)
    assert mistake.loss.interval is not None
    assert mistake.loss.interval[0] < 1.6 < mistake.loss.interval[1]
    assert mistake.score_loss == pytest.approx(10 * (mistake.loss.mean or 0))
    assert mistake.taken_outcome is not None
    assert mistake.better_outcome is not None
    assert (mistake.taken_outcome.count, mistake.better_outcome.count) == (MEASURED, MEASURED)
    outcomes = [float(each.mean or 0) for each in (mistake.taken_outcome, mistake.better_outcome)]
    assert outcomes[1] - outcomes[0] == pytest.approx(mistake.loss.mean)
    assert outcomes == pytest.approx([-0.8, 0.8], abs=0.25)
    assert review.simulations == 4 * 3 * SCREENED + 2 * sum(each.pairs for each in review.reviewed) + 2 * MEASURED


def test_other_decisions_have_the_outcome_of_the_taken_action_in_the_screen() -> None:
    review = review_of(Futures(*MIXED))
    review.run(lambda: False)
    for each in review.reviewed[1:]:
        assert each.taken_outcome is not None
        assert each.taken_outcome.count == SCREENED
        # The better outcome of an untested action would be overstated.
        assert each.better_outcome is None
        low, high = each.taken_outcome.interval or (1.0, -1.0)
        assert -1 <= low <= float(each.taken_outcome.mean or 0) <= high <= 1


def test_no_future_is_used_twice() -> None:
    simulate = Futures(*MIXED)
    review_of(simulate).run(lambda: False)
    used = [(decision, future) for decision, futures in simulate.played for future in futures]
    assert len(used) == len(set(used))


def test_a_test_ends_when_it_is_hopeless_or_long_enough() -> None:
    review = review_of(Futures((0.5, 0.5, 0.55), (0.5, 0.45, 0.58)))
    review.run(lambda: False)
    assert all(48 <= each.pairs <= MAX_PAIRS for each in review.reviewed if each.finding == "not shown")
    assert review.waiting == 0


def test_an_interrupted_review_continues_with_the_same_result() -> None:
    whole = review_of(Futures(*MIXED))
    whole.run(lambda: False)
    known = review_of(Futures(*MIXED)).reviewed
    for _ in range(200):
        # Each time, another process reads what is known and takes one step.
        known = [ReviewedDecision.model_validate_json(each.model_dump_json()) for each in known]
        review = ReviewInProgress(known, NAMES, Futures(*MIXED), is_clipped=True)
        steps = iter([False])
        review.run(lambda steps=steps: next(steps, True))  # type: ignore[misc]
        known = review.reviewed
    assert known == whole.reviewed


def test_a_mistake_needs_more_evidence_when_decisions_are_added() -> None:
    simulate = Futures((0.4, 0.6, 0.4), *[(0.5, 0.5, 0.5)] * 40)
    alone = review_of(simulate, 1)
    alone.run(lambda: False)
    assert findings(alone) == ["mistake"]
    evidence = alone.reviewed[0].e_value
    added = [ReviewedDecision(decision=at, reason="every", taken="NOOP") for at in range(1, 41)]
    more = ReviewInProgress([*alone.reviewed, *added], NAMES, simulate, is_clipped=True)
    more._judge()
    assert evidence < 20 * 41
    withdrawn = more.reviewed[0]
    assert (withdrawn.finding, withdrawn.loss, withdrawn.better_outcome) == ("testing", None, None)
    more.run(lambda: False)
    assert findings(more) == ["mistake", *["no challenger"] * 40], "those without a challenger do not count"


def test_outcomes_without_clipping_have_a_scale() -> None:
    class Large(Futures):
        def __call__(self, decision: int, firsts: Sequence[int], futures: range) -> Outcomes:
            return Outcomes(100 * super().__call__(decision, firsts, futures).outcomes)

    reviewed = [ReviewedDecision(decision=0, reason="every", taken="NOOP")]
    review = ReviewInProgress(reviewed, NAMES, Large((0.1, 0.9, 0.1)), is_clipped=False)
    review.run(lambda: False)
    [mistake] = review.reviewed
    assert (mistake.finding, mistake.scale) == ("mistake", 100)
    assert mistake.loss is not None
    assert mistake.loss.mean == pytest.approx(160, abs=30)


def test_suspicious_decisions_come_first() -> None:
    values = [1.0] * 100
    values[71] = -0.5
    losses = [decision == 80 for decision in range(100)]
    probabilities, doubts = [0.9] * 100, [0.1] * 100
    probabilities[30], doubts[90] = 0.01, 1.0
    found = preselect(values, [0.0] * 100, losses, probabilities, doubts, 1.0, 3)
    assert found == [(70, "lost"), (30, "unlikely"), (90, "unsure")]
    everything = preselect(values, [0.0] * 100, losses, probabilities, doubts, 1.0, 1_000)
    assert sorted(decision for decision, _ in everything) == list(range(100))
    lost = [decision for decision, reason in everything if reason == "lost"]
    assert all(80 - WINDOW < decision <= 80 for decision in lost)
