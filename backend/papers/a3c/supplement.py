"""What sections 4 and 5 tell and the supplement draws: optimizers, MuJoCo and the Labyrinth."""

from collections.abc import Sequence

from sqlalchemy.orm import Session

from backend.figures.schemas import Figure
from backend.papers import drawing, measured
from backend.papers.a3c.games import BUDGET, FIVE_GAMES, PROCESSES, SCORES
from backend.papers.definition import Difference, Item, Number, Part, Started
from backend.studies.specification import Axis, Specification
from workers.contract.games import MUJOCO_TASKS

OPTIMIZERS = ["momentum_sgd", "rmsprop", "shared_rmsprop"]
RATES = [1e-4, 3e-4, 1e-3, 3e-3, 1e-2]


def by_rate(session: Session, started: Sequence[Started]) -> Figure:
    """The mean return of each rate, a line for each optimizer."""
    traces = []
    for each in started:
        points = measured.measured_points(session, each)
        for place, optimizer in enumerate(OPTIMIZERS):
            found = [
                (point.values["learning_rate"], point.point.mean)
                for point in points
                if point.values["optimizer"] == optimizer and point.point.mean is not None
            ]
            told = [f"{optimizer}, rate {rate:g}: {mean:,.6g}" for rate, mean in found]
            x, y = [rate for rate, _ in found], [mean for _, mean in found]
            traces.append(drawing.line(optimizer, drawing.color_at(place), x, y, told))
    return drawing.figure(traces, "learning rate", {"type": "log", "dtick": 1})


def by_time(session: Session, started: Sequence[Started]) -> Figure:
    """A curve for each part along the time that it took on this host."""
    return drawing.curves(session, started, "time", "seconds of training on this host")


def _optimizers(name: str, title: str, preset: str, env: str, steps: int, *, stands_in: bool = False) -> Part:
    axes = [Axis(field="optimizer", values=[*OPTIMIZERS]), Axis(field="learning_rate", values=[*RATES])]
    asked = Specification(
        name=title, preset=preset, changes={"env": env}, axes=axes, seeds=[1, 2, 3], total_steps=steps
    )
    return Part(name, title, asked, stands_in)


def _alone(name: str, title: str, preset: str, env: str, steps: int) -> Part:
    asked = Specification(name=title, preset=preset, changes={"env": env}, seeds=[1, 2, 3], total_steps=steps)
    return Part(name, title, asked)


OPTIMIZER_COMPARISON = Item(
    name="optimizers",
    label="Optimizers",
    title="Momentum SGD, RMSProp and shared RMSProp",
    theirs="Compared three optimizers on a subset of the games: RMSProp whose statistics all threads share was "
    "considerably more robust than RMSProp by thread and than SGD with momentum.",
    ours="Trains A3C by each optimizer with five rates and three seeds, and draws the mean return by rate.",
    measures="Mean return of the last 100 episodes, over seeds, by learning rate",
    draw=by_rate,
    differs=(
        PROCESSES,
        SCORES,
        BUDGET,
        Difference("rates", "50, in the supplement", "5 from 10⁻⁴ to 10⁻², 3 seeds each", "a fraction of the cost"),
    ),
    unpublished="The text prints no numbers of this comparison, and does not name the games.",
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
    theirs="Trained A3C on continuous control from readings and from pixels, and found good solutions in less than 24 "
    "hours, typically in a few.",
    ours="Trains gymnasium's tasks from readings, three seeds each, and draws the mean return along time.",
    measures="Mean return along the time of training",
    draw=by_time,
    differs=(
        PROCESSES,
        SCORES,
        BUDGET,
        Difference(
            "input",
            "the physical state, or pixels",
            "the physical state alone",
            "from pixels a run takes many times as long; the environments from pixels can be launched singly",
        ),
        Difference("tasks", "the paper's own", "those of gymnasium", "the paper's were not published; rewards differ"),
    ),
    unpublished="The text prints no scores of these tasks, and ours are other ones: nothing of the paper's is drawn.",
    parts=tuple(
        _alone(task.lower(), title, "a3c-continuous", f"{task}-v5", 5_000_000) for task, title in MUJOCO_TASKS.items()
    ),
    panels="each",
)
LABYRINTH = Item(
    name="labyrinth",
    label="Labyrinth",
    title="Random mazes",
    theirs="Trained the LSTM agent on pictures of 84 × 84 of a new maze in each episode of 60 seconds, with apples and "
    "a portal, to a final average score of around 50.",
    ours="Trains the same agent in Arcadia's own mazes, three seeds, and draws the mean return along time.",
    measures="Mean return along the time of training",
    draw=by_time,
    differs=(
        PROCESSES,
        SCORES,
        BUDGET,
        Difference("mazes", "Labyrinth, not published", "Arcadia's, after its description", "scores do not compare"),
    ),
    published=(
        Number(
            "final average score, around",
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
