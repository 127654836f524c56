"""Tests for ε-greedy exploration: the draw of final ε, annealing, and the actions taken."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from arcadia_workers.contract.config import NStepQConfig
from arcadia_workers.trainer.learning.policies import EpsilonGreedy, FinalEpsilons, annealed

CPU = torch.device("cpu")
EPSILONS = st.lists(st.floats(0, 1), min_size=1, max_size=5).map(np.array)


def test_final_epsilons_are_drawn_with_their_probabilities() -> None:
    config = NStepQConfig()

    drawn = FinalEpsilons(config, 20_000).at(0)

    for epsilon, probability in zip((0.1, 0.01, 0.5), (0.4, 0.3, 0.3), strict=True):
        tolerance = 4 * math.sqrt(probability * (1 - probability) / 20_000)
        assert (drawn == epsilon).mean() == pytest.approx(probability, abs=tolerance)


def test_the_seed_decides_which_actor_gets_which_epsilon() -> None:
    drawn = [FinalEpsilons(NStepQConfig(seed=seed), 50).at(0).tolist() for seed in (1, 1, 2)]
    assert drawn[0] == drawn[1]
    assert drawn[0] != drawn[2]


def test_final_epsilons_are_redrawn_at_an_interval_and_reproduced_by_a_resume() -> None:
    config = NStepQConfig(epsilon_draw_frames=1000)
    finals = FinalEpsilons(config, 50)
    drawn = {frames: finals.at(frames).tolist() for frames in (0, 999, 1000, 1999, 2000)}
    assert drawn[0] == drawn[999] == FinalEpsilons(NStepQConfig(), 50).at(10**9).tolist(), "once per run by default"
    assert drawn[1000] == drawn[1999]
    assert drawn[0] != drawn[1000] != drawn[2000] != drawn[0]
    assert FinalEpsilons(config, 50).at(2000).tolist() == drawn[2000]


@given(EPSILONS, st.integers(1, 10**10))
def test_epsilon_falls_from_1_to_exactly_its_final_value(final: np.ndarray, anneal_frames: int) -> None:
    np.testing.assert_allclose(annealed(final, 0, anneal_frames), 1)
    assert (annealed(final, anneal_frames, anneal_frames) == final).all()
    assert (annealed(final, 3 * anneal_frames, anneal_frames) == final).all()


@given(EPSILONS, st.integers(2, 10**10), st.data())
def test_epsilon_falls_linearly(final: np.ndarray, anneal_frames: int, data: st.DataObject) -> None:
    frames = data.draw(st.integers(0, anneal_frames))
    np.testing.assert_allclose(
        annealed(final, frames, anneal_frames), 1 + (final - 1) * frames / anneal_frames, atol=1e-12
    )


def test_without_annealing_epsilon_is_final_at_once() -> None:
    assert annealed(np.array([0.1, 0.5]), 0, anneal_frames=0).tolist() == [0.1, 0.5]


def test_every_environment_explores_with_a_separate_epsilon() -> None:
    explore = EpsilonGreedy(np.array([0.0, 0.4, 1.0]), anneal_frames=0, seed=5, device=CPU)
    values = torch.tensor([[0.0, 2.0, 1.0, -1.0]] * 3)
    turns = 8000

    explore.begin(turns, actions=4)
    actions = torch.stack([explore(values, slice(3 * turn, 3 * turn + 3)) for turn in range(turns)])

    best = (actions == 1).double().mean(dim=0)
    # A random action is the best one with probability 1/4.
    for share, epsilon in zip(best.tolist(), (0.0, 0.4, 1.0), strict=True):
        expected = 1 - epsilon * 0.75
        assert share == pytest.approx(expected, abs=4 * math.sqrt(expected * (1 - expected) / turns))
    assert set(actions[:, 2].tolist()) == {0, 1, 2, 3}


def test_environments_keep_their_epsilons_when_called_in_parts() -> None:
    explore = EpsilonGreedy(np.array([0.0, 0.0, 1.0, 1.0, 1.0]), anneal_frames=0, seed=5, device=CPU)
    turns = 200
    explore.begin(turns, actions=2)
    explored = []
    for first in range(0, 5 * turns, 5):
        rest = explore(torch.tensor([[1.0, 0.0]] * 3), slice(first + 2, first + 5))
        explored.append(torch.cat([explore(torch.tensor([[1.0, 0.0]] * 2), slice(first, first + 2)), rest]))
    shares = torch.stack(explored).double().mean(dim=0)
    assert shares[:2].tolist() == [0, 0]
    assert (shares[2:] > 0.3).all()


def test_exploration_follows_the_annealing() -> None:
    explore = EpsilonGreedy(np.array([0.2]), anneal_frames=1000, seed=5, device=CPU)
    assert explore.epsilons.tolist() == [1.0]
    explore.anneal(frames=500)
    assert explore.epsilons.tolist() == pytest.approx([0.6])
