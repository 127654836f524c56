"""Figures 3 and 4: scores by the number of actor-learners, against epochs and training time."""

from collections.abc import Mapping, Sequence

from sqlalchemy.orm import Session

from arcadia_backend.figures.drawing import Figure
from arcadia_backend.metrics.reading import Axis
from arcadia_backend.papers import measured
from arcadia_backend.papers.a3c.games import BUDGET, PROCESSES, SCORES
from arcadia_backend.papers.a3c.table_2 import PARTS, THREADS, method_of
from arcadia_backend.papers.definition import Item, PaperDifference, StartedStudy

# The figures have three methods; Sarsa's are figures S5 and S6.
DASHES = {"1-step Q": "dot", "n-step Q": "dash", "A3C": "solid"}

X_TITLES: dict[Axis, str] = {"epoch": "epoch (4 M frames)", "time": "seconds of training on this host"}


def by_epoch(session: Session, started: Sequence[StartedStudy]) -> Figure:
    """Draw the runs against epochs."""
    return curves(session, started, "epoch", DASHES)


def by_time(session: Session, started: Sequence[StartedStudy]) -> Figure:
    """Draw the runs against training time on this host."""
    return curves(session, started, "time", DASHES)


def curves(session: Session, started: Sequence[StartedStudy], axis: Axis, dashes: Mapping[str, str]) -> Figure:
    """Draw the runs of these methods, with a color for each number of processes and a dash for each method."""
    traces = []
    for each in started:
        for point in measured.measured_points(session, each):
            method, threads = method_of(str(point.values["preset"])), point.values["num_actors"]
            curve = measured.curve(session, point.run_ids, axis) if method in dashes else None
            if curve is not None:
                name, color = f"{method}, {threads}", measured.color_at(THREADS.index(threads))
                hover = [f"{name} processes: {y:,.6g}" for y in curve.mean]
                line = {"color": color, "width": 2, "dash": dashes[method]}
                x, y = curve.x.tolist(), curve.mean.tolist()
                traces.append(measured.line(name, color, x, y, hover, mode="lines", line=line))
    return measured.figure(traces, X_TITLES[axis])


OURS = "Plots the mean return of training episodes in the runs of table 2. Either page starts them."
UNPUBLISHED = "The paper prints no numbers for this figure. Table 2 summarizes its curves."

LEARNING_RATES = PaperDifference(
    "learning rates",
    "each curve is the average over the best three",
    "the preset's rate",
    "table 2 trains one rate; 50 rates for each number of processes cost 50 times as much",
)

FIGURE_3 = Item(
    name="figure-3",
    label="Figure 3",
    title="Scores by the number of actor-learners, against epochs",
    theirs="Plots the scores of three methods on five games with 1, 2, 4, 8 and 16 threads against epochs of 4 "
    "million frames. Each curve is the mean of the best three learning rates. One-step methods need "
    "less data with more threads.",
    ours=f"{OURS} The x axis is epochs.",
    measures="Mean return against epochs of 4 million frames",
    draw=by_epoch,
    differs=(PROCESSES, LEARNING_RATES, SCORES, BUDGET),
    unpublished=UNPUBLISHED,
    parts=PARTS,
    panels="each",
    runs_of="table-2",
)
FIGURE_4 = Item(
    name="figure-4",
    label="Figure 4",
    title="Scores by the number of actor-learners, against training time",
    theirs="Plots the runs of figure 3 against hours of training. Each curve is the average over the best "
    "three learning rates.",
    ours=f"{OURS} The x axis is time on this host, so the figure compares numbers of processes, not hosts.",
    measures="Mean return against training time",
    draw=by_time,
    differs=(PROCESSES, LEARNING_RATES, SCORES, BUDGET),
    unpublished=UNPUBLISHED,
    parts=PARTS,
    panels="each",
    runs_of="table-2",
)
