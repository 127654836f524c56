"""Games in the figures of the A3C paper, and differences that all its studies share."""

from arcadia_backend.papers.definition import PaperDifference

FIVE_GAMES = {
    "beam-rider": ("Beam Rider", "ALE/BeamRider-v5"),
    "breakout": ("Breakout", "ALE/Breakout-v5"),
    "pong": ("Pong", "ALE/Pong-v5"),
    "qbert": ("Q*bert", "ALE/Qbert-v5"),
    "space-invaders": ("Space Invaders", "ALE/SpaceInvaders-v5"),
}

PROCESSES = PaperDifference(
    "actor-learners",
    "16 threads on a 16-core machine",
    "16 processes on this host's cores",
    "Python threads cannot run in parallel; with fewer cores a run takes longer but learns the same way",
)
SCORES = PaperDifference(
    "score",
    "the text does not state which episodes",
    "mean return of the last 100 training episodes, with unclipped rewards",
    "it needs no extra computation and treats all points alike",
)
BUDGET = PaperDifference(
    "learning rate over time",
    "decays to 0 during training",
    "decays to 0 over the chosen share of the budget",
    "otherwise a run of 1% of the budget would keep it almost constant",
)
