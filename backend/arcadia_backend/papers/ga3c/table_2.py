"""Table 2: predictions per second by network size."""

from collections.abc import Mapping, Sequence

import plotly.graph_objects as go
from sqlalchemy.orm import Session

from arcadia_backend.figures.drawing import Figure
from arcadia_backend.papers import measured
from arcadia_backend.papers.definition import Item, PaperDifference, PrintedNumber, StartedStudy, StudyPart
from arcadia_backend.studies.specification import Axis, Specification
from arcadia_workers.contract import published

NETWORKS = {
    "nips": "small",
    "large-stride-4": "large, stride 4",
    "large-stride-3": "large, stride 3",
    "large-stride-2": "large, stride 2",
    "large-stride-1": "large, stride 1",
}
STEPS = 100_000
TITLES = {"ga3c": "GA3C", "a3c": "A3C"}
COLORS = {"ga3c": measured.color_at(0), "a3c": measured.color_at(3)}


def draw(session: Session, started: Sequence[StartedStudy]) -> Figure:
    """Draw the speed of each network relative to the small one on the same host. The paper's system I is dotted."""
    rows = {row.network: row for row in published.prediction_speeds() if row.system == "I"}
    theirs = {
        "ga3c": {network: row.ga3c_pps for network, row in rows.items()},
        "a3c": {network: row.a3c_pps for network, row in rows.items()},
    }
    traces = [
        _trace(f"{TITLES[method]}, the paper (system I)", COLORS[method], speeds, "predictions", dash="dot")
        for method, speeds in theirs.items()
    ]
    for each in started:
        name = f"{TITLES[each.part.name]}, this host"
        traces.append(_trace(name, COLORS[each.part.name], _speeds(session, each), "steps", dash="solid"))
    order = {"type": "category", "categoryorder": "array", "categoryarray": [*NETWORKS.values()]}
    return measured.figure(traces, "network", order)


def _speeds(session: Session, started: StartedStudy) -> dict[str, float]:
    """Return steps per second by network."""
    speeds = {}
    for point in measured.measured_points(session, started):
        rate = measured.mean(session, point.run_ids, "throughput/steps_per_second")
        if rate:
            speeds[NETWORKS[point.values["network"]]] = rate
    return speeds


def _trace(name: str, color: str, speeds: Mapping[str, float], unit: str, dash: str) -> go.Scatter:
    small = speeds.get("small")
    shown = {network: speed / small for network, speed in speeds.items()} if small else {}
    hover = [
        f"{name}, {network}: {share:.0%} of the small network's {unit} per second" for network, share in shown.items()
    ]
    return measured.line(
        name, color, [*shown], [*shown.values()], hover, line={"color": color, "width": 2, "dash": dash}
    )


def _part(name: str, title: str, preset: str, changes: dict[str, object]) -> StudyPart:
    asked = Specification(
        name=title,
        preset=preset,
        changes={"evaluate_every_steps": 0, **measured.MEASURE_CEILING, **changes},
        axes=[Axis(field="network", values=[*NETWORKS])],
        total_steps=STEPS,
        max_concurrent_runs=1,
    )
    return StudyPart(name, title, asked)


ITEM = Item(
    name="table-2",
    label="Table 2",
    title="Speed by network size",
    theirs="Measures predictions per second on Pong for A3C on a CPU and GA3C with a GPU. Compares a small "
    "network and four larger ones on three systems.",
    ours="Trains Pong with each network, one after the other, with GA3C and with A3C. Uses the mean steps per "
    "second, since each step takes one prediction. Speeds of different hosts are not comparable. The "
    "figure shows each speed relative to the small network on the same host. The table below shows it "
    "relative to the environments alone, which each run measures first.",
    measures="Speed relative to the small network on the same host",
    draw=draw,
    differs=(
        PaperDifference(
            "host",
            "16 cores and a Titan X (system I)",
            "this host; GA3C takes a GPU if the worker has one",
            "the figure compares networks on one host, not hosts",
        ),
        PaperDifference(
            "agents, predictors and trainers",
            "128 agents, 2 predictors, 2 trainers, the fastest on system I",
            "32 agents, 2 predictors, 2 trainers, without dynamic adjustment",
            "128 processes need a host with more cores",
        ),
        PaperDifference(
            "length of training",
            "16 minutes for figure 3, not stated for this table",
            "100,000 steps per run",
            "the speed is stable after a short time",
        ),
    ),
    published=tuple(
        PrintedNumber(
            f"{method}, system {row.system}, {row.network}", value, "per second", row.source, row.table, row.protocol
        )
        for row in published.prediction_speeds()
        for method, value in (("A3C", row.a3c_pps), ("GA3C", row.ga3c_pps))
    ),
    parts=(
        _part("ga3c", "Pong, GA3C", "ga3c-paper", {"dynamic_adjustment": False, "num_agents": 32}),
        _part("a3c", "Pong, A3C", "a3c-paper-ff", {}),
    ),
    height=360,
)
