"""Whether another action than the taken one would have been better, shown by fresh futures.

The outcome of a future is its discounted reward up to the first reward or lost life, so that it is at most 1 if rewards
are clipped. Without clipping it is the discounted reward of the whole future, limited to the largest one in the screen.
It contains no value of the critic.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from workers.contract.config import RunConfig
from workers.contract.futures import MAX_PAIRS, Challenge
from workers.contract.inference.losses import DECISIVE, loss_evidence, pairs_needed
from workers.trainer.futures.players import Player
from workers.trainer.futures.returns import estimate
from workers.trainer.futures.simulating import Branch, Plan

# Pairs are simulated in blocks until a loss is shown, or is unlikely after some of them.
BLOCK = 32
FEWEST_PAIRS, HOPELESS = 64, 0.2

Simulate = Callable[[Plan, range], list[Branch]]
"""Simulates the futures of these numbers by a plan."""


def outcome(branch: Branch, config: RunConfig) -> float:
    """Return the discounted reward of a future without the value of its last state."""
    rewards = np.asarray(branch.rewards)
    if config.clip_rewards:
        ends = np.flatnonzero((rewards != 0) | np.asarray(branch.lives_lost))
        rewards = np.clip(rewards[: ends[0] + 1] if len(ends) else rewards, -1, 1)
    return float(rewards @ config.gamma ** np.arange(len(rewards)))


@dataclass
class Challenger:
    """The action with the best outcomes in the screen, against the taken one."""

    acting: Player
    plan: Plan
    simulate: Simulate
    action: int
    taken: int
    scale: float

    def differences(self, futures: range) -> list[float]:
        """Return how much better the outcome is in each of these futures."""
        plan = replace(self.plan, until="outcome" if self.acting.config.clip_rewards else "horizon")
        one, other = (self.simulate(replace(plan, first=(action,)), futures) for action in (self.action, self.taken))
        return [self._limited(a) - self._limited(b) for a, b in zip(one, other, strict=True)]

    def _limited(self, branch: Branch) -> float:
        return float(np.clip(outcome(branch, self.acting.config), -self.scale, self.scale))


def challenge(
    acting: Player,
    plan: Plan,
    simulate: Simulate,
    screen: Sequence[Sequence[Branch]],
    taken: int,
    names: Sequence[str],
) -> Challenge:
    """Choose the action with the best outcomes in the screen, and test it with fresh futures."""
    outcomes = np.array([[outcome(branch, acting.config) for branch in branches] for branches in screen])
    scale = 1.0 if acting.config.clip_rewards else float(np.abs(outcomes).max()) or 1.0
    means = outcomes.mean(axis=1)
    if means[taken] == means.max():
        return Challenge(taken=names[taken], action=None, scale=scale)
    challenger = Challenger(acting, plan, simulate, int(means.argmax()), taken, scale)
    first = len(screen[0])
    found: list[float] = []
    evidence = 1.0
    while evidence < DECISIVE and len(found) < MAX_PAIRS and (len(found) < FEWEST_PAIRS or evidence >= HOPELESS):
        found += challenger.differences(range(first + len(found), first + len(found) + BLOCK))
        evidence = loss_evidence(found, scale)
    is_better = evidence >= DECISIVE
    # The pairs that show a loss overstate it, so it is measured with others.
    last = first + len(found)
    measured = challenger.differences(range(last, last + FEWEST_PAIRS)) if is_better else []
    return Challenge(
        taken=names[taken],
        action=names[challenger.action],
        scale=scale,
        pairs=len(found),
        e_value=evidence,
        is_better=is_better,
        pairs_needed=None if is_better else pairs_needed(found, scale),
        loss=estimate(measured) if is_better else None,
    )
