"""The games that the paper's figures show, and what all of its studies differ in from it."""

from backend.papers.definition import Difference

FIVE_GAMES = {
    "beam-rider": ("Beam Rider", "ALE/BeamRider-v5"),
    "breakout": ("Breakout", "ALE/Breakout-v5"),
    "pong": ("Pong", "ALE/Pong-v5"),
    "qbert": ("Q*bert", "ALE/Qbert-v5"),
    "space-invaders": ("Space Invaders", "ALE/SpaceInvaders-v5"),
}

PROCESSES = Difference(
    "actor-learners",
    "16 threads on a machine of 16 cores",
    "16 processes on the cores that this host has",
    "Python runs one thread at a time; with fewer cores than processes a run takes longer and learns the same way",
)
SCORES = Difference(
    "score",
    "the text does not say by which episodes",
    "mean return of the run's last 100 training episodes, rewards unclipped",
    "it costs nothing beside training, and all points are scored alike",
)
BUDGET = Difference(
    "learning rate over time",
    "falls to 0 over the training",
    "falls to 0 over the share of the budget that is chosen",
    "a run that is cut at 1 % would hardly have lowered it",
)
