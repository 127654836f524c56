"""Figures 5 to 7: effect of speed, learning rate and minimum training batch on learning."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy.orm import Session

from arcadia_backend.figures.drawing import Figure
from arcadia_backend.papers import measured
from arcadia_backend.papers.definition import Item, PaperDifference, StartedStudy, StudyPart
from arcadia_backend.studies.specification import Axis, Seeds, Specification

STEPS = 80_000_000
ROLES = ["num_agents", "num_predictors", "num_trainers", "dynamic_adjustment"]
GAMES = {
    "pong": ("Pong", "ALE/Pong-v5"),
    "breakout": ("Breakout", "ALE/Breakout-v5"),
    "qbert": ("Q*bert", "ALE/Qbert-v5"),
}
SCORES = PaperDifference(
    "score",
    "the text does not state which episodes",
    "mean return of the training episodes around each place",
    "it needs no extra computation",
)
NAMED = PaperDifference(
    "games", "not all named in the text", "Pong, Breakout and Q*bert", "the text names these three with its curves"
)
HOST = PaperDifference(
    "time", "on the paper's system IV or I", "on this host", "curves compare settings on one host, not hosts"
)


def by_time(session: Session, started: Sequence[StartedStudy]) -> Figure:
    """Draw a curve for each setting against training time."""
    return measured.curves(session, started, "time", "seconds of training on this host")


def by_epoch(session: Session, started: Sequence[StartedStudy]) -> Figure:
    """Draw a curve for each setting against epochs."""
    return measured.curves(session, started, "epoch", "epoch (4 M frames)")


def _parts(axes: Sequence[Axis], seeds: Seeds) -> tuple[StudyPart, ...]:
    def part(name: str, title: str, preset: str, env: str, steps: int, *, stands_in: bool = False) -> StudyPart:
        changes: dict[str, Any] = {"env": env}
        asked = Specification(
            name=title,
            preset=preset,
            changes=changes,
            axes=[*axes],
            seeds=seeds,
            total_steps=steps,
            max_concurrent_runs=1,
        )
        return StudyPart(name, title, asked, stands_in)

    return (
        *(part(name, title, "ga3c-paper", env, STEPS) for name, (title, env) in GAMES.items()),
        part("cartpole", "CartPole", "ga3c-cartpole", "CartPole-v1", 500_000, stands_in=True),
    )


FIGURE_5 = Item(
    name="figure-5",
    label="Figure 5",
    title="Faster settings learn faster",
    theirs="Trains for three hours from the same initial network with four settings: one agent, predictor and "
    "trainer; 16 agents with one predictor and trainer; the fastest setting; and dynamic adjustment "
    "that starts from one of each.",
    ours="Trains the same four settings. The fast one has 32 agents, 2 predictors and 2 trainers.",
    measures="Mean return against training time",
    draw=by_time,
    differs=(
        SCORES,
        NAMED,
        HOST,
        PaperDifference(
            "fastest setting", "128 agents, 2, 2", "32 agents, 2, 2", "the paper's is the fastest on its system I"
        ),
        PaperDifference("budget", "three hours", "80 million steps", "any host can run a share of the steps"),
    ),
    unpublished="The paper prints no numbers for this figure. It reports that the dynamic setting reaches nearly "
    "the same scores as the fastest one.",
    parts=_parts(
        [Axis(field=ROLES, values=[[1, 1, 1, False], [16, 1, 1, False], [32, 2, 2, False], [1, 1, 1, True]])], [1]
    ),
    panels="each",
)
FIGURE_6 = Item(
    name="figure-6",
    label="Figure 6",
    title="Scores with two learning rates",
    theirs="Trains five games three times with each of two learning rates, 0.0003 and 0.0001, which are the "
    "same for all games.",
    ours="Trains three games with both learning rates and three seeds. Each curve is the mean over the seeds.",
    measures="Mean return against training time",
    draw=by_time,
    differs=(SCORES, NAMED, HOST),
    unpublished="The paper prints no numbers for this figure.",
    parts=_parts([Axis(field="learning_rate", values=[3e-4, 1e-4])], [1, 2, 3]),
    panels="each",
)
FIGURE_7 = Item(
    name="figure-7",
    label="Figure 7",
    title="Scores by the minimum training batch",
    theirs="Trains with different minimum training batches. From 1 to 40, larger minimums reduce the effect of "
    "the policy lag, and learning becomes faster and more stable. The best values are 20 to 40. Larger "
    "ones slow learning down.",
    ours="Trains with the batch of one agent, and with at least 20, 40 and 80 experiences. The runs' pages "
    "show their policy lag.",
    measures="Mean return against epochs of 4 million frames",
    draw=by_epoch,
    differs=(
        SCORES,
        NAMED,
        PaperDifference("batches", "not all in the text", "one agent's, 20, 40, 80", "the text names these"),
    ),
    unpublished="The paper prints no scores for this figure, only the best range of minimum batches: 20 to 40.",
    parts=_parts([Axis(field="min_training_batch", values=[0, 20, 40, 80])], [1]),
    panels="each",
)
