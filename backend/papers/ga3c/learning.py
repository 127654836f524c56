"""Figures 5 to 7: how speed, learning rate and the smallest training batch act on learning."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy.orm import Session

from backend.figures.schemas import Figure
from backend.papers import drawing
from backend.papers.definition import Difference, Item, Part, Started
from backend.studies.specification import Axis, Seeds, Specification

STEPS = 80_000_000
ROLES = ["num_agents", "num_predictors", "num_trainers", "dynamic_adjustment"]
GAMES = {
    "pong": ("Pong", "ALE/Pong-v5"),
    "breakout": ("Breakout", "ALE/Breakout-v5"),
    "qbert": ("Q*bert", "ALE/Qbert-v5"),
}
SCORES = Difference(
    "score",
    "not stated of which episodes",
    "mean return of the training episodes that end around a place",
    "it costs nothing beside training",
)
NAMED = Difference(
    "games", "not all named in the text", "Pong, Breakout and Q*bert", "the text names these three beside its curves"
)
HOST = Difference(
    "time", "that of the paper's system IV or I", "that of this host", "curves compare settings on one host, not hosts"
)


def by_time(session: Session, started: Sequence[Started]) -> Figure:
    """A curve for each setting along the time of training."""
    return drawing.curves(session, started, "time", "seconds of training on this host")


def by_epoch(session: Session, started: Sequence[Started]) -> Figure:
    """A curve for each setting along epochs."""
    return drawing.curves(session, started, "epoch", "epoch (4 M frames)")


def _parts(axes: Sequence[Axis], seeds: Seeds) -> tuple[Part, ...]:
    def part(name: str, title: str, preset: str, env: str, steps: int, *, stands_in: bool = False) -> Part:
        changes: dict[str, Any] = {"env": env}
        asked = Specification(
            name=title, preset=preset, changes=changes, axes=[*axes], seeds=seeds, total_steps=steps, at_once=1
        )
        return Part(name, title, asked, stands_in)

    return (
        *(part(name, title, "ga3c-paper", env, STEPS) for name, (title, env) in GAMES.items()),
        part("cartpole", "CartPole", "ga3c-cartpole", "CartPole-v1", 500_000, stands_in=True),
    )


FIGURE_5 = Item(
    name="figure-5",
    label="Figure 5",
    title="Faster settings learn faster",
    theirs="Trained for three hours with one agent, predictor and trainer, with 16 agents and one of each other, with "
    "the fastest setting, and with dynamic adjustment from one of each, from the same initial network.",
    ours="Trains the same four settings, with 32 agents, 2 predictors and 2 trainers as the fast one.",
    measures="Mean return along the time of training",
    draw=by_time,
    differs=(
        SCORES,
        NAMED,
        HOST,
        Difference("fastest setting", "128 agents, 2, 2", "32 agents, 2, 2", "the paper's is that of its system I"),
        Difference("budget", "three hours", "80 million steps", "a share of steps can be run on any host"),
    ),
    unpublished="The text prints no numbers of this figure. It says that the dynamic setting comes to nearly the same "
    "scores as the fastest one.",
    parts=_parts(
        [Axis(field=ROLES, values=[[1, 1, 1, False], [16, 1, 1, False], [32, 2, 2, False], [1, 1, 1, True]])], [1]
    ),
    panels="each",
)
FIGURE_6 = Item(
    name="figure-6",
    label="Figure 6",
    title="Scores with two learning rates",
    theirs="Trained five games three times with each of the learning rates 0.0003 and 0.0001, fixed for all games.",
    ours="Trains three games with both rates and three seeds; a curve is the mean over the seeds.",
    measures="Mean return along the time of training",
    draw=by_time,
    differs=(SCORES, NAMED, HOST),
    unpublished="The text prints no numbers of this figure.",
    parts=_parts([Axis(field="learning_rate", values=[3e-4, 1e-4])], [1, 2, 3]),
    panels="each",
)
FIGURE_7 = Item(
    name="figure-7",
    label="Figure 7",
    title="Scores by the smallest training batch",
    theirs="Trained with a range of smallest training batches. From 1 to 40 they lessen the effect of the policy lag "
    "and learning becomes faster and steadier, best between 20 and 40; beyond, it slows down.",
    ours="Trains with the batch of one agent, and with 20, 40 and 80 experiences at least. The runs' pages have their "
    "policy lag as a curve.",
    measures="Mean return along epochs of 4 million frames",
    draw=by_epoch,
    differs=(SCORES, NAMED, Difference("batches", "not all in the text", "one agent's, 20, 40, 80", "those it names")),
    unpublished="The text prints no scores of this figure, only the range of batches that learnt best: 20 to 40.",
    parts=_parts([Axis(field="min_training_batch", values=[0, 20, 40, 80])], [1]),
    panels="each",
)
