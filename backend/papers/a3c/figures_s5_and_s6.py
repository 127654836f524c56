"""Figures S5 and S6: figures 3 and 4 of one-step Sarsa."""

from collections.abc import Sequence

from sqlalchemy.orm import Session

from backend.figures.schemas import Figure
from backend.papers.a3c.figures_3_and_4 import LEARNING_RATES, OURS, curves
from backend.papers.a3c.games import BUDGET, FIVE_GAMES, PROCESSES, SCORES
from backend.papers.a3c.table_2 import METHODS, PARTS
from backend.papers.definition import Item, Started

SARSA = {METHODS["one_step_sarsa"]: "solid"}
# The stand-in in Pong trains other methods alone.
SARSA_PARTS = tuple(part for part in PARTS if part.name in (*FIVE_GAMES, "cartpole"))
UNPUBLISHED = "The text prints no numbers of this figure; Sarsa's row of table 2 belongs to its curves."


def by_epoch(session: Session, started: Sequence[Started]) -> Figure:
    """Draw a curve for each number of processes, along epochs."""
    return curves(session, started, "epoch", SARSA)


def by_time(session: Session, started: Sequence[Started]) -> Figure:
    """Draw a curve for each number of processes, along the time on this host."""
    return curves(session, started, "time", SARSA)


FIGURE_S5 = Item(
    name="figure-s5",
    label="Figure S5",
    title="One-step Sarsa by the number of actor-learners, along epochs",
    theirs="Drew for five games the score of one-step Sarsa with 1, 2, 4, 8 and 16 threads along epochs of 4 million "
    "frames, each curve the mean of the three best learning rates. Sarsa needs less data with more threads.",
    ours=f"{OURS} of one-step Sarsa along epochs. The study also trains the other methods of table 2.",
    measures="Mean return of one-step Sarsa along epochs of 4 million frames",
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
    title="One-step Sarsa by the number of actor-learners, along time",
    theirs="Drew the runs of figure S5 along hours of training. Sarsa comes to a score much sooner with more threads.",
    ours=f"{OURS} of one-step Sarsa along the time on this host, so that it compares numbers of processes and not "
    "hosts. The study also trains the other methods of table 2.",
    measures="Mean return of one-step Sarsa along the time of training",
    draw=by_time,
    differs=(PROCESSES, LEARNING_RATES, SCORES, BUDGET),
    unpublished=UNPUBLISHED,
    parts=SARSA_PARTS,
    panels="each",
    runs_of="table-2",
)
