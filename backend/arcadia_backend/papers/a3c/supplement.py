"""Experiments in sections 4 and 5 and in the supplement: optimizers, MuJoCo and the Labyrinth."""

from collections.abc import Sequence

from sqlalchemy.orm import Session

from arcadia_backend.figures.drawing import Figure
from arcadia_backend.papers import measured
from arcadia_backend.papers.a3c.games import BUDGET, FIVE_GAMES, PROCESSES, SCORES
from arcadia_backend.papers.definition import Item, PaperDifference, PrintedNumber, StartedStudy, StudyPart
from arcadia_backend.studies.specification import Axis, Specification
from arcadia_workers.contract.games import MUJOCO_TASKS

OPTIMIZERS = ["momentum_sgd", "rmsprop", "shared_rmsprop"]
RATES = [1e-4, 3e-4, 1e-3, 3e-3, 1e-2]


def by_rate(session: Session, started: Sequence[StartedStudy]) -> Figure:
    """Draw the mean return by learning rate, with a line for each optimizer."""
    traces = []
    for each in started:
        points = measured.measured_points(session, each)
        for place, optimizer in enumerate(OPTIMIZERS):
            rated = [
                (point.values["learning_rate"], point.point.mean)
                for point in points
                if point.values["optimizer"] == optimizer and point.point.mean is not None
            ]
            hover = [f"{optimizer}, rate {rate:g}: {mean:,.6g}" for rate, mean in rated]
            x, y = [rate for rate, _ in rated], [mean for _, mean in rated]
            traces.append(measured.line(optimizer, measured.color_at(place), x, y, hover))
    return measured.figure(traces, "learning rate", {"type": "log", "dtick": 1})


def by_time(session: Session, started: Sequence[StartedStudy]) -> Figure:
    """Draw a curve for each part against training time on this host."""
    return measured.curves(session, started, "time", "seconds of training on this host")


def _optimizers(name: str, title: str, preset: str, env: str, steps: int, *, stands_in: bool = False) -> StudyPart:
    axes = [Axis(field="optimizer", values=[*OPTIMIZERS]), Axis(field="learning_rate", values=[*RATES])]
    asked = Specification(
        name=title, preset=preset, changes={"env": env}, axes=axes, seeds=[1, 2, 3], total_steps=steps
    )
    return StudyPart(name, title, asked, stands_in)


def _alone(name: str, title: str, preset: str, env: str, steps: int) -> StudyPart:
    asked = Specification(name=title, preset=preset, changes={"env": env}, seeds=[1, 2, 3], total_steps=steps)
    return StudyPart(name, title, asked)


OPTIMIZER_COMPARISON = Item(
    name="optimizers",
    label="Optimizers",
    title="Momentum SGD, RMSProp and shared RMSProp",
    theirs="Compares three optimizers on a subset of the games. RMSProp with statistics shared between threads "
    "is considerably more robust than RMSProp with statistics per thread and SGD with momentum.",
    ours="Trains A3C with each optimizer, five learning rates and three seeds. Plots the mean return by learning rate.",
    measures="Mean return of the last 100 episodes, over seeds, by learning rate",
    draw=by_rate,
    differs=(
        PROCESSES,
        SCORES,
        BUDGET,
        PaperDifference("rates", "50, in the supplement", "5 from 10⁻⁴ to 10⁻², 3 seeds each", "much cheaper"),
    ),
    unpublished="The paper prints no numbers for this comparison and does not name the games.",
    parts=(
        *(_optimizers(name, title, "a3c-paper-ff", env, 80_000_000) for name, (title, env) in FIVE_GAMES.items()),
        _optimizers("cartpole", "CartPole", "a3c-cartpole", "CartPole-v1", 400_000, stands_in=True),
    ),
    panels="each",
)
MUJOCO = Item(
    name="mujoco",
    label="MuJoCo",
    title="Continuous actions",
    theirs="Trains A3C on continuous control from the physical state and from pixels. It finds good solutions "
    "in less than 24 hours, typically in a few hours.",
    ours="Trains Gymnasium's tasks from the physical state with three seeds each. Plots the mean return "
    "against training time.",
    measures="Mean return against training time",
    draw=by_time,
    differs=(
        PROCESSES,
        SCORES,
        BUDGET,
        PaperDifference(
            "input",
            "the physical state, or pixels",
            "only the physical state",
            "a run from pixels takes many times as long; those environments can be launched as single runs",
        ),
        PaperDifference(
            "tasks", "the paper's own", "Gymnasium's tasks", "the paper's tasks were not published; rewards differ"
        ),
    ),
    unpublished="The paper prints no scores for these tasks, and our tasks are different ones, so only our results "
    "are shown.",
    parts=tuple(
        _alone(task.lower(), title, "a3c-continuous", f"{task}-v5", 5_000_000) for task, title in MUJOCO_TASKS.items()
    ),
    panels="each",
)
LABYRINTH = Item(
    name="labyrinth",
    label="Labyrinth",
    title="Random mazes",
    theirs="Trains the LSTM agent on 84 × 84 images of a new random maze in each episode of 60 seconds, with "
    "apples and portals. The final average score is around 50.",
    ours="Trains the same agent in Arcadia's own mazes with three seeds. Plots the mean return against training time.",
    measures="Mean return against training time",
    draw=by_time,
    differs=(
        PROCESSES,
        SCORES,
        BUDGET,
        PaperDifference(
            "mazes",
            "Labyrinth, not published",
            "Arcadia's, built from its description",
            "scores are not comparable",
        ),
    ),
    published=(
        PrintedNumber(
            "final average score, about",
            50,
            "",
            "A3C (Mnih et al. 2016)",
            "section 5.4",
            "Labyrinth, episodes of 60 seconds in unseen mazes",
        ),
    ),
    parts=(_alone("labyrinth", "Labyrinth", "a3c-labyrinth", "Arcadia/Labyrinth-v0", 50_000_000),),
    panels="each",
)
