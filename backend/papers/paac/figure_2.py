"""Figure 2: where the time goes, by the number of environments."""

from collections.abc import Sequence

import plotly.graph_objects as go
from sqlalchemy.orm import Session

from backend.figures.schemas import Figure
from backend.papers import drawing, measured, speeds
from backend.papers.definition import Difference, Item, Number, Part, Started
from backend.papers.paac.source import ENVIRONMENTS, HOST, SIZES, SOURCE
from backend.studies.specification import Axis, Specification

ACTIVITIES = {"environment": "#0072b2", "selection": "#e69f00", "learning": "#009e73"}
STEPS = 1_000_000
EDGE = {"width": 2, "color": drawing.THEIRS}
HOW = "share of the time of training, Pong, on a GTX 980 Ti"
PRINTED_AT, PRINTED = "arch_nips, n_e 32", 50.0


def draw(session: Session, started: Sequence[Started]) -> Figure:
    """Stacked shares of each n_e, and what the paper prints of the environments' at n_e 32."""
    traces = [bar for each in started for bar in _bars(session, each)]
    if any(each.part.name == "nips" for each in started):
        mark = {"symbol": "diamond", "size": 13, "opacity": 1, "line": EDGE}
        told = [f"The paper, {PRINTED_AT}: about {PRINTED:g} % environment"]
        traces.append(drawing.dots("The paper, environment", "#ffffff", ["32"], [PRINTED], told, **mark))
    return drawing.figure(traces, "n_e, environments", {"type": "category"}, barmode="stack")


def _bars(session: Session, started: Started) -> list[go.Bar]:
    points = measured.measured_points(session, started)
    speed = {point.values["num_envs"]: speeds.share_in_words(session, point) for point in points}
    bars = []
    for activity, color in ACTIVITIES.items():
        shares = {
            point.values["num_envs"]: measured.mean(session, point.run_ids, f"time/{activity}") for point in points
        }
        known = {size: 100 * share for size, share in shares.items() if share is not None}
        told = [f"n_e {size}: {share:.1f} % {activity}; {speed[size]}" for size, share in known.items()]
        bars.append(
            go.Bar(
                x=[str(size) for size in known],
                y=[*known.values()],
                name=activity.capitalize(),
                marker={"color": color},
                hovertext=told,
                hoverinfo="text",
            )
        )
    return bars


def _part(network: str) -> Part:
    asked = Specification(
        name=network,
        preset=f"paac-paper-{network}",
        changes={"evaluate_every_steps": 0, **speeds.CEILING_FIRST},
        axes=[Axis(field="num_envs", values=[*SIZES])],
        total_steps=STEPS,
        at_once=1,
    )
    return Part(network, f"Pong, arch_{network}", asked)


def _printed(what: str, value: float) -> Number:
    return Number(what, value, "%", SOURCE, "section 5.2", HOW)


ITEM = Item(
    name="figure-2",
    label="Figure 2",
    title="Where the time goes, by the number of environments",
    theirs="Measured on Pong what share of its time PAAC spends on the environments and on selecting actions and "
    "learning, with 16 to 256 environments, for both networks, on a CPU and on a GPU.",
    ours="Trains Pong with each n_e and both networks, one run at a time, and takes the mean of the shares that the "
    "trainer reports: waiting for the environments, selecting actions, learning. Each run first steps its environments "
    "alone, and its speed is told as a part of theirs.",
    measures="Share of the time of training, percent",
    draw=draw,
    differs=(
        HOST,
        ENVIRONMENTS,
        Difference(
            "length of training",
            "not stated",
            "1,000,000 steps a run",
            "shares of time settle within seconds; nothing is to be learnt",
        ),
    ),
    published=(
        _printed("environment, arch_nips, n_e 32", 50),
        _printed("selection and learning, arch_nips, n_e 32", 37),
        Number(
            "fewer steps a second with arch_nature, n_e 32, on the GPU",
            22,
            "%",
            SOURCE,
            "section 5.2",
            "steps a second",
        ),
        Number(
            "fewer steps a second with arch_nature, n_e 32, on the CPU",
            41,
            "%",
            SOURCE,
            "section 5.2",
            "steps a second",
        ),
    ),
    parts=(_part("nips"), _part("nature")),
    panels="each",
    height=380,
)
