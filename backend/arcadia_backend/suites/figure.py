"""Figure of the statistics of a study over its games."""

from collections.abc import Sequence

import plotly.graph_objects as go

from arcadia_backend.colors import COLORS_PER_CHART, PALETTE
from arcadia_backend.comparisons.schemas import Estimate
from arcadia_backend.figures.drawing import Figure, as_text
from arcadia_backend.suites.service import SuiteResult

STATISTICS = {
    "Median": "median",
    "Interquartile mean": "interquartile_mean",
    "Mean": "mean",
    "Optimality gap": "optimality_gap",
    "Median of 57, estimated": "estimated_median",
}
# Share of the distance between two statistics that several results take.
SPREAD = 0.5


def aggregates_figure(results: Sequence[SuiteResult]) -> Figure:
    """Draw a dot with its interval for each statistic and result, the first on top. Empty without scores."""
    shown = [title for title, name in STATISTICS.items() if any(getattr(result, name) for result in results)]
    layout = {
        "xaxis": {"title": {"text": "human-normalized score, %"}, "fixedrange": True},
        "yaxis": {
            "autorange": "reversed",
            "fixedrange": True,
            "zeroline": False,
            "tickmode": "array",
            "tickvals": [*range(len(shown))],
            "ticktext": shown,
        },
        "hovermode": "closest",
    }
    traces = [_dots(result, place, len(results), shown) for place, result in enumerate(results)]
    return Figure(data=[trace.to_plotly_json() for trace in traces if len(trace.x)], layout=layout)


def _dots(result: SuiteResult, place: int, count: int, shown: Sequence[str]) -> go.Scatter:
    dots: list[tuple[float, str, Estimate]] = []
    for row, title in enumerate(shown):
        estimate = getattr(result, STATISTICS[title])
        if estimate is not None:
            dots.append((row + SPREAD * ((place + 0.5) / count - 0.5), title, estimate))
    color = PALETTE[place % COLORS_PER_CHART]
    return go.Scatter(
        x=[estimate.value for _, _, estimate in dots],
        y=[height for height, _, _ in dots],
        mode="markers",
        name=as_text(result.label),
        marker={"color": color, "size": 9},
        error_x=_intervals([estimate for _, _, estimate in dots], color),
        hovertext=[as_text(_words(result.label, title, estimate)) for _, title, estimate in dots],
        hoverinfo="text",
        showlegend=count > 1,
    )


def _intervals(estimates: Sequence[Estimate], color: str) -> dict[str, object]:
    ends = [(each.value, each.low, each.high) for each in estimates]
    return {
        "type": "data",
        "symmetric": False,
        "array": [0 if high is None else high - value for value, _, high in ends],
        "arrayminus": [0 if low is None else value - low for value, low, _ in ends],
        "color": color,
        "thickness": 2,
        "width": 5,
        "visible": any(low is not None for _, low, _ in ends),
    }


def _words(label: str, title: str, estimate: Estimate) -> str:
    ends = "" if estimate.low is None else f", 95 % interval {estimate.low:,.4g} to {estimate.high:,.4g}"
    return f"{label}, {title.lower()}: {estimate.value:,.4g} %{ends}"
