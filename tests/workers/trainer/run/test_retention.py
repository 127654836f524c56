"""Tests that the best checkpoint is kept besides the first, the last and those spread between them."""

import math
from pathlib import Path

from arcadia_workers.contract import layout
from arcadia_workers.trainer.run.checkpoints import RETURN_WINDOW, Retention, RunFacts, kept


def after(means: list[float], episodes: int = RETURN_WINDOW) -> Retention:
    """Return the retention after a checkpoint for each mean, named by its index."""
    retention = Retention()
    for number, mean in enumerate(means):
        retention = retention.after(f"{number}", [mean] * episodes)
    return retention


def saved(directory: Path, *steps: int) -> Path:
    """Write manifests of these steps into a run directory."""
    for step in steps:
        path = (directory / layout.checkpoint_file(step)).with_suffix(".json")
        path.parent.mkdir(exist_ok=True)
        path.touch()
    return directory


def test_the_best_checkpoint_has_the_highest_mean() -> None:
    assert after([1.0, 9.0, 3.0, 4.0, 5.0]).best == "1"


def test_the_newest_of_equally_good_checkpoints_is_the_best() -> None:
    assert after([5.0, 5.0]).best == "1"


def test_a_mean_over_a_full_window_beats_one_over_few_episodes() -> None:
    lucky = Retention().after("lucky", [500.0])
    assert lucky.best == "lucky"
    assert lucky.after("full", [20.0] * RETURN_WINDOW).best == "full"


def test_without_episodes_there_is_no_best() -> None:
    assert Retention().after("0", []).best is None


def test_nan_is_never_the_best() -> None:
    assert after([math.nan, 1.0]).best == "1"
    assert after([1.0, math.nan]).best == "0"


def test_retention_is_unchanged_after_json_serialization() -> None:
    retention = after([1.0, 9.0, 3.0])
    assert Retention.model_validate_json(retention.model_dump_json()) == retention


def test_facts_of_earlier_checkpoints_with_their_last_three_are_still_read() -> None:
    retention = {"last": ["2", "3", "4"], "best": "1", "best_score": [True, 9.0]}
    facts = RunFacts.model_validate({"returns": [1.0], "retention": retention})
    assert facts.retention == Retention(best="1", best_score=(True, 9.0))


def test_the_first_the_best_and_the_last_are_kept(tmp_path: Path) -> None:
    best = layout.checkpoint_file(3)
    wanted = [layout.checkpoint_file(step) for step in (1, 3, 5)]
    assert kept(saved(tmp_path, 1, 2, 3, 4, 5), last=5, most=3, best=best) == wanted


def test_checkpoints_after_the_last_step_are_not_kept(tmp_path: Path) -> None:
    wanted = [layout.checkpoint_file(step) for step in (1, 2)]
    assert kept(saved(tmp_path, 1, 2, 9), last=2, most=3, best=None) == wanted
