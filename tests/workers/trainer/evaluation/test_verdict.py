"""Tests for the statistics of scores."""

import numpy as np
import pytest

from workers.contract.protocols import PROTOCOLS
from workers.contract.protocols.document import EvaluationDocument, PlayedEpisode
from workers.trainer.evaluation import verdict
from workers.trainer.evaluation.table import table
from workers.trainer.games import subjects


def document(env: str, protocol: str, *scores: float) -> EvaluationDocument:
    subject = subjects.random_subject(env, PROTOCOLS[protocol])
    episodes = [
        PlayedEpisode(number=number, score=score, frames=10, frames_before=1, length=2, ended="over")
        for number, score in enumerate(scores)
    ]
    return verdict.document(subject, PROTOCOLS[protocol], 1, None, list(reversed(episodes)))


def test_the_standard_error_of_the_mean() -> None:
    assert verdict.standard_error([1.0, 2.0, 3.0, 4.0]) == pytest.approx(((5 / 3) ** 0.5) / 2)
    assert verdict.standard_error([1.0]) is None


def test_the_interval_is_reproducible_and_has_the_theoretical_size() -> None:
    scores = list(np.random.default_rng(0).normal(50, 10, size=100))
    found = verdict.interval(scores, seed=1)
    assert found == verdict.interval(scores, seed=1) != verdict.interval(scores, seed=2)
    assert found
    assert found[0] == pytest.approx(np.mean(scores) - 1.96 * np.std(scores) / 10, abs=0.15)
    assert found[1] == pytest.approx(np.mean(scores) + 1.96 * np.std(scores) / 10, abs=0.15)
    assert verdict.interval([7.0], seed=1) is None
    assert verdict.interval([7.0, 7.0], seed=1) == (7.0, 7.0)


def test_many_scores_are_resampled_in_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    scores = [float(score) for score in range(40)]
    whole = verdict.interval(scores, seed=1)
    monkeypatch.setattr(verdict, "MAX_DRAWN_SCORES", 700)
    assert verdict.interval(scores, seed=1) == whole


def test_a_score_is_normalized_by_the_table_of_its_protocol() -> None:
    found = document("ALE/Pong-v5", "no-op-5min", -20.7, 9.3, 9.3)
    assert found.scores == [-20.7, 9.3, 9.3]
    assert found.mean == pytest.approx(-0.7)
    assert found.median == 9.3
    assert found.human_normalized == pytest.approx(200 / 3)
    assert found.normalized_by
    assert (found.normalized_by.table, found.normalized_by.random, found.normalized_by.human) == ("table 4", -20.7, 9.3)
    assert "66.7 %" in table(found)
    assert "Gorila (Nair et al. 2015), table 4" in table(found)


@pytest.mark.parametrize(
    ("env", "protocol", "because"),
    [
        ("ALE/VideoPinball-v5", "human-starts", "the random player beats the human"),
        ("ALE/Pong-v5", "agent-starts", "publish no random and human scores of ALE/Pong-v5 by agent-starts"),
        ("ALE/Tetris-v5", "sticky-30min", "publish no random and human scores of ALE/Tetris-v5 by no-op-30min"),
        ("ALE/Tetris-v5", "no-op-5min", "publish no random and human scores of ALE/Tetris-v5"),
    ],
)
def test_the_document_explains_why_a_score_is_not_normalized(env: str, protocol: str, because: str) -> None:
    found = document(env, protocol, 1.0, 2.0)
    assert found.human_normalized is None
    assert because in (found.not_normalized_because or "")
    assert because in table(found)


def test_the_table_shows_every_episode() -> None:
    lines = table(document("CartPole-v1", "episodes", 1234567.25, 2.0)).splitlines()
    assert ["0", "1,234,567.25", "10", "2", "over"] in [line.split() for line in lines]
