"""Tests of several metrics in one chart."""

import numpy as np
import pytest

from arcadia_backend.figures.drawing import Look
from arcadia_backend.figures.metric_figures import MetricCurve, short_titles, together_figure
from arcadia_backend.metrics.reading import Curve


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
def test_titles_leave_out_their_shared_first_words(metrics: list[str], names: list[str]) -> None:
    assert short_titles(metrics) == names


def test_rates_in_bytes_have_size_units() -> None:
    values = np.array([620.0, 680.0]) * 2**20
    curve = Curve(True, 2, np.array([1.0, 2.0]), values, values, values, values, np.ones(2, np.int64))
    metrics = ("gorila/bytes_pushed_per_second", "gorila/bytes_pulled_per_second")
    figure = together_figure([MetricCurve(name, curve) for name in metrics], Look(), shares=False)
    assert figure.layout["yaxis"]["ticktext"][-1].endswith(" MiB/s")
    assert [trace["text"] for trace in figure.data] == [["620 MiB/s", "680 MiB/s"]] * 2
