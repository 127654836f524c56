"""Figures 3 and 4: scores by the number of environments, along epochs and along hours."""

from collections.abc import Sequence

from sqlalchemy.orm import Session

from backend.figures.schemas import Figure
from backend.papers import drawing
from backend.papers.definition import Difference, Item, Part, Started
from backend.papers.paac.source import HOST, PREPROCESSING, RATE, SIZES
from backend.studies.specification import Axis, Specification

SIX_GAMES = {
    "beam-rider": ("Beam Rider", "ALE/BeamRider-v5"),
    "breakout": ("Breakout", "ALE/Breakout-v5"),
    "pong": ("Pong", "ALE/Pong-v5"),
    "qbert": ("Q*bert", "ALE/Qbert-v5"),
    "seaquest": ("Seaquest", "ALE/Seaquest-v5"),
    "space-invaders": ("Space Invaders", "ALE/SpaceInvaders-v5"),
}
STEPS = 115_000_000
DIFFERS = (
    RATE,
    PREPROCESSING,
    Difference(
        "games",
        "six, which the text does not name",
        "six that the papers share: " + ", ".join(title for title, _ in SIX_GAMES.values()),
        "the text of the figures has no names",
    ),
    Difference(
        "score",
        "not stated of which episodes",
        "mean return of the training episodes that end around a place",
        "it costs nothing beside training",
    ),
)


def by_epoch(session: Session, started: Sequence[Started]) -> Figure:
    """A curve for each n_e, along epochs of four million frames."""
    return drawing.curves(session, started, "epoch", "epoch (4 M frames)")


def by_time(session: Session, started: Sequence[Started]) -> Figure:
    """The same along the time that the runs took on this host."""
    return drawing.curves(session, started, "time", "seconds of training on this host")


def _part(name: str, title: str, preset: str, env: str, steps: int, *, stands_in: bool = False) -> Part:
    asked = Specification(
        name=title,
        preset=preset,
        changes={"env": env, "learning_rate": 0.0007, "learning_rate_scale": "num_envs"},
        axes=[Axis(field="num_envs", values=[*SIZES])],
        total_steps=steps,
        at_once=1,
    )
    return Part(name, title, asked, stands_in)


PARTS = (
    *(_part(name, title, "paac-paper-nips", env, STEPS) for name, (title, env) in SIX_GAMES.items()),
    _part("cartpole", "CartPole", "paac-cartpole", "CartPole-v1", 1_500_000, stands_in=True),
)
OURS = (
    "Trains each game with each n_e and a learning rate of 0.0007 · n_e, the small network and all else as in the "
    "paper's table 1, one run at a time, for 115 million steps."
)
UNPUBLISHED = (
    "The text prints no numbers of this figure. It says that most n_e score alike at a given step, that larger ones "
    "reach it sooner, and that 256 diverges in three games of four."
)

FIGURE_3 = Item(
    name="figure-3",
    label="Figure 3",
    title="Score by the number of environments, along epochs",
    theirs="Trained six games with n_e of 16, 32, 64, 128 and 256, a learning rate of 0.0007 · n_e that was tuned for "
    "none of them, and drew the score at each epoch of 4 million frames.",
    ours=OURS,
    measures="Mean return along epochs of 4 million frames",
    draw=by_epoch,
    differs=DIFFERS,
    unpublished=UNPUBLISHED,
    parts=PARTS,
    panels="each",
)
FIGURE_4 = Item(
    name="figure-4",
    label="Figure 4",
    title="Score by the number of environments, along time",
    theirs="Drew the runs of figure 3 along the time that they took.",
    ours=f"{OURS} Time is this host's, so the figure compares n_e with each other, not hosts.",
    measures="Mean return along the time of training",
    draw=by_time,
    differs=(HOST, *DIFFERS),
    unpublished=UNPUBLISHED,
    parts=PARTS,
    panels="each",
    runs_of="figure-3",
)
