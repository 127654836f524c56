"""Verdicts on practice between agents whose difference is known."""

from collections.abc import Sequence

import numpy as np
import pytest

from bench import practices
from bench.practices import Agents, Row
from bench.solved import KnownAgent

TRIALS = 200


@pytest.fixture(scope="module")
def agents() -> dict[str, Agents]:
    return {each.name: each for each in practices.pairs_of_agents()}


def test_the_true_differences_are_those_of_many_futures(agents: dict[str, Agents]) -> None:
    improved = agents["improved in one column"]
    found = improved.compare_moments(np.random.default_rng(0), 2_000)
    assert found.mean == pytest.approx(improved.at_mistakes, abs=0.05)
    scores = improved.compare_scores(np.random.default_rng(0), 2_000)
    assert scores.mean == pytest.approx(improved.of_scores, abs=0.08)


def test_equal_agents_differ_in_single_states(agents: dict[str, Agents]) -> None:
    for name, each in agents.items():
        if name.startswith("equal mistakes"):
            assert each.at_mistakes == pytest.approx(0, abs=1e-9)
            states, truth = each.mistakes.states, practices.Truth(each.practice.world)
            one, other = (truth.outcomes(agent.policy)[states] for agent in (each.practice, each.control))
            assert max(abs(one - other)) > 0.2
        if name.startswith("equal scores"):
            assert each.of_scores == pytest.approx(0, abs=1e-9)


def shares_of(verdicts: Sequence[str]) -> tuple[float, float]:
    return verdicts.count("improved") / len(verdicts), verdicts.count("harmed") / len(verdicts)


@pytest.mark.parametrize("one", ["much better", "much worse"])
def test_verdicts_on_equal_agents_are_rarely_false(agents: dict[str, Agents], one: str) -> None:
    name = f"equal mistakes, {one} in one column"
    random = np.random.default_rng(1)
    for number in (5, 20):
        verdicts = [agents[name].compare_moments(random, number).verdict for _ in range(TRIALS)]
        assert max(shares_of(verdicts)) <= 0.05


def test_an_improved_agent_is_found(agents: dict[str, Agents]) -> None:
    random = np.random.default_rng(1)
    verdicts = [agents["improved"].compare_moments(random, 20).verdict for _ in range(20)]
    assert set(verdicts) == {"improved"}


@pytest.mark.nightly
def test_all_verdicts_hold_their_promise() -> None:
    found = [*practices.rows(TRIALS)]
    assert len(found) == 3 * 11
    assert [(row.question, row.agents, row.false) for row in found if row.false > 0.08] == []


def test_a_verdict_is_false_unless_the_difference_has_its_sign() -> None:
    assert Row("score", "better", 0.5, {5: (0.9, 0.01)}).false == 0.01
    assert Row("score", "equal", 0.0, {5: (0.03, 0.01), 9: (0.0, 0.04)}).false == 0.04
    assert isinstance(next(practices.pairs_of_agents()).practice, KnownAgent)
