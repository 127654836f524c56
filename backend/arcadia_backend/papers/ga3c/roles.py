"""Figures 2 to 4: the fastest numbers of agents, predictors and trainers, and the sizes of their queues."""

from collections.abc import Sequence

import plotly.graph_objects as go
from sqlalchemy.orm import Session

from arcadia_backend.figures.drawing import Figure
from arcadia_backend.papers import measured
from arcadia_backend.papers.definition import Item, PaperDifference, StartedStudy, StudyPart
from arcadia_backend.papers.measured import MEASURE_CEILING, MeasuredPoint
from arcadia_backend.studies.specification import Axis, Specification

AGENTS = (16, 32, 64, 128)
PAIRS = ([1, 1], [1, 2], [2, 1], [2, 2], [2, 4], [4, 2], [4, 4], [8, 8], [16, 16])
# The fastest settings to show for each number of agents, as in the paper.
TOP = 3
UPDATES = "throughput/updates_per_second"
ROLES = ("agents", "predictors", "trainers")

HOST = PaperDifference(
    "host",
    "16 cores and a Titan X (system I)",
    "this host",
    "updates per second are relative to the fastest setting on the same host",
)


def adjusting(session: Session, started: Sequence[StartedStudy]) -> Figure:
    """Draw the number of each role against training time."""
    traces = []
    for each in started:
        ids = [run for point in measured.measured_points(session, each) for run in point.run_ids]
        for place, role in enumerate(ROLES):
            curve = measured.curve(session, ids, "time", f"ga3c/{role}")
            if curve is not None:
                hover = [f"{y:.3g} {role} after {x:,.0f} s" for x, y in zip(curve.x, curve.mean, strict=True)]
                x, y, color = curve.x.tolist(), curve.mean.tolist(), measured.color_at(place)
                traces.append(measured.line(role.capitalize(), color, x, y, hover, mode="lines"))
    return measured.figure(traces, "seconds of training on this host")


def fastest(session: Session, points: Sequence[MeasuredPoint]) -> list[tuple[MeasuredPoint, float]]:
    """Return the three fastest settings of each number of agents, with their updates per second."""
    rates = [(point, measured.mean(session, point.run_ids, UPDATES)) for point in points]
    known = sorted([(point, rate) for point, rate in rates if rate], key=lambda pair: -pair[1])
    return [pair for agents in AGENTS for pair in [p for p in known if p[0].values["num_agents"] == agents][:TOP]]


def speeds(session: Session, started: Sequence[StartedStudy]) -> Figure:
    """Draw the updates per second of the fastest settings, relative to the fastest of all."""
    pairs = [pair for each in started for pair in fastest(session, measured.measured_points(session, each))]
    most = max((rate for _, rate in pairs), default=1.0)
    return _marks([("updates per second", [(point, rate / most) for point, rate in pairs])], "{:.0%} of the fastest")


def queues(session: Session, started: Sequence[StartedStudy]) -> Figure:
    """Draw the size of the training queue and of the prediction batch in the fastest settings."""
    fastest_points = [
        point for each in started for point, _ in fastest(session, measured.measured_points(session, each))
    ]
    series = []
    for name, metric in (("waiting in the training queue", "training_queue"), ("prediction batch", "prediction_batch")):
        values = [(point, measured.mean(session, point.run_ids, f"ga3c/{metric}")) for point in fastest_points]
        series.append((name, [(point, value) for point, value in values if value is not None]))
    return _marks(series, "{:.3g}")


def _marks(series: Sequence[tuple[str, list[tuple[MeasuredPoint, float]]]], written: str) -> Figure:
    traces: list[go.Scatter] = []
    for place, (name, points) in enumerate(series):
        hover = [f"{_setting(point)}: {written.format(value)} ({name})" for point, value in points]
        x = [str(point.values["num_agents"]) for point, _ in points]
        traces.append(
            measured.dots(name.capitalize(), measured.color_at(place), x, [y for _, y in points], hover, size=10)
        )
    order = {"type": "category", "categoryorder": "array", "categoryarray": [*map(str, AGENTS)]}
    return measured.figure(traces, "agents, N_A", order)


def _setting(point: MeasuredPoint) -> str:
    values = point.values
    return f"N_A {values['num_agents']}, N_P {values['num_predictors']}, N_T {values['num_trainers']}"


def _adjusting(name: str, title: str, preset: str, env: str, steps: int, *, stands_in: bool = False) -> StudyPart:
    begun = {"num_agents": 1, "num_predictors": 1, "num_trainers": 1, "dynamic_adjustment": True}
    asked = Specification(
        name=title, preset=preset, changes={"env": env, **begun}, total_steps=steps, max_concurrent_runs=1
    )
    return StudyPart(name, title, asked, stands_in)


ROLES_STUDY = StudyPart(
    "pong",
    "Pong, 36 settings",
    Specification(
        name="36 settings",
        preset="ga3c-paper",
        changes={"dynamic_adjustment": False, "evaluate_every_steps": 0, **MEASURE_CEILING},
        axes=[
            Axis(field="num_agents", values=[*AGENTS]),
            Axis(field=["num_predictors", "num_trainers"], values=[*PAIRS]),
        ],
        total_steps=500_000,
        max_concurrent_runs=1,
    ),
)
DIFFERS: tuple[PaperDifference, ...] = (
    HOST,
    PaperDifference("settings", "25 pairs of N_P and N_T from 1 to 16", "9 of them", "the fastest ratios were 1 to 2"),
    PaperDifference(
        "length of training", "16 minutes", "500,000 steps per run", "any host can run a share of the steps"
    ),
)
NO_NUMBERS = "The paper prints no numbers for this figure."

FIGURE_2 = Item(
    name="figure-2",
    label="Figure 2",
    title="Dynamic adjustment of agents, predictors and trainers",
    theirs="Adjusts the numbers of agents, predictors and trainers dynamically on Boxing and Pong. It starts "
    "from one of each, changes a number by one each minute, and keeps changes that make updates faster.",
    ours="Trains both games from one of each with dynamic adjustment. Plots the three numbers against training time.",
    measures="Number of agents, predictors and trainers",
    draw=adjusting,
    differs=(
        HOST,
        PaperDifference("budget", "not stated", "80 million steps", "any host can run a share of the steps"),
    ),
    unpublished=f"{NO_NUMBERS} It reports that the two games reach different settings on the same system.",
    parts=(
        _adjusting("boxing", "Boxing", "ga3c-paper", "ALE/Boxing-v5", 80_000_000),
        _adjusting("pong", "Pong", "ga3c-paper", "ALE/Pong-v5", 80_000_000),
    ),
    panels="each",
)
FIGURE_3 = Item(
    name="figure-3",
    label="Figure 3",
    title="Updates per second by agents, predictors and trainers",
    theirs="Measures training updates per second (TPS) on Pong with 16, 32, 64 and 128 agents and 1 to 16 "
    "predictors and trainers. Plots the three fastest pairs for each number of agents, relative to the "
    "fastest of all, also for larger networks.",
    ours="Trains Pong with the same numbers of agents and nine pairs, and plots the same values.",
    measures="Updates per second, relative to the fastest setting on this host",
    draw=speeds,
    differs=(
        *DIFFERS,
        PaperDifference("networks", "larger ones too", "the small one", "table 2 covers the larger ones"),
    ),
    unpublished=f"{NO_NUMBERS} It reports that 128 agents with 2 predictors and 2 trainers were fastest on system I.",
    parts=(ROLES_STUDY,),
    panels="each",
)
FIGURE_4 = Item(
    name="figure-4",
    label="Figure 4",
    title="Training queue and prediction batch",
    theirs="Plots the length of the training queue and the size of the prediction batch for the settings of figure 3.",
    ours="Plots both for the runs of figure 3.",
    measures="Mean size of the training queue and of the prediction batch",
    draw=queues,
    differs=DIFFERS,
    unpublished=f"{NO_NUMBERS} It reports that the queue stays well below its limit.",
    parts=(ROLES_STUDY,),
    panels="each",
    runs_of="figure-3",
)
