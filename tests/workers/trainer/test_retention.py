"""The last three checkpoints and the best are kept."""

import math

from workers.trainer.retention import RETURN_WINDOW, Retention


def after(means: list[float], episodes: int = RETURN_WINDOW) -> Retention:
    """Save a checkpoint for each mean, named by its place."""
    retention = Retention()
    for number, mean in enumerate(means):
        retention = retention.after(f"{number}", [mean] * episodes)
    return retention


def test_the_last_three_are_kept() -> None:
    assert after([1.0, 2.0, 3.0, 4.0, 5.0]).kept == ["2", "3", "4"]


def test_the_best_is_kept_beside_them() -> None:
    retention = after([1.0, 9.0, 3.0, 4.0, 5.0])
    assert retention.best == "1"
    assert retention.kept == ["1", "2", "3", "4"]


def test_of_equally_good_ones_the_newest_is_the_best() -> None:
    assert after([5.0, 5.0]).best == "1"


def test_a_mean_of_few_episodes_gives_way_to_one_of_a_full_window() -> None:
    lucky = Retention().after("lucky", [500.0])
    assert lucky.best == "lucky"
    assert lucky.after("full", [20.0] * RETURN_WINDOW).best == "full"


def test_without_episodes_there_is_no_best() -> None:
    retention = Retention().after("0", [])
    assert retention.best is None
    assert retention.kept == ["0"]


def test_nan_is_never_the_best() -> None:
    assert after([math.nan, 1.0]).best == "1"
    assert after([1.0, math.nan]).best == "0"


def test_saving_a_step_again_keeps_one_name() -> None:
    assert after([1.0]).after("0", [1.0]).last == ("0",)


def test_it_survives_json() -> None:
    retention = after([1.0, 9.0, 3.0])
    assert Retention.model_validate_json(retention.model_dump_json()) == retention
