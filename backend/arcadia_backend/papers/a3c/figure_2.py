"""Figure 2: scores of A3C by learning rate."""

from collections.abc import Sequence

from sqlalchemy.orm import Session

from arcadia_backend.figures.drawing import Figure
from arcadia_backend.papers import measured
from arcadia_backend.papers.a3c.games import BUDGET, FIVE_GAMES, PROCESSES, SCORES
from arcadia_backend.papers.definition import Item, PaperDifference, StartedStudy, StudyPart
from arcadia_backend.studies.results import load_points
from arcadia_backend.studies.specification import Axis, Specification

LOW, HIGH, RATES = 1e-4, 1e-2, 50
STEPS = 80_000_000


def draw(session: Session, started: Sequence[StartedStudy]) -> Figure:
    """Draw a dot for each run over the paper's range of rates. Dots of unfinished runs are hollow."""
    traces = []
    for place, each in enumerate(started):
        rated = [
            (point.draw[0], run)
            for point in load_points(session, each.study)
            for run in point.runs
            if run.score is not None
        ]
        traces.append(
            measured.dots(
                each.part.title,
                measured.color_at(place),
                [rate for rate, _ in rated],
                [run.score or 0.0 for _, run in rated],
                [f"rate {rate:.3g}: {run.score:,.6g} ({run.state}, run {run.run_id})" for rate, run in rated],
                symbol=["circle" if run.is_scored else "circle-open" for _, run in rated],
            )
        )
    return measured.figure(traces, "learning rate", {"type": "log", "dtick": 1, "range": [-4.05, -1.95]})


def rates_part(name: str, title: str, preset: str, env: str, steps: int, *, stands_in: bool = False) -> StudyPart:
    """Return a study of one preset in one environment with the paper's random learning rates."""
    asked = Specification(
        name=title,
        preset=preset,
        changes={"env": env},
        axes=[Axis(field="learning_rate", log_uniform=(LOW, HIGH))],
        sampler="random",
        points=RATES,
        total_steps=steps,
    )
    return StudyPart(name, title, asked, stands_in)


INITIALIZATION = PaperDifference(
    "initialization",
    "random for each rate",
    "seed 1 for every rate; add seeds for the best rates on the study's page",
    "a study trains all its points with the same seeds",
)
LENGTH = PaperDifference(
    "length of training",
    "not stated for this figure",
    "80 million steps (320 million frames) per run",
    "the preset's length, from a public replication",
)
UNPUBLISHED = "The paper prints no numbers for this figure, so only its range of rates is shown."

ITEM = Item(
    name="figure-2",
    label="Figure 2",
    title="Scores of A3C by learning rate",
    theirs="Trains A3C on five games with 50 learning rates drawn from LogUniform(10⁻⁴, 10⁻²) and 50 random "
    "initializations, with all other settings fixed. Each dot is one run. Every game has a wide range "
    "of rates where all initializations score well, and almost no run scores 0 in that range.",
    ours="Trains the preset a3c-paper-ff on each game with 50 rates drawn from the same range. Each dot is "
    "the mean return of the last 100 episodes of one run.",
    measures="Mean return of the last 100 episodes, by learning rate",
    draw=draw,
    differs=(PROCESSES, SCORES, BUDGET, INITIALIZATION, LENGTH),
    unpublished=UNPUBLISHED,
    parts=(
        *(rates_part(name, title, "a3c-paper-ff", env, STEPS) for name, (title, env) in FIVE_GAMES.items()),
        rates_part("cartpole", "CartPole", "a3c-cartpole", "CartPole-v1", 400_000, stands_in=True),
        rates_part("catch", "Catch", "a3c-cartpole", "Arcadia/Catch-v0", 400_000, stands_in=True),
    ),
    panels="each",
)
