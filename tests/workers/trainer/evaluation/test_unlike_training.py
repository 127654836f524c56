"""Tests for the reported differences between an evaluation and the training."""

from pathlib import Path

import pytest

from arcadia_workers.contract.config import PaacConfig
from arcadia_workers.contract.protocols import PROTOCOLS
from arcadia_workers.trainer import commands
from arcadia_workers.trainer.evaluation import evaluating
from arcadia_workers.trainer.evaluation.evaluating import differences, fire_opens
from arcadia_workers.trainer.evaluation.report import JobReport, table
from tests.workers.trainer.evaluation import made_checkpoint


def reported(env: str, protocol: str, **settings: object) -> tuple[str, ...]:
    """Return how a run with these settings differs from a protocol."""
    return differences(PaacConfig.model_validate({"env": env, **settings}), PROTOCOLS[protocol])


def test_fire_is_reported_if_it_changes_the_game() -> None:
    (sentence,) = reported("ALE/Breakout-v5", "no-op-30min", fire_at_reset=True)
    assert sentence.startswith("In training FIRE was pressed in the first frame of every episode")
    assert reported("ALE/Breakout-v5", "no-op-30min", fire_at_reset=False) == ()
    assert reported("ALE/Pong-v5", "no-op-30min", fire_at_reset=True) == ()


@pytest.mark.parametrize(
    ("env", "opens"), [("ALE/Breakout-v5", True), ("ALE/Pong-v5", False), ("ALE/Freeway-v5", False)]
)
def test_only_some_games_start_with_fire(env: str, opens: bool) -> None:
    assert fire_opens(env) == opens


def test_repeated_actions_and_missing_no_ops_are_reported() -> None:
    settings = {"repeat_action_probability": 0.25, "max_noops": 0}
    no_ops, repeated = reported("ALE/Pong-v5", "no-op-5min", **settings)
    assert no_ops.startswith("In training every episode began in the same frame")
    assert "with a probability of 0.25" in repeated
    assert reported("ALE/Pong-v5", "agent-starts", **settings) == (repeated,)


@pytest.mark.parametrize(("fewest", "most"), [(0, 1), (1, 1)])
def test_a_range_with_a_single_number_of_no_ops_is_reported(fewest: int, most: int) -> None:
    settings = {"fire_at_reset": False, "min_noops": fewest}
    (sentence,) = reported("ALE/Pong-v5", "no-op-5min", max_noops=most, **settings)
    assert sentence.startswith("In training every episode began in the same frame")
    assert reported("ALE/Pong-v5", "no-op-5min", max_noops=most + 1, **settings) == ()


def test_other_environments_have_no_differences() -> None:
    assert reported("CartPole-v1", "episodes", repeat_action_probability=0.25, max_noops=0) == ()


def test_the_document_and_the_table_contain_the_differences(tmp_path: Path) -> None:
    config = PaacConfig(env="ALE/Breakout-v5", repeat_action_probability=0.25)
    made_checkpoint.write(tmp_path, config)
    asked = commands.read_evaluation(
        commands.parser().parse_args(
            ["evaluate", "--run-dir", str(tmp_path), "--protocol", "no-op-5min", "--episodes", "1"]
        )
    )
    found = evaluating.evaluate(asked, JobReport(None), lambda: False)
    assert found
    assert found.unlike_training == list(differences(config, PROTOCOLS["no-op-5min"]))
    assert len(found.unlike_training) == 2
    assert set(found.unlike_training) <= set(table(found).splitlines())
