"""Figures 3 and 4: scores by the number of actor-learners, along epochs and along hours."""

from collections.abc import Mapping, Sequence

from sqlalchemy.orm import Session

from backend.figures.schemas import Figure
from backend.metrics.schemas import Axis
from backend.papers import drawing, measured
from backend.papers.a3c.games import BUDGET, PROCESSES, SCORES
from backend.papers.a3c.table_2 import PARTS, THREADS, method_of
from backend.papers.definition import Difference, Item, Started

# The figures have three methods; Sarsa's are figures S5 and S6.
DASHES = {"1-step Q": "dot", "n-step Q": "dash", "A3C": "solid"}

X_TITLES: dict[Axis, str] = {"epoch": "epoch (4 M frames)", "time": "seconds of training on this host"}


def by_epoch(session: Session, started: Sequence[Started]) -> Figure:
    """A colour for each number of processes, a dash for each method, along epochs."""
    return curves(session, started, "epoch", DASHES)


def by_time(session: Session, started: Sequence[Started]) -> Figure:
    """The same along the time that the runs took on this host."""
    return curves(session, started, "time", DASHES)


def curves(session: Session, started: Sequence[Started], axis: Axis, dashes: Mapping[str, str]) -> Figure:
    """Draw the runs of these methods: a color for each number of processes, a dash for each method."""
    traces = []
    for each in started:
        for point in measured.measured_points(session, each):
            method, threads = method_of(str(point.values["preset"])), point.values["num_actors"]
            curve = measured.curve(session, point.run_ids, axis) if method in dashes else None
            if curve is not None:
                name, color = f"{method}, {threads}", drawing.color_at(THREADS.index(threads))
                told = [f"{name} processes: {y:,.6g}" for y in curve.mean]
                line = {"color": color, "width": 2, "dash": dashes[method]}
                x, y = curve.x.tolist(), curve.mean.tolist()
                traces.append(drawing.line(name, color, x, y, told, mode="lines", line=line))
    return drawing.figure(traces, X_TITLES[axis])


OURS = "Draws the runs of table 2, which its page starts and this one too: the mean return of training episodes"
UNPUBLISHED = "The text prints no numbers of this figure; those of table 2 belong to its curves."

LEARNING_RATES = Difference(
    "learning rates",
    "each curve is the average over the three best ones",
    "that of the preset",
    "the curves belong to table 2, whose runs have one rate; 50 rates for each number of processes cost 50 times that",
)

FIGURE_3 = Item(
    name="figure-3",
    label="Figure 3",
    title="Score by the number of actor-learners, along epochs",
    theirs="Drew for five games and three methods the score with 1, 2, 4, 8 and 16 threads along epochs of 4 million "
    "frames, each the mean of the three best learning rates. One-step methods need less data with more threads.",
    ours=f"{OURS} along epochs.",
    measures="Mean return along epochs of 4 million frames",
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
    title="Score by the number of actor-learners, along time",
    theirs="Drew the runs of figure 3 along hours of training, each curve the average over the three best learning "
    "rates.",
    ours=f"{OURS} along the time on this host, so that it compares numbers of processes and not hosts.",
    measures="Mean return along the time of training",
    draw=by_time,
    differs=(PROCESSES, LEARNING_RATES, SCORES, BUDGET),
    unpublished=UNPUBLISHED,
    parts=PARTS,
    panels="each",
    runs_of="table-2",
)
