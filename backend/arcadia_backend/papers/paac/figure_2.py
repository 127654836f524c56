"""Figure 2: share of time per activity, by the number of environments."""

from collections.abc import Sequence

import plotly.graph_objects as go
from sqlalchemy.orm import Session

from arcadia_backend.figures.drawing import Figure
from arcadia_backend.papers import measured
from arcadia_backend.papers.definition import Item, PaperDifference, PrintedNumber, StartedStudy, StudyPart
from arcadia_backend.papers.paac.source import ENVIRONMENTS, HOST, SIZES, SOURCE
from arcadia_backend.studies.specification import Axis, Specification

ACTIVITIES = {"environment": "#0072b2", "selection": "#e69f00", "learning": "#009e73"}
STEPS = 1_000_000
EDGE = {"width": 2, "color": measured.THEIRS}
HOW = "share of training time, Pong, on a GTX 980 Ti"
PRINTED_AT, PRINTED = "arch_nips, n_e 32", 50.0


def draw(session: Session, started: Sequence[StartedStudy]) -> Figure:
    """Draw stacked shares for each n_e, and the paper's share of the environments at n_e 32."""
    traces = [bar for each in started for bar in _bars(session, each)]
    if any(each.part.name == "nips" for each in started):
        mark = {"symbol": "diamond", "size": 13, "opacity": 1, "line": EDGE}
        hover = [f"The paper, {PRINTED_AT}: about {PRINTED:g} % environment"]
        traces.append(measured.dots("The paper, environment", "#ffffff", ["32"], [PRINTED], hover, **mark))
    return measured.figure(traces, "n_e, environments", {"type": "category"}, barmode="stack")


def _bars(session: Session, started: StartedStudy) -> list[go.Bar]:
    points = measured.measured_points(session, started)
    speed = {point.values["num_envs"]: measured.describe_share(session, point) for point in points}
    bars = []
    for activity, color in ACTIVITIES.items():
        shares = {
            point.values["num_envs"]: measured.mean(session, point.run_ids, f"time/{activity}") for point in points
        }
        known = {size: 100 * share for size, share in shares.items() if share is not None}
        hover = [f"n_e {size}: {share:.1f} % {activity}; {speed[size]}" for size, share in known.items()]
        bars.append(
            go.Bar(
                x=[str(size) for size in known],
                y=[*known.values()],
                name=activity.capitalize(),
                marker={"color": color},
                hovertext=hover,
                hoverinfo="text",
            )
        )
    return bars


def _part(network: str) -> StudyPart:
    asked = Specification(
        name=network,
        preset=f"paac-paper-{network}",
        changes={"evaluate_every_steps": 0, **measured.MEASURE_CEILING},
        axes=[Axis(field="num_envs", values=[*SIZES])],
        total_steps=STEPS,
        max_concurrent_runs=1,
    )
    return StudyPart(network, f"Pong, arch_{network}", asked)


def _printed(what: str, value: float) -> PrintedNumber:
    return PrintedNumber(what, value, "%", SOURCE, "section 5.2", HOW)


ITEM = Item(
    name="figure-2",
    label="Figure 2",
    title="Share of time per activity, by the number of environments",
    theirs="Measures on Pong what share of its time PAAC spends in the environments, on selecting actions and "
    "on learning. Compares 16 to 256 environments and both networks, on a CPU and on a GPU.",
    ours="Trains Pong with each n_e and both networks, one after the other. Shows the mean shares that the "
    "trainer reports: waiting for the environments, selecting actions and learning. Each run first "
    "measures the speed of its environments alone, and its own speed is shown relative to that.",
    measures="Share of training time, percent",
    draw=draw,
    differs=(
        HOST,
        ENVIRONMENTS,
        PaperDifference(
            "length of training",
            "not stated",
            "1,000,000 steps per run",
            "shares of time are stable within seconds, and nothing needs to be learned",
        ),
    ),
    published=(
        _printed("environment, arch_nips, n_e 32", 50),
        _printed("selection and learning, arch_nips, n_e 32", 37),
        PrintedNumber(
            "fewer steps per second with arch_nature, n_e 32, on the GPU",
            22,
            "%",
            SOURCE,
            "section 5.2",
            "steps per second",
        ),
        PrintedNumber(
            "fewer steps per second with arch_nature, n_e 32, on the CPU",
            41,
            "%",
            SOURCE,
            "section 5.2",
            "steps per second",
        ),
    ),
    parts=(_part("nips"), _part("nature")),
    panels="each",
    height=380,
)
