"""Tests for the guard against outliers, on artificial sequences."""

from math import sqrt

import numpy as np
import pytest

from arcadia_workers.trainer.methods.gorila.gorila import HORIZON, WARM_UP, LossWatch


def test_mean_and_deviation_are_those_of_all_losses_so_far() -> None:
    losses = np.random.default_rng(1).random(HORIZON)
    watch = LossWatch(deviations=4)
    for loss in losses.tolist():
        watch.is_outlier(loss)
    assert watch.mean == pytest.approx(losses.mean())
    assert sqrt(watch.variance) == pytest.approx(losses.std())


def test_a_loss_above_the_mean_plus_k_deviations_is_an_outlier() -> None:
    losses = (1 + 0.1 * np.random.default_rng(2).standard_normal(500)).tolist()
    for k, above, outlier in ((3.0, 2.8, False), (3.0, 3.4, True), (5.0, 4.6, False), (5.0, 5.6, True)):
        watch = LossWatch(k)
        assert not any(watch.is_outlier(loss) for loss in losses[:WARM_UP])
        for loss in losses[WARM_UP:]:
            watch.is_outlier(loss)
        assert watch.is_outlier(watch.mean + above * sqrt(watch.variance)) is outlier


def test_losses_far_below_the_mean_are_no_outliers() -> None:
    watch = LossWatch(deviations=1)
    for loss in [1.0, 2.0] * WARM_UP:
        watch.is_outlier(loss)
    assert not watch.is_outlier(0.0)


def test_losses_that_have_grown_permanently_stop_being_outliers() -> None:
    watch = LossWatch(deviations=4)
    losses = [0.9, 1.1] * HORIZON + [9.0, 11.0] * HORIZON
    outliers = [watch.is_outlier(loss) for loss in losses]
    assert not any(outliers[: 2 * HORIZON])
    assert outliers[2 * HORIZON]
    assert 0 < sum(outliers) < HORIZON / 5
    assert not any(outliers[-HORIZON:])
