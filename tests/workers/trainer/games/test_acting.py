"""Tests for how actions are chosen in evaluations."""

import numpy as np
import pytest
import torch
from pydantic import ValidationError

from arcadia_workers.contract.action_names import Continuous, Discrete
from arcadia_workers.contract.config import CONFIGURATIONS
from arcadia_workers.contract.protocols.document import EPSILON_GREEDY, GREEDY, RANDOM, SAMPLED, Acting
from arcadia_workers.trainer.games.subjects import ActingError, check, chooser

THREE, BOX = Discrete(3), Continuous((-1.0, -2.0), (1.0, 2.0))


def shares(acting: Acting, numbers: list[float]) -> list[float]:
    """Return how often each of three actions is chosen."""
    choose = chooser(acting, THREE, seed=1)
    chosen = [int(choose(torch.tensor([numbers]))) for _ in range(4000)]
    return list(np.bincount(chosen, minlength=3) / 4000)


def test_sampled_draws_from_the_policy() -> None:
    assert shares(SAMPLED, [0.0, float(np.log(2)), float(np.log(5))]) == pytest.approx([1 / 8, 2 / 8, 5 / 8], abs=0.03)


def test_greedy_takes_the_action_with_the_highest_output() -> None:
    assert shares(GREEDY, [0.1, 0.3, 0.2]) == [0, 1, 0]


def test_epsilon_greedy_takes_random_actions_with_probability_epsilon() -> None:
    acting = Acting(name="epsilon-greedy", epsilon=0.3)
    assert shares(acting, [0.1, 0.3, 0.2]) == pytest.approx([0.1, 0.8, 0.1], abs=0.03)


def test_random_takes_all_actions_equally_often() -> None:
    assert shares(RANDOM, [9.0, 0.0, 0.0]) == pytest.approx([1 / 3] * 3, abs=0.03)
    choose = chooser(RANDOM, BOX, seed=1)
    drawn = np.array([choose(torch.empty(1, 0)) for _ in range(2000)])
    assert np.abs(drawn).max(axis=0) == pytest.approx([1, 2], abs=0.01)


def test_greedy_takes_the_mean_of_continuous_actions() -> None:
    chosen = chooser(GREEDY, BOX, seed=1)(torch.tensor([[0.5, -0.25, 3.0]]))
    assert np.array_equal(chosen, np.array([0.5, -0.25], dtype=np.float32))


def test_impossible_acting_is_refused() -> None:
    with pytest.raises(ActingError, match="use epsilon-greedy"):
        check(SAMPLED, "values", THREE)
    with pytest.raises(ActingError, match="use sampled"):
        check(EPSILON_GREEDY, "policy", BOX)
    check(GREEDY, "values", THREE)


@pytest.mark.parametrize("wrong", [{"name": "greedy", "epsilon": 0.1}, {"name": "epsilon-greedy"}])
def test_epsilon_is_accepted_only_with_epsilon_greedy(wrong: dict[str, object]) -> None:
    with pytest.raises(ValidationError, match="ε"):
        Acting.model_validate(wrong)


def test_methods_act_as_in_their_papers() -> None:
    usual = {name: config.usual_acting for name, config in CONFIGURATIONS.items()}
    assert {usual.pop(name) for name in ("a3c", "paac", "ga3c", "ppo")} == {SAMPLED}
    assert set(usual.values()) == {EPSILON_GREEDY}
    assert EPSILON_GREEDY.epsilon == 0.05
