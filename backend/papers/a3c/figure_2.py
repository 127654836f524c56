"""Figure 2: A3C's score by learning rate."""

from collections.abc import Sequence

from sqlalchemy.orm import Session

from backend.figures.schemas import Figure
from backend.papers import drawing
from backend.papers.a3c.games import BUDGET, FIVE_GAMES, PROCESSES, SCORES
from backend.papers.definition import Difference, Item, Part, Started
from backend.studies.results import load_points
from backend.studies.specification import Axis, Specification

LOW, HIGH, RATES = 1e-4, 1e-2, 50
STEPS = 80_000_000


def draw(session: Session, started: Sequence[Started]) -> Figure:
    """A dot for each run, hollow until it has finished, from end to end of the paper's range."""
    traces = []
    for place, each in enumerate(started):
        found = [
            (point.draw[0], run)
            for point in load_points(session, each.study)
            for run in point.runs
            if run.score is not None
        ]
        traces.append(
            drawing.dots(
                each.part.title,
                drawing.color_at(place),
                [rate for rate, _ in found],
                [run.score or 0.0 for _, run in found],
                [f"rate {rate:.3g}: {run.score:,.6g} ({run.state}, run {run.run_id})" for rate, run in found],
                symbol=["circle" if run.is_scored else "circle-open" for _, run in found],
            )
        )
    return drawing.figure(traces, "learning rate", {"type": "log", "dtick": 1, "range": [-4.05, -1.95]})


def rates_part(name: str, title: str, preset: str, env: str, steps: int, *, stands_in: bool = False) -> Part:
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
    return Part(name, title, asked, stands_in)


INITIALIZATION = Difference(
    "initialisation",
    "a random one for each rate",
    "seed 1 for every rate; more seeds of the best rates can be added on the study's page",
    "a study trains each of its points with the same seeds",
)
LENGTH = Difference(
    "length of training",
    "not stated for this figure",
    "80 million steps (320 million frames) a run",
    "that of the preset, which a public replication used",
)
UNPUBLISHED = "The text prints no numbers of this figure, so no dots of the paper's are drawn: only its range of rates."

ITEM = Item(
    name="figure-2",
    label="Figure 2",
    title="A3C's score by learning rate",
    theirs="Trained A3C on five games with 50 learning rates drawn from LogUniform(10⁻⁴, 10⁻²) and as many random "
    "initialisations, all else fixed, and drew a dot for each run. It reads from it that each game has a wide range of "
    "rates for which all initialisations score well, and that virtually no run scores 0 within it.",
    ours="For each game 50 rates drawn from the same range train the preset a3c-paper-ff; a dot is the mean return of "
    "a run's last 100 episodes.",
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
