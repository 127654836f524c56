"""Tests of the situations of a review."""

from pathlib import Path

import numpy as np
import pytest
import torch

from arcadia_workers.contract.config import A3cConfig, GorilaConfig, PaacConfig, RunConfig
from arcadia_workers.contract.futures import MeanReturn
from arcadia_workers.contract.inference.means import Floats
from arcadia_workers.contract.review import ReviewedDecision
from arcadia_workers.trainer.futures.simulating import load, moments
from arcadia_workers.trainer.review.situations import MAX_SITUATIONS, Situations, features_of, group
from tests.workers.trainer.evaluation import made_checkpoint


def directions(*angles: float) -> Floats:
    """Return rows of length 1 at these angles in degrees."""
    return np.array([[np.cos(np.radians(angle)), np.sin(np.radians(angle))] for angle in angles])


def test_rows_in_similar_directions_are_grouped() -> None:
    assert group(directions(0, 90, 5, 85, 180), 0.1) == [[0, 2], [1, 3], [4]]


def test_groups_are_merged_until_few_are_left() -> None:
    grouped = group(directions(*range(0, 180, 10)), 0.0)
    assert len(grouped) == MAX_SITUATIONS
    assert sorted(row for rows in grouped for row in rows) == list(range(18))
    # Neighbors are together.
    assert all(rows == list(range(rows[0], rows[-1] + 1)) for rows in grouped)


def test_average_linkage_agrees_with_its_definition() -> None:
    rows = np.random.default_rng(1).normal(size=(12, 3))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    similar = 0.5
    groups = [[row] for row in range(len(rows))]
    while len(groups) > 1:
        apart = {
            (one, other): float(np.mean([1 - rows[a] @ rows[b] for a in groups[one] for b in groups[other]]))
            for one in range(len(groups))
            for other in range(one + 1, len(groups))
        }
        one, other = min(apart, key=lambda pair: apart[pair])
        if apart[one, other] > similar and len(groups) <= MAX_SITUATIONS:
            break
        groups[one] = sorted(groups[one] + groups.pop(other))
    assert group(rows, similar) == groups


@pytest.mark.parametrize(
    "config",
    [
        PaacConfig(env="Arcadia/Catch-v0"),
        A3cConfig(env="Arcadia/Labyrinth-v0", lstm_units=8),
        GorilaConfig(env="CartPole-v1"),
    ],
    ids=["policy", "memory", "values"],
)
def test_features_lead_to_the_networks_numbers(config: RunConfig, tmp_path: Path) -> None:
    made_checkpoint.write(tmp_path, config)
    player = load(tmp_path, None, None)
    moment = next(moments(player.subject, player.protocol, 3, 0))
    features = features_of(player.subject.network, moment)
    assert features.ndim == 1
    assert np.abs(features).sum() > 0
    # The same moment has the same features, and predicting is not changed.
    assert np.array_equal(features, features_of(player.subject.network, moment))
    observation = torch.from_numpy(np.asarray(moment.game.observation))[None]
    output, _ = player.subject.network.predict(observation, moment.memory)
    assert torch.allclose(output.numbers, moment.output.numbers, atol=1e-5)


def test_situations_are_ordered_by_their_cost(tmp_path: Path) -> None:
    made_checkpoint.write(tmp_path, PaacConfig(env="Arcadia/Catch-v0"))
    player = load(tmp_path, None, None)
    kept = {}
    for moment in moments(player.subject, player.protocol, 3, 0):
        [game] = moment.game.branch([0])
        kept[moment.decision] = type(moment)(moment.decision, game, moment.memory, moment.output, moment.action)
    losses = {0: 0.2, 1: 0.3, 3: 1.5}
    reviewed = [
        ReviewedDecision(
            decision=decision,
            reason="every",
            taken="NOOP",
            finding="mistake" if decision in losses else "not shown",
            loss=MeanReturn(count=8, mean=losses[decision], interval=None) if decision in losses else None,
        )
        for decision in kept
    ]
    situations = Situations(player.subject.network, kept)
    found = situations.of(reviewed)
    assert sorted(decision for each in found for decision in each.decisions) == [0, 1, 3]
    costs = [sum(losses[decision] for decision in each.decisions) for each in found]
    assert costs == sorted(costs, reverse=True)
    assert situations.of([each for each in reviewed if each.loss is None]) == []
