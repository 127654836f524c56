"""Tests for the statistics of scores."""

from collections.abc import Sequence

import pytest

from arcadia_workers.contract.inference.means import t_interval
from arcadia_workers.contract.protocols import PROTOCOLS
from arcadia_workers.contract.protocols.document import EvaluationDocument, PlayedEpisode
from arcadia_workers.trainer.evaluation import evaluating
from arcadia_workers.trainer.evaluation.report import table
from arcadia_workers.trainer.games import subjects


def document(env: str, protocol: str, *scores: float, plays: Sequence[str | None] = ()) -> EvaluationDocument:
    subject = subjects.random_subject(env, PROTOCOLS[protocol])
    episodes = [
        PlayedEpisode(number=number, score=score, frames=10, frames_before=1, length=2, ended="over", play=play)
        for number, (score, play) in enumerate(zip(scores, plays or [None] * len(scores), strict=True))
    ]
    return evaluating.document(subject, PROTOCOLS[protocol], 1, None, list(reversed(episodes)))


def test_the_interval_is_students_if_all_episodes_are_distinct() -> None:
    found = document("CartPole-v1", "episodes", 1.0, 2.0, 3.0, 4.0)
    assert found.distinct == 4
    assert found.standard_error == pytest.approx(((5 / 3) ** 0.5) / 2)
    assert found.interval == pytest.approx(t_interval([1.0, 2.0, 3.0, 4.0]))
    single = document("CartPole-v1", "episodes", 7.0)
    assert (single.distinct, single.standard_error, single.interval) == (1, None, None)


def test_repeated_episodes_are_one_observation() -> None:
    plays = ["a"] * 20 + ["b"] * 6 + ["c"] * 3 + ["d"]
    scores = [{"a": 20.0, "b": 40.0, "c": 35.0, "d": 12.0}[play] for play in plays]
    found = document("ALE/Breakout-v5", "no-op-5min", *scores, plays=plays)
    everything = t_interval(scores)
    assert found.distinct == 4
    assert found.interval is not None
    assert everything is not None
    assert found.interval[0] < everything[0] < found.mean < everything[1] < found.interval[1]
    assert "distinct        4 of 30 episodes" in table(found)
    assert document("ALE/Breakout-v5", "no-op-5min", 3.0, 3.0, plays=["a", "a"]).interval is None


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
