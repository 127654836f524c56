"""Tests that mistakes are split into practiced and held-out ones before practice."""

from collections.abc import Sequence

import pytest

from arcadia_workers.contract.practice import APART
from arcadia_workers.contract.protocols.document import SAMPLED
from arcadia_workers.contract.review import ReviewDocument, ReviewedDecision
from arcadia_workers.trainer.games.playing import Draws
from arcadia_workers.trainer.practice.planning import NothingToPracticeError, Sight, Traced, split


def traced(episode: int, *mistakes: int, play: bytes | None = None) -> Traced:
    """Return an episode with mistakes at these decisions."""
    reviewed = [
        ReviewedDecision(decision=at, reason="every", taken="left", better="stay", finding="mistake") for at in mistakes
    ]
    review = ReviewDocument(
        env="Arcadia/Catch-v0",
        algorithm="paac",
        checkpoint_step=5,
        protocol="episodes",
        seed=1,
        episode=episode,
        acting=SAMPLED,
        horizon=20,
        gamma=0.9,
        clip_rewards=True,
        decisions=1_000,
        score=0.0,
        reviewed=reviewed,
        simulations=0,
        seconds=0.0,
    )
    sights = {at: Sight(0.5, bytes([episode, at % 256]), 0.0) for at in mistakes}
    return Traced(review, Draws(7, 0, 1), "0" * 1_000, reviewed, sights, play or bytes([episode]))


def decisions(chosen: Sequence[tuple[Traced, Sequence[ReviewedDecision]]]) -> list[tuple[int, list[int]]]:
    return [(each.review.episode, [mistake.decision for mistake in mistakes]) for each, mistakes in chosen]


def test_every_other_episode_with_mistakes_is_practiced() -> None:
    episodes = [traced(0, 5, 9), traced(1), traced(2, 3), traced(3, 100, 110, 400), traced(4, 8)]
    practiced, held_out = split(episodes, 3)
    assert decisions(practiced) == [(0, [5, 9]), (3, [100, 110, 400])]
    assert decisions(held_out) == [(2, [3]), (4, [8])]


def test_only_the_first_mistake_of_a_group_is_measured() -> None:
    practiced, held_out = split(
        [traced(0, 5), traced(1, 100, 100 + APART - 1, 100 + 2 * APART - 2, 100 + 3 * APART)], 3
    )
    assert decisions(practiced) == [(0, [5])]
    assert decisions(held_out) == [(1, [100, 100 + 3 * APART])]


def test_an_episode_that_repeats_another_one_counts_once() -> None:
    practiced, held_out = split([traced(0, 5, play=b"same"), traced(1, 5, play=b"same"), traced(2, 7)], 3)
    assert decisions(practiced) == [(0, [5])]
    assert decisions(held_out) == [(2, [7])]


FEW = [traced(0, 5), traced(1, *range(100, 700, 100))]


@pytest.mark.parametrize(
    ("episodes", "pairs", "message"),
    [
        ([traced(0), traced(1)], 3, "the reviews show no mistake"),
        # Practice from 190 could play on to 265, so no episode has both practiced and kept mistakes.
        ([traced(0, 200, 265, 400, 600)], 3, "in a single episode"),
        (FEW, 1, "6 mistakes would be kept to measure, and one pair needs at least 7"),
    ],
)
def test_too_few_mistakes_are_an_error(episodes: list[Traced], pairs: int, message: str) -> None:
    with pytest.raises(NothingToPracticeError, match=message):
        split(episodes, pairs)


def test_three_pairs_or_seven_kept_mistakes_are_enough() -> None:
    assert decisions(split(FEW, 3)[1]) == [(1, [*range(100, 700, 100)])]
    assert decisions(split([traced(0, 5), traced(1, *range(100, 800, 100))], 1)[1]) == [(1, [*range(100, 800, 100)])]
