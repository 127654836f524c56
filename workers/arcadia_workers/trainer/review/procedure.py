"""The procedure of a review: which futures are simulated next, and which decisions are mistakes.

1. Screen: some futures of every action choose the challenger, the action with the best mean outcome.
2. Test: fresh pairs of futures of the challenger and the taken action are bets against "the loss is at most 2 % of the
   scale". Their capital is an e-process, so the test can stop and continue at any time (losses.py).
3. Mistakes are the decisions whose e-values the e-BH procedure selects. Decisions that are still waiting count as
   hypotheses without evidence, so a mistake is withdrawn only if decisions are added to the review.
4. Loss: a third set of futures measures it, because the pairs that show a loss overstate it.

A future is never used twice. The next simulations depend only on earlier ones, so the promise holds whenever the review
stops.
"""

from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np

from arcadia_workers.contract.futures import MAX_PAIRS, MeanReturn
from arcadia_workers.contract.inference.losses import BETS, bounded_interval, evidence_of, log_capitals, select_losses
from arcadia_workers.contract.inference.means import Floats
from arcadia_workers.contract.review import SCREENED, Reason, ReviewedDecision

BLOCK = 16
FEWEST_PAIRS, HOPELESS = 48, 0.2
MEASURED = 128
# A decision whose challenger is better by this share of the scale in the screen is tested before others are screened.
PROMISING = 0.25


class Simulated(Protocol):
    """Outcomes of futures, with a row for each first action. Futures in a column share their random numbers."""

    @property
    def outcomes(self) -> Floats:
        """Discounted rewards as the definition of a mistake counts them."""

    @property
    def scores(self) -> Floats:
        """Raw scores."""


class Simulate(Protocol):
    """Simulator of the futures of a decision that begin with these actions."""

    def __call__(self, decision: int, firsts: Sequence[int], futures: range) -> Simulated:
        """Return the outcomes of the futures with these numbers.

        The number after the agent's actions is a person's decision that is none of them.
        """


class ReviewInProgress:
    """A review in progress, whose state is the list of its decisions."""

    def __init__(
        self,
        reviewed: Sequence[ReviewedDecision],
        names: Sequence[str],
        simulate: Simulate,
        *,
        is_clipped: bool,
        measures_all: bool = False,
    ) -> None:
        """`measures_all` also measures the losses that are no mistakes, so that their mean is not biased."""
        self.reviewed, self.simulations = [*reviewed], 0
        self._names, self._simulate = list(names), simulate
        self._is_clipped, self._measures_all = is_clipped, measures_all

    def run(self, should_stop: Callable[[], bool], report: Callable[[], None] = lambda: None) -> None:
        """Simulate until everything is known or `should_stop` says so. Report after every change."""
        while (act := self._next()) and not should_stop():
            act()
            self._judge()
            report()

    @property
    def waiting(self) -> int:
        """The number of decisions that are not finished."""
        return sum(each.finding in ("waiting", "testing") for each in self.reviewed)

    def _next(self) -> Callable[[], None] | None:
        for each in self.reviewed:
            if each.finding == "mistake" and each.loss is None:
                return lambda: self._measure(each)
        open_ = [each for each in self.reviewed if each.finding == "testing"]
        best = max(open_, key=lambda each: each.e_value, default=None)
        if best and best.e_value > 1:
            return lambda: self._test(best)
        for each in self.reviewed:
            if each.finding == "waiting":
                return lambda: self._screen(each)
        if best:
            return lambda: self._test(best)
        unmeasured = [each for each in self.reviewed if each.finding == "not shown" and each.loss is None]
        return (lambda: self._measure(unmeasured[0])) if unmeasured and self._measures_all else None

    def _screen(self, each: ReviewedDecision) -> None:
        """Choose the challenger, by futures that are not used again."""
        # A person's decision may be no action of the agent. It follows those.
        actions = range(max(len(self._names), self._number(each.taken) + 1))
        outcomes = self._outcomes(each, actions, range(SCREENED))
        each.screened = SCREENED
        each.scale = 1.0 if self._is_clipped else float(np.abs(outcomes).max()) or 1.0
        means, taken = outcomes.mean(axis=1), self._number(each.taken)
        each.taken_outcome = _estimate(outcomes[taken], each.scale)
        if means[taken] == means.max():
            each.finding = "no challenger"
            return
        each.better, each.finding = self._names[int(means.argmax())], "testing"
        each.log_capitals = [0.0] * len(BETS)
        if means.max() - means[taken] >= PROMISING * each.scale:
            self._test(each)

    def _test(self, each: ReviewedDecision) -> None:
        """Bet on a block of fresh pairs."""
        (better, taken), _ = self._pairs(each, each.screened + each.pairs, BLOCK)
        capitals = np.array(each.log_capitals) + log_capitals((better - taken).tolist(), each.scale)
        each.pairs += BLOCK
        each.log_capitals, each.e_value = capitals.tolist(), evidence_of(capitals)

    def _measure(self, each: ReviewedDecision) -> None:
        """Measure the loss with other futures."""
        (better, taken), scores = self._pairs(each, each.screened + each.pairs, MEASURED)
        each.loss = _estimate(better - taken, 2 * each.scale)
        each.taken_outcome, each.better_outcome = _estimate(taken, each.scale), _estimate(better, each.scale)
        each.score_loss = float((scores[0] - scores[1]).mean())

    def _judge(self) -> None:
        """Select the mistakes, and end the tests that more pairs would hardly change."""
        judged = [each for each in self.reviewed if each.finding != "no challenger"]
        shown = {id(judged[index]) for index in select_losses([each.e_value for each in judged])}
        for each in judged:
            is_over = each.pairs >= MAX_PAIRS or (each.pairs >= FEWEST_PAIRS and each.e_value < HOPELESS)
            if id(each) in shown:
                each.finding = "mistake"
            elif each.finding == "mistake":
                # Decisions were added to the review, which takes more evidence.
                each.finding, each.loss, each.score_loss, each.better_outcome = "testing", None, None, None
            elif each.finding == "testing" and is_over:
                each.finding = "not shown"

    def _pairs(self, each: ReviewedDecision, first: int, count: int) -> tuple[Floats, Floats]:
        """Return the outcomes of pairs of futures and their scores, of the challenger first."""
        better, taken = self._number(str(each.better)), self._number(each.taken)
        found = self._simulate(each.decision, (better, taken), range(first, first + count))
        self.simulations += 2 * count
        return np.clip(found.outcomes, -each.scale, each.scale), found.scores

    def _number(self, name: str) -> int:
        return self._names.index(name) if name in self._names else len(self._names)

    def _outcomes(self, each: ReviewedDecision, actions: Sequence[int], futures: range) -> Floats:
        self.simulations += len(actions) * len(futures)
        return self._simulate(each.decision, actions, futures).outcomes


def _estimate(values: Floats, largest: float) -> MeanReturn:
    """Return the mean of values of at most this magnitude, with an interval for any distribution."""
    interval = bounded_interval(values.tolist(), largest)
    return MeanReturn(count=len(values), mean=float(values.mean()), interval=interval)


def preselect(
    values: Sequence[float],
    rewards: Sequence[float],
    losses: Sequence[bool],
    probabilities: Sequence[float],
    doubts: Sequence[float],
    gamma: float,
    count: int,
) -> list[tuple[int, Reason]]:
    """Return the most suspicious decisions of an episode with the reason, in the order in which to review them.

    `losses` says after which decisions a point or a life was lost. The rules take turns: where the value falls most
    before a loss, the least probable actions, and the largest doubts.
    """
    later = np.append(np.asarray(values[1:], dtype=float), 0.0)
    drops = np.asarray(values, dtype=float) - np.asarray(rewards, dtype=float) - gamma * later
    before = np.zeros(len(drops), dtype=bool)
    for decision in np.flatnonzero(losses):
        before[max(0, decision - WINDOW + 1) : decision + 1] = True
    rankings: dict[Reason, list[int]] = {
        "lost": [int(at) for at in np.argsort(-drops, kind="stable") if before[at]],
        "unlikely": np.argsort(np.asarray(probabilities), kind="stable").tolist(),
        "unsure": np.argsort(-np.asarray(doubts), kind="stable").tolist(),
    }
    chosen: dict[int, Reason] = {}
    for rank in range(len(drops)):
        for reason, ranking in rankings.items():
            if rank < len(ranking) and len(chosen) < count:
                chosen.setdefault(ranking[rank], reason)
    return [*chosen.items()]


# Decisions before a loss that may have caused it.
WINDOW = 60
