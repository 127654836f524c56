"""Tests for the actions of a live agent by temperature."""

from collections import Counter

import numpy as np
import pytest
import torch

from arcadia_workers.contract.action_names import Continuous, Discrete
from arcadia_workers.contract.protocols.document import EPSILON_GREEDY, GREEDY, SAMPLED
from arcadia_workers.trainer.live.live_agent import choose, usual_temperature


def counted(sampled: str, temperature: float) -> Counter[object]:
    """Return how often each of three actions is chosen."""
    numbers, random = torch.log(torch.tensor([[0.2, 0.5, 0.3]])), torch.Generator().manual_seed(1)
    return Counter(choose(numbers, sampled, Discrete(3), temperature, random) for _ in range(2_000))  # type: ignore[arg-type]


def test_temperature_leads_from_greedy_to_sampled() -> None:
    assert counted("policy", 0) == {1: 2_000}
    assert counted("policy", 1)[1] / 2_000 == pytest.approx(0.5, abs=0.05)
    # At temperature 0.5, probabilities are proportional to their squares: 0.25 / (0.04 + 0.25 + 0.09).
    assert counted("policy", 0.5)[1] / 2_000 == pytest.approx(0.25 / 0.38, abs=0.05)
    assert counted("random", 0) == {1: 2_000}
    assert counted("random", 1)[0] / 2_000 == pytest.approx(1 / 3, abs=0.05)
    mean = choose(torch.tensor([[2.0, 5.0]]), "noise", Continuous((-9,), (9,)), 0, torch.Generator())
    assert mean == np.float32(2)


def test_the_default_temperature_matches_the_acting_of_the_method() -> None:
    assert [usual_temperature(acting) for acting in (SAMPLED, GREEDY, EPSILON_GREEDY)] == [1, 0, 0.05]
