"""Simulations of regret and of tests of other actions, with known truths."""

from functools import partial

import numpy as np

from arcadia_workers.contract.futures import USUAL_CALIBRATION_FUTURES
from arcadia_workers.contract.futures import USUAL_FUTURES as SCREEN
from arcadia_workers.contract.inference.losses import (
    DECISIVE,
    MARGIN,
    LossEstimates,
    bound_loss,
    loss_evidence,
    loss_interval,
    select_losses,
)
from arcadia_workers.contract.inference.means import Floats
from bench.simulations import SEED, Ends, Row, covered_row
from bench.solved import AGENTS, WORLDS, KnownAgent


def rows_of_losses(trials: int) -> list[Row]:
    """Simulate the regret of agents with many decisions, and the choice of decisions that lose."""
    found = []
    for agent in ("perfect", "equal actions", "random", "good"):
        for futures in (16, 64):
            attempts = {futures: partial(_regret, agent, futures)}
            found.append(covered_row("regret of 40 decisions, by futures", agent, trials, attempts))
    random = np.random.default_rng(SEED)
    wrong = float(np.mean([_false_discoveries(random) for _ in range(trials)]))
    found.append(Row("share of false losses among those selected", "−1, 0 or 1", {256: wrong}, wrong=True))
    return found


def rows_of_actions(trials: int) -> list[Row]:
    """Simulate tests of other actions that are equally good."""
    found = []
    for actions in (6, 18):
        random = np.random.default_rng(SEED)
        wrong = float(np.mean([_calls_equal_action_better(actions, random) for _ in range(trials)]))
        found.append(Row(f"one of {actions} equal actions is better", "−1, 0 or 1", {256: wrong}, wrong=True))
    return found


def _regret(agent: str, futures: int, random: np.random.Generator) -> tuple[Ends, float]:
    bounds: list[LossEstimates] = []
    lost = []
    for _ in range(40):
        actions = np.zeros(6) if agent == "equal actions" else random.normal(0, 0.3, 6)
        chosen = {
            "perfect": int(actions.argmax()),
            "equal actions": 0,
            "random": int(random.integers(6)),
            "good": int((actions + random.normal(0, 0.2, 6)).argmax()),
        }[agent]
        shared = random.normal(0, 0.5, futures)
        bounds.append(bound_loss(actions[:, np.newaxis] + shared + random.normal(0, 1, (6, futures)), chosen))
        lost.append(float(actions.max() - actions[chosen]))
    return loss_interval(bounds, [number % 10 for number in range(40)]), float(np.mean(lost))


def _outcomes(random: np.random.Generator, mean: float, pairs: int) -> Floats:
    """Return differences of outcomes that are mostly 0."""
    wins = (1 + mean / 0.4) / 2
    return random.choice([1.0, 0.0, -1.0], size=pairs, p=[0.4 * wins, 0.6, 0.4 * (1 - wins)])


def _calls_equal_action_better(actions: int, random: np.random.Generator) -> bool:
    """Screen equal actions and test the best with up to 256 pairs, looking after each block of 32."""
    screen = random.choice([1.0, 0.0, -1.0], size=(actions, 64), p=[0.2, 0.6, 0.2]).mean(axis=1)
    if screen.argmax() == 0:
        return False
    pairs = _outcomes(random, 0.0, 256)
    return any(loss_evidence(pairs[:end].tolist(), 1.0) >= DECISIVE for end in range(32, 257, 32))


def _false_discoveries(random: np.random.Generator) -> float:
    """Test 40 decisions, of which 8 lose 0.3. Return the share of false ones among those selected."""
    losses = np.where(np.arange(40) < 8, 0.3, 0.0)
    selected = select_losses([loss_evidence(_outcomes(random, loss, 256).tolist(), 1.0) for loss in losses])
    return float(np.mean([losses[index] == 0 for index in selected])) if selected else 0.0


def rows_of_known_agents(trials: int) -> list[Row]:
    """Judge agents with known policies in exactly solved environments."""
    found = []
    for (world, actions), solved in WORLDS.items():
        for name, policy in AGENTS.items():
            agent = KnownAgent(solved, policy(solved))
            scores = f"{world}: {name} agent, {actions} actions"
            attempts = {USUAL_CALIBRATION_FUTURES: partial(_known_regret, agent)}
            wrong = float(np.mean([_falsely_better(agent, seed) for seed in range(trials)]))
            found.append(covered_row("regret in a solved environment", scores, trials, attempts, min_coverage=0.93))
            found.append(Row("an action is better, in a solved environment", scores, {SCREEN: wrong}, wrong=True))
    return found


def _known_regret(agent: KnownAgent, random: np.random.Generator) -> tuple[Ends, float]:
    regret = agent.regret(int(random.integers(2**32)), USUAL_CALIBRATION_FUTURES)
    # Sums of rewards are rounded.
    return regret.interval if regret else None, round(agent.true_regret, 12)


def _falsely_better(agent: KnownAgent, seed: int) -> bool:
    tested, better = agent.challenge(seed, SCREEN)
    return tested.is_better and better <= MARGIN * tested.scale
