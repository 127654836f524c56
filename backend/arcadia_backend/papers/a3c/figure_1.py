"""Figure 1: learning speed of DQN and the four asynchronous methods."""

from collections.abc import Sequence
from random import Random

from sqlalchemy.orm import Session

from arcadia_backend.figures.drawing import Figure
from arcadia_backend.papers import measured
from arcadia_backend.papers.a3c.figure_2 import HIGH, LOW, RATES, STEPS
from arcadia_backend.papers.a3c.games import BUDGET, FIVE_GAMES, PROCESSES, SCORES
from arcadia_backend.papers.a3c.table_2 import CARTPOLE_PRESETS, PAPERS_PRESETS
from arcadia_backend.papers.definition import Item, PaperDifference, StartedStudy, StudyPart
from arcadia_backend.studies.specification import Axis, Specification
from arcadia_workers.contract.config.problems import title_of
from arcadia_workers.contract.presets import PRESETS

BEST = 5
DQN, DQN_RATE = "dqn-nature", 0.00025
# Sampled once, so that all methods train with the same rates.
_random = Random(1)  # noqa: S311
SAMPLED_RATES = [float(f"{LOW * (HIGH / LOW) ** _random.random():.6g}") for _ in range(RATES)]


def draw(session: Session, started: Sequence[StartedStudy]) -> Figure:
    """Draw the mean of each method's best runs against training time."""
    traces = []
    for each in started:
        points = measured.measured_points(session, each)
        for place, preset in enumerate(dict.fromkeys(str(point.values["preset"]) for point in points)):
            scored = [point for point in points if point.values["preset"] == preset and point.point.mean is not None]
            best = sorted(scored, key=lambda point: -(point.point.mean or 0.0))[:BEST]
            curve = measured.curve(session, [run for point in best for run in point.finished_ids], "time")
            if curve is not None:
                name = f"{title_of(PRESETS[preset].config.algorithm)}, best {len(best)} of {len(scored)}"
                hover = [f"{name}: {y:,.6g}" for y in curve.mean]
                color = measured.color_at(place)
                traces.append(measured.line(name, color, curve.x.tolist(), curve.mean.tolist(), hover, mode="lines"))
    return measured.figure(traces, "seconds of training on this host")


def _part(
    name: str, title: str, env: str, presets: Sequence[str], others: list[list[object]], steps: int, *, stands_in: bool
) -> StudyPart:
    pairs = [[preset, rate] for preset in presets for rate in SAMPLED_RATES]
    asked = Specification(
        name=title,
        changes={"env": env},
        axes=[Axis(field=["preset", "learning_rate"], values=[*pairs, *others])],
        total_steps=steps,
    )
    return StudyPart(name, title, asked, stands_in)


ITEM = Item(
    name="figure-1",
    label="Figure 1",
    title="Learning speed of DQN and the four asynchronous methods",
    theirs="Trains DQN on a GPU with five seeds, and the four asynchronous methods on 16 CPU cores with 50 "
    "learning rates drawn from LogUniform(10⁻⁴, 10⁻²), on five games. Plots the mean of the best five "
    "runs of each method against hours of training.",
    ours="Trains the four methods with the same 50 learning rates, and DQN once, on each game. Plots the "
    "mean of the best five finished runs of each method against training time on this host.",
    measures="Mean return against training time",
    draw=draw,
    differs=(
        PROCESSES,
        SCORES,
        BUDGET,
        PaperDifference(
            "DQN", "five seeds, on a K40 GPU", "seed 1, as Gorila with one actor", "a study has one grid of points"
        ),
        PaperDifference(
            "budget", "hours", "80 million steps per run, also for DQN", "any host can run a share of the steps"
        ),
    ),
    unpublished="The paper prints no numbers for this figure.",
    parts=(
        *(
            _part(name, title, env, PAPERS_PRESETS, [[DQN, DQN_RATE]], STEPS, stands_in=False)
            for name, (title, env) in FIVE_GAMES.items()
        ),
        _part("cartpole", "CartPole, without DQN", "CartPole-v1", CARTPOLE_PRESETS, [], 400_000, stands_in=True),
    ),
    panels="each",
)
