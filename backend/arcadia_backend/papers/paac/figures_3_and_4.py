"""Figures 3 and 4: scores by the number of environments, against epochs and training time."""

from collections.abc import Sequence

from sqlalchemy.orm import Session

from arcadia_backend.figures.drawing import Figure
from arcadia_backend.papers import measured
from arcadia_backend.papers.definition import Item, PaperDifference, StartedStudy, StudyPart
from arcadia_backend.papers.paac.source import HOST, PREPROCESSING, RATE, SIZES
from arcadia_backend.studies.specification import Axis, Specification

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
    PaperDifference(
        "games",
        "six, not named in the text",
        "six that the papers share: " + ", ".join(title for title, _ in SIX_GAMES.values()),
        "the text does not name the games of the figures",
    ),
    PaperDifference(
        "score",
        "the text does not state which episodes",
        "mean return of the training episodes around each place",
        "it needs no extra computation",
    ),
)


def by_epoch(session: Session, started: Sequence[StartedStudy]) -> Figure:
    """Draw a curve for each n_e against epochs of 4 million frames."""
    return measured.curves(session, started, "epoch", "epoch (4 M frames)")


def by_time(session: Session, started: Sequence[StartedStudy]) -> Figure:
    """Draw a curve for each n_e against training time on this host."""
    return measured.curves(session, started, "time", "seconds of training on this host")


def _part(name: str, title: str, preset: str, env: str, steps: int, *, stands_in: bool = False) -> StudyPart:
    asked = Specification(
        name=title,
        preset=preset,
        changes={"env": env, "learning_rate": 0.0007, "learning_rate_scale": "num_envs"},
        axes=[Axis(field="num_envs", values=[*SIZES])],
        total_steps=steps,
        max_concurrent_runs=1,
    )
    return StudyPart(name, title, asked, stands_in)


PARTS = (
    *(_part(name, title, "paac-paper-nips", env, STEPS) for name, (title, env) in SIX_GAMES.items()),
    _part("cartpole", "CartPole", "paac-cartpole", "CartPole-v1", 1_500_000, stands_in=True),
)
OURS = (
    "Trains each game with each n_e for 115 million steps, one after the other. The learning rate is 0.0007 · n_e and "
    "the network is the small one. All other settings are those of the paper's table 1."
)
UNPUBLISHED = (
    "The paper prints no numbers for this figure. It reports that most values of n_e have similar scores at a given "
    "step, that larger values reach it sooner, and that 256 diverges in three of four games."
)

FIGURE_3 = Item(
    name="figure-3",
    label="Figure 3",
    title="Scores by the number of environments, against epochs",
    theirs="Trains six games with n_e of 16, 32, 64, 128 and 256 and a learning rate of 0.0007 · n_e, which "
    "was not tuned for any of them. Plots the score at each epoch of 4 million frames.",
    ours=OURS,
    measures="Mean return against epochs of 4 million frames",
    draw=by_epoch,
    differs=DIFFERS,
    unpublished=UNPUBLISHED,
    parts=PARTS,
    panels="each",
)
FIGURE_4 = Item(
    name="figure-4",
    label="Figure 4",
    title="Scores by the number of environments, against training time",
    theirs="Plots the runs of figure 3 against training time.",
    ours=f"{OURS} Time is that of this host, so the figure compares values of n_e, not hosts.",
    measures="Mean return against training time",
    draw=by_time,
    differs=(HOST, *DIFFERS),
    unpublished=UNPUBLISHED,
    parts=PARTS,
    panels="each",
    runs_of="figure-3",
)
