"""Agents with known policies in exactly solved environments: the environments, and the promises for their regret."""

from collections.abc import Hashable, Sequence

import numpy as np
import pytest

from arcadia_workers.contract.inference.losses import LossEstimates
from arcadia_workers.contract.inference.means import clustered_mean_error
from arcadia_workers.trainer.calibration import calibrating
from arcadia_workers.trainer.environments.worlds.puzzles import COLUMNS, ROWS, Catch
from arcadia_workers.trainer.futures import experiment
from bench import losses
from bench.solved import END, GAMMA, WORLDS, KnownAgent, catch, chain

TRIALS = 8


def test_the_table_of_catch_is_the_game() -> None:
    world, game = catch(), Catch()
    game.reset(seed=0)
    for state, board in enumerate(np.ndindex(ROWS - 1, COLUMNS, COLUMNS)):
        for action in range(3):
            game._row, game._ball, game._paddle = board
            _, reward, over, _, _ = game.step(np.int64(action))
            ((probability, paid, then),) = world.outcomes[state][action]
            following = END if over else (game._row * COLUMNS + game._ball) * COLUMNS + game._paddle
            assert (probability, paid, then) == (1, reward, following)
    assert len(world.starts) == COLUMNS


def test_a_chain_has_the_values_of_its_equation() -> None:
    world, policy = chain(0.3, 0.7, continues=0.8), np.array([[0.25, 0.75]])
    value = (0.25 * 0.3 + 0.75 * 0.7) / (1 - 0.8 * GAMMA)
    assert world.action_values(policy)[0] == pytest.approx([0.3 + 0.8 * GAMMA * value, 0.7 + 0.8 * GAMMA * value])
    assert world.regret(policy) == pytest.approx(0.25 * 0.4)
    assert world.perfect().tolist() == [[0, 1]]


@pytest.mark.parametrize(("world", "actions"), WORLDS)
def test_agents_lose_only_where_actions_differ(world: str, actions: str) -> None:
    solved = WORLDS[world, actions]
    assert solved.regret(solved.perfect()) == pytest.approx(0)
    assert (solved.regret(solved.flawed()) > 0.01) == (actions == "unequal")


def test_futures_have_the_exact_values() -> None:
    world = catch(windy=True)
    agent = KnownAgent(world, world.flawed())
    state = world.starts[0]
    rewards = agent.futures(np.random.default_rng(0), np.array([state]), 4_000)[0]
    means = (rewards * GAMMA ** np.arange(rewards.shape[-1])).sum(axis=-1).mean(axis=-1)
    assert means == pytest.approx(world.action_values(agent.policy)[state], abs=0.03)


def test_known_agents_hold_the_promises() -> None:
    rows = losses.rows_of_known_agents(TRIALS)
    covered = [share for row in rows if not row.wrong for share in row.shares.values() if share is not None]
    wrong = [share for row in rows if row.wrong for share in row.shares.values() if share is not None]
    assert len(wrong) == 2 * len(WORLDS)
    # The perfect agent of Catch never loses anything, so that its regret has no interval.
    assert len(covered) == len(wrong) - 1
    assert np.mean(covered) >= 0.93
    assert np.mean(wrong) <= 0.05


def below(bounds: Sequence[LossEstimates], clusters: Sequence[Hashable]) -> tuple[float, float] | None:
    """Return the interval of the lower estimate alone, which an earlier version called the regret."""
    found = clustered_mean_error([each.at_least for each in bounds], clusters)
    return found and found.ends


def test_the_lower_estimate_alone_would_break_the_promise(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calibrating, "loss_interval", below)
    world = WORLDS["chain of 6 actions", "unequal"]
    agent = KnownAgent(world, world.perfect())
    # A perfect agent is said to be better than the best.
    intervals = [regret.interval for seed in range(20) if (regret := agent.regret(seed, 16))]
    assert np.mean([high < 0 for _, high in filter(None, intervals)]) > 0.07


def test_an_action_that_merely_looks_better_would_break_the_promise(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(experiment, "DECISIVE", 1.0)
    world = WORLDS["chain of 6 actions", "equal"]
    agent = KnownAgent(world, world.perfect())
    assert np.mean([agent.challenge(seed, 16)[0].is_better for seed in range(20)]) > 0.05
