"""Figures S5 and S6: figures 3 and 4 for one-step Sarsa."""

from collections.abc import Sequence

from sqlalchemy.orm import Session

from arcadia_backend.figures.drawing import Figure
from arcadia_backend.papers.a3c.figures_3_and_4 import LEARNING_RATES, OURS, curves
from arcadia_backend.papers.a3c.games import BUDGET, FIVE_GAMES, PROCESSES, SCORES
from arcadia_backend.papers.a3c.table_2 import METHODS, PARTS
from arcadia_backend.papers.definition import Item, StartedStudy

SARSA = {METHODS["one_step_sarsa"]: "solid"}
# The substitute in Pong trains only other methods.
SARSA_PARTS = tuple(part for part in PARTS if part.name in (*FIVE_GAMES, "cartpole"))
UNPUBLISHED = "The paper prints no numbers for this figure. Table 2 summarizes its curves in the row of Sarsa."


def by_epoch(session: Session, started: Sequence[StartedStudy]) -> Figure:
    """Draw a curve for each number of processes, against epochs."""
    return curves(session, started, "epoch", SARSA)


def by_time(session: Session, started: Sequence[StartedStudy]) -> Figure:
    """Draw a curve for each number of processes, against training time on this host."""
    return curves(session, started, "time", SARSA)


FIGURE_S5 = Item(
    name="figure-s5",
    label="Figure S5",
    title="One-step Sarsa by the number of actor-learners, against epochs",
    theirs="Plots the scores of one-step Sarsa on five games with 1, 2, 4, 8 and 16 threads against epochs of "
    "4 million frames. Each curve is the mean of the best three learning rates. Sarsa needs less data "
    "with more threads.",
    ours=f"{OURS} Only one-step Sarsa is shown, against epochs. The study also trains the other methods of table 2.",
    measures="Mean return of one-step Sarsa against epochs of 4 million frames",
    draw=by_epoch,
    differs=(PROCESSES, LEARNING_RATES, SCORES, BUDGET),
    unpublished=UNPUBLISHED,
    parts=SARSA_PARTS,
    panels="each",
    runs_of="table-2",
)
FIGURE_S6 = Item(
    name="figure-s6",
    label="Figure S6",
    title="One-step Sarsa by the number of actor-learners, against training time",
    theirs="Plots the runs of figure S5 against hours of training. Sarsa reaches a score much sooner with more "
    "threads.",
    ours=f"{OURS} Only one-step Sarsa is shown, against time on this host, so the figure compares numbers of "
    "processes, not hosts. The study also trains the other methods of table 2.",
    measures="Mean return of one-step Sarsa against training time",
    draw=by_time,
    differs=(PROCESSES, LEARNING_RATES, SCORES, BUDGET),
    unpublished=UNPUBLISHED,
    parts=SARSA_PARTS,
    panels="each",
    runs_of="table-2",
)
