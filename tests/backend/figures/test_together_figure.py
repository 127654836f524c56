"""The names of several metrics in one chart."""

import pytest

from backend.figures.together_figure import names_of


@pytest.mark.parametrize(
    ("metrics", "names"),
    [
        (["ga3c/prediction_queue", "ga3c/training_queue"], ["Prediction queue", "Training queue"]),
        (["gorila/staleness_0", "gorila/staleness_1_to_3"], ["0", "1 to 3"]),
        (["gorila/discarded_stale", "gorila/discarded_outlier"], ["Stale", "Outlier"]),
        (["made_up/rss", "made_up/rss_bytes"], ["Rss", "Bytes"]),
        (["train/value_loss"], ["Value loss"]),
        (["system/rss_bytes", "train/grad_norm"], ["Memory", "Gradient norm"]),
        (["train/value_loss", "train/value_loss"], ["Value loss", "Value loss"]),
    ],
)
def test_a_name_is_what_tells_it_from_the_others(metrics: list[str], names: list[str]) -> None:
    assert names_of(metrics) == names
