"""Tests of the curves figure: smoothing, rounding, text and traces."""

import json
import math

import numpy as np
import plotly.graph_objects as go
import pytest

from arcadia_backend.colors import Stroke
from arcadia_backend.figures.curves_figure import RunCurve, Smoothing, curves_figure
from arcadia_backend.figures.drawing import MAX_NAMED_LINES, Look, as_text, significant, y_axis
from arcadia_backend.metrics.reading import Curve


def curve(mean: list[float], spread: float = 0.0, x: list[float] | None = None) -> Curve:
    """Return a curve of these means in a band of `spread` on either side."""
    values = np.array(mean, np.float64)
    place = np.arange(len(mean), dtype=np.float64) if x is None else np.array(x)
    raw = spread == 0
    count = np.full(len(mean), 1 if raw else 10)
    return Curve(raw, int(count.sum()), place, values, values - spread, values + spread, values, count)


def run(drawn: Curve, name: str = "a run", smoothing: float = 0.0) -> RunCurve:
    """Return the curve as run 7 in black."""
    return RunCurve(7, name, Stroke("#000000", "dash"), drawn, Smoothing(smoothing))


def test_values_are_rounded_to_six_digits() -> None:
    given = [0.1 + 0.2, -123456.789, 1e-12 / 3, 0.0, math.inf, 1.5e300]
    assert significant(np.array(given)).tolist() == [0.3, -123457.0, 3.33333e-13, 0.0, math.inf, 1.5e300]
    assert np.isnan(significant(np.array([math.nan]))[0])


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("lr 0.1 < 0.2 & more", "lr 0.1 &lt; 0.2 &amp; more"),
        ('<a href="javascript:alert(1)">x</a>', "&lt;a href=&quot;javascript:alert(1)&quot;&gt;x&lt;/a&gt;"),
        (r"$\href{javascript:alert(1)}{x}$", r"&#36;\href{javascript:alert(1)}{x}&#36;"),
        ("a\nb\x00c", "a b c"),
    ],
)
def test_names_are_escaped(name: str, shown: str) -> None:
    assert as_text(name) == shown
    figure = curves_figure([run(curve([1.0, 2.0]), name)], "m", Look())
    assert figure.data[-1]["name"] == shown


@pytest.mark.parametrize("y_log", [False, True])
def test_sizes_use_units_of_1024(y_log: bool) -> None:
    mib = 2.0**20
    figure = curves_figure([run(curve([620 * mib, 680 * mib], spread=20 * mib))], "system/rss_bytes", Look(y_log=y_log))
    assert figure.layout["yaxis"]["title"]["text"] == "Memory", "the values include the unit"
    assert figure.layout["yaxis"]["ticktext"] == [f"{size} MiB" for size in range(608, 701, 16)]
    assert figure.data[-1]["text"] == [
        "620 MiB, range 600 MiB to 640 MiB",
        "680 MiB, range 660 MiB to 700 MiB",
    ]
    assert figure.data[-1]["hovertemplate"] == "%{text}"
    steady = curves_figure([run(curve([512 * mib, 512 * mib]))], "system/rss_bytes", Look())
    assert steady.layout["yaxis"]["ticktext"][:3] == ["0 GiB", "0.125 GiB", "0.25 GiB"]
    assert steady.data[-1]["text"] == ["512 MiB", "512 MiB"]
    assert "ticktext" not in curves_figure([run(curve([1.0, 2.0]))], "train/entropy", Look()).layout["yaxis"]


@pytest.mark.parametrize("count", [MAX_NAMED_LINES, MAX_NAMED_LINES + 1])
def test_many_lines_have_no_legend_and_a_tooltip_of_one_line(count: int) -> None:
    name = "a <name> that is longer than one line of a tooltip"
    figure = curves_figure([run(curve([1.0, 2.0]), name)] * count, "m", Look())
    is_many = count > MAX_NAMED_LINES
    assert figure.layout["hovermode"] == ("closest" if is_many else "x unified")
    assert figure.layout["showlegend"] is not is_many
    named = "a &lt;name&gt; that is longer than one<br>line of a tooltip<br>%{y:.5~g}<br>step %{x:,d}<extra></extra>"
    assert figure.data[0]["hovertemplate"] == (named if is_many else "%{y:.5~g}")


def test_a_smoothed_line_is_drawn_over_the_raw_one_in_its_band() -> None:
    figure = curves_figure([run(curve([1.0, 3.0, 2.0], spread=0.5), smoothing=0.6)], "m", Look())
    assert [trace["meta"]["part"] for trace in figure.data] == ["low", "high", "raw", "line"]
    low, high, raw, line = figure.data
    assert (low["x"], low["y"]) == ([0, 1, 2], [0.5, 2.5, 1.5])
    assert (high["x"], high["y"], high["fill"]) == ([0, 1, 2], [1.5, 3.5, 2.5], "tonexty")
    assert raw["y"] == [1, 3, 2]
    assert raw["opacity"] < 1
    assert line["y"][0] == 1
    assert line["customdata"] == [[0.5, 1.5], [2.5, 3.5], [1.5, 2.5]]
    assert line["hovertemplate"] == "%{y:.5~g}, range %{customdata[0]:.5~g} to %{customdata[1]:.5~g}"
    assert line["line"]["dash"] == raw["line"]["dash"] == "dash"
    assert [trace["showlegend"] for trace in (low, high, raw)] == [False] * 3
    assert {trace["legendgroup"] for trace in figure.data} == {"7"}
    assert len({trace["uid"] for trace in figure.data}) == 4


def test_unsmoothed_points_are_one_line() -> None:
    (line,) = curves_figure([run(curve([1.0, 3.0, 2.0]))], "m", Look()).data
    assert line["hovertemplate"] == "%{y:.5~g}"
    assert (line["x"], line["y"], line["meta"]) == ([0, 1, 2], [1, 3, 2], {"run_id": 7, "part": "line"})


def test_a_single_point_has_a_marker() -> None:
    assert curves_figure([run(curve([1.0]))], "m", Look()).data[0]["mode"] == "lines+markers"


def test_nan_and_infinity_are_gaps_with_marks() -> None:
    figure = curves_figure([run(curve([1.0, math.nan, -math.inf, 4.0]))], "m", Look())
    line, marks = figure.data
    assert line["y"] == [1, None, None, 4]
    assert (marks["x"], marks["y"], marks["text"]) == ([1, 2], [1, 1], ["not a number", "−infinity"])
    json.dumps(figure.model_dump(), allow_nan=False)


def test_a_band_on_a_logarithmic_axis_stays_above_zero() -> None:
    figure = curves_figure([run(curve([1.0, 10.0], spread=2.0))], "m", Look(y_log=True))
    assert min(figure.data[0]["y"]) > 0
    assert figure.layout["yaxis"]["type"] == "log"


@pytest.mark.parametrize(
    ("values", "shown"),
    [
        ([0.01, 0.01, math.nan], [0.0, 0.02]),
        ([500.0], [0.0, 1000.0]),
        ([-21.0, -21.0], [-42.0, 0.0]),
        ([0.0, 0.0], [0.0, 1.0]),
        ([1.0, 2.0], None),
        ([1.5e308, 1.5e308], None),
        ([math.inf], None),
        ([], None),
    ],
)
def test_the_axis_of_a_constant_starts_at_zero(values: list[float], shown: list[float] | None) -> None:
    figure = curves_figure([run(curve(values))], "m", Look())
    assert figure.layout["yaxis"].get("range") == shown
    assert "range" not in curves_figure([run(curve(values))], "m", Look(y_log=True)).layout["yaxis"]


@pytest.mark.parametrize("y_log", [False, True])
def test_a_clipped_axis_leaves_out_only_outliers(y_log: bool) -> None:
    usual = [1.0 + step / 100 for step in range(100)]
    figure = curves_figure([run(curve([*usual, 1e6]))], "m", Look(y_log=y_log, clip=True))
    low, high = (10**end if y_log else end for end in figure.layout["yaxis"]["range"])
    assert 0.9 < low < 1.0
    assert 1.99 < high < 2.2
    assert max(figure.data[-1]["y"]) == 1e6, "the points are complete"
    assert "range" not in curves_figure([run(curve(usual))], "m", Look(y_log=y_log, clip=True)).layout["yaxis"]
    assert "range" not in curves_figure([run(curve([*usual, 1e6]))], "m", Look(y_log=y_log)).layout["yaxis"]


@pytest.mark.parametrize(
    ("values", "texts"),
    [
        ([0.0003, 0.003], ["0.0001", "0.0002", "0.0005", "0.001", "0.002", "0.005", "0.01", "0.02", "0.05"]),
        ([2e-6, 2e-5], ["1e-6", "2e-6", "5e-6", "1e-5", "2e-5", "5e-5", "0.0001", "0.0002", "0.0005"]),
        ([1, 1e6], ["1", "10", "100", "1000", "10 k", "100 k", "1 M"]),
        ([1e-3, 1e13], ["0.001", "0.1", "10", "1000", "100 k", "10 M", "1 G", "100 G", "1e13"]),
    ],
)
def test_every_tick_of_a_log_axis_has_a_complete_label(values: list[float], texts: list[str]) -> None:
    axis = y_axis([np.array([*values, np.nan, -1.0])], log=True)
    assert axis["ticktext"] == texts
    assert axis["tickvals"][0] <= min(values)


@pytest.mark.parametrize("values", [[], [3.0, 5.0], [0.0, -1.0]])
def test_a_log_axis_over_less_than_a_decade_has_ticks_of_plotly(values: list[float]) -> None:
    assert y_axis([np.array(values)], log=True) == {"type": "log"}


@pytest.mark.parametrize("values", [[], [1.0], [math.nan], [0.0, 0.0, 5.0], [-1.5e308, 0.0, 1.5e308]])
def test_a_clipped_axis_of_few_or_huge_values_can_be_drawn(values: list[float]) -> None:
    figure = curves_figure([run(curve(values))], "m", Look(clip=True))
    assert all(math.isfinite(end) for end in figure.layout["yaxis"].get("range", []))


def test_the_axis_of_a_constant_includes_its_band() -> None:
    assert "range" not in curves_figure([run(curve([1.0, 1.0], spread=5.0))], "m", Look()).layout["yaxis"]


@pytest.mark.parametrize(
    ("axis", "title", "last", "heading"),
    [
        ("step", "agent steps", 7_200, "step %{x:,d}"),
        ("frames", "emulator frames", 7_200, "frame %{x:,d}"),
        ("epoch", "epoch (4 M frames)", 7_200, "epoch %{x:.4~g}"),
        ("time", "training time", 7_200, "%{x:,.1~f} s of training"),
    ],
)
def test_axes_have_titles(axis: str, title: str, last: float, heading: str) -> None:
    look = Look(axis)  # type: ignore[arg-type]
    figure = curves_figure([run(curve([1.0, 2.0], x=[0.0, 7_200.0]))], "train/entropy", look)
    assert figure.layout["xaxis"]["title"]["text"] == title
    assert figure.layout["xaxis"]["unifiedhovertitle"]["text"] == heading
    assert figure.layout["yaxis"]["title"]["text"] == "Policy entropy"
    assert figure.data[0]["x"][-1] == last


def test_plotly_accepts_the_figure_without_page_colors() -> None:
    figure = curves_figure([run(curve([1.0, 2.0], spread=1.0), smoothing=0.5)], "m", Look())
    assert "template" not in figure.layout
    assert not {"paper_bgcolor", "plot_bgcolor", "font"} & figure.layout.keys()
    again = go.Figure(figure.model_dump())
    assert len(again.data) == 4
