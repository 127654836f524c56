"""Tests of the configuration's field `practice`, of how tables list it, and of verdicts."""

from typing import Any

import pytest
from pydantic import ValidationError

from arcadia_workers.contract.config import A3cConfig, PaacConfig, config_adapter
from arcadia_workers.contract.events import changed
from arcadia_workers.contract.inference.losses import cautious_interval
from arcadia_workers.contract.practice import (
    APART,
    MIN_MOMENTS,
    Difference,
    PracticeConfig,
    Unit,
    Verdict,
    compared,
    describe_verdict,
    groups,
    listed,
    smallest_improvement,
    verdict_of,
)
from arcadia_workers.contract.review import ReviewedDecision

EPISODE: dict[str, Any] = {"seed": 3, "actions": "012", "mistakes": [1, 3], "seen": 0.5, "score": 1.0}
PRACTICE: dict[str, Any] = {"share": 0.25, "before": 2, "episodes": [EPISODE]}


def test_a_configuration_without_practice_does_not_mention_it() -> None:
    config = PaacConfig(env="CartPole-v1")
    assert "practice" not in config.model_dump(mode="json")
    assert "practice" not in config.model_dump_json()
    assert "practice" not in str(config_adapter.json_schema())


def test_a_configuration_with_practice_is_read_again() -> None:
    config = config_adapter.validate_python({"algorithm": "paac", "env": "CartPole-v1", "practice": PRACTICE})
    document = config.model_dump(mode="json")
    assert document["practice"]["episodes"][0]["actions"] == "012"
    assert config_adapter.validate_json(config.model_dump_json()) == config_adapter.validate_python(document) == config
    assert config.practice is not None
    assert config.practice.episodes[0].starts(config.practice.before) == [0, 1]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"mistakes": [3, 1]}, "ascending order"),
        ({"mistakes": [1, 2]}, "give the 2 actions before the last mistake, not 3"),
        ({"mistakes": []}, "at least 1 item"),
        ({"actions": "0-2"}, "should match pattern"),
    ],
)
def test_wrong_episodes_are_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        PracticeConfig.model_validate({**PRACTICE, "episodes": [{**EPISODE, **changes}]})


def test_continuous_actions_cannot_be_practiced() -> None:
    with pytest.raises(ValidationError, match="those of Pendulum-v1 are continuous: remove it"):
        A3cConfig.model_validate({"env": "Pendulum-v1", "practice": PRACTICE})


def test_a_live_run_cannot_change_its_practice() -> None:
    problems = changed(PaacConfig(env="CartPole-v1"), {"practice": PRACTICE})
    assert isinstance(problems, list)
    assert "fork the run" in problems[0].message


def test_tables_list_only_the_share() -> None:
    config = {"env": "CartPole-v1", "practice": PRACTICE}
    assert listed(config) == {"env": "CartPole-v1", "practice.share": 0.25}
    plain = {"env": "CartPole-v1", "practice": "every day"}
    assert listed(plain) is plain
    assert compared(plain) is plain


def test_comparisons_tell_different_starts_apart() -> None:
    def fields(**practice: Any) -> dict[str, Any]:
        return dict(compared({"practice": {**PRACTICE, **practice}}))

    assert fields().keys() == {"practice.share", "practice.starts"}
    assert fields()["practice.starts"] == fields(share=0.0)["practice.starts"] != fields(before=3)["practice.starts"]


def test_one_pair_needs_as_many_kept_mistakes_as_can_show_an_improvement() -> None:
    assert cautious_interval([2.0] * (MIN_MOMENTS - 1), 2.0)[0] < 0 < cautious_interval([2.0] * MIN_MOMENTS, 2.0)[0]
    assert smallest_improvement([1.0] * (MIN_MOMENTS - 1), 1) is None
    assert smallest_improvement([1.0] * 20, 3) is None


@pytest.mark.parametrize("count", [MIN_MOMENTS, 12, 40])
def test_the_smallest_improvement_is_where_the_interval_leaves_zero(count: int) -> None:
    smallest = smallest_improvement([0.5, *[1.0] * (count - 1)], 1)
    assert smallest is not None
    assert cautious_interval([smallest * 1.001] * count, 2.0)[0] > 0
    assert cautious_interval([smallest * 0.999] * count, 2.0)[0] < 0


@pytest.mark.parametrize(
    ("unit", "verdict", "words"),
    [
        ("pair", "improved", "improved"),
        ("moment", "improved", "improved, for this pair of agents"),
        ("episode", "harmed", "harmed, for this pair of agents"),
        ("episode", "no improvement shown", "no improvement shown"),
    ],
)
def test_a_verdict_on_one_pair_says_so(unit: Unit, verdict: Verdict, words: str) -> None:
    difference = Difference(mean=0.5, interval=(0.1, 0.9), unit=unit, count=9, verdict=verdict)
    assert describe_verdict(difference) == words


@pytest.mark.parametrize(
    ("interval", "verdict"),
    [
        ((0.1, 0.2), "improved"),
        ((-0.2, -0.1), "harmed"),
        ((-0.1, 0.1), "no improvement shown"),
        ((0.0, 0.0), "no improvement shown"),
        (None, "no improvement shown"),
    ],
)
def test_the_verdict_follows_from_the_interval(interval: tuple[float, float] | None, verdict: str) -> None:
    assert verdict_of(interval) == verdict


def test_mistakes_that_are_near_each_other_belong_together() -> None:
    near = [10, 10 + APART - 1, 10 + 2 * (APART - 1)]
    far = [near[-1] + APART]
    mistakes = [ReviewedDecision(decision=each, reason="lost", taken="up") for each in near + far]
    assert [[each.decision for each in group] for group in groups(mistakes)] == [near, far]
    assert groups([]) == []
