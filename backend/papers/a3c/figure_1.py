"""Figure 1: how fast DQN and the four asynchronous methods learn."""

from collections.abc import Sequence
from random import Random

from sqlalchemy.orm import Session

from backend.figures.schemas import Figure
from backend.papers import drawing, measured
from backend.papers.a3c.figure_2 import HIGH, LOW, RATES, STEPS
from backend.papers.a3c.games import BUDGET, FIVE_GAMES, PROCESSES, SCORES
from backend.papers.a3c.table_2 import CARTPOLE_PRESETS, PAPERS_PRESETS
from backend.papers.definition import Difference, Item, Part, Started
from backend.studies.specification import Axis, Specification
from workers.contract.config.problems import title_of
from workers.contract.presets import PRESETS

BEST = 5
DQN, DQN_RATE = "dqn-nature", 0.00025
# Drawn once, so that every method has the same.
_random = Random(1)  # noqa: S311
DRAWN = [float(f"{LOW * (HIGH / LOW) ** _random.random():.6g}") for _ in range(RATES)]


def draw(session: Session, started: Sequence[Started]) -> Figure:
    """For each method the mean of its best runs along the time that they took."""
    traces = []
    for each in started:
        points = measured.measured_points(session, each)
        for place, preset in enumerate(dict.fromkeys(str(point.values["preset"]) for point in points)):
            scored = [point for point in points if point.values["preset"] == preset and point.point.mean is not None]
            best = sorted(scored, key=lambda point: -(point.point.mean or 0.0))[:BEST]
            curve = measured.curve(session, [run for point in best for run in point.finished_ids], "time")
            if curve is not None:
                name = f"{title_of(PRESETS[preset].config.algorithm)}, best {len(best)} of {len(scored)}"
                told = [f"{name}: {y:,.6g}" for y in curve.mean]
                color = drawing.color_at(place)
                traces.append(drawing.line(name, color, curve.x.tolist(), curve.mean.tolist(), told, mode="lines"))
    return drawing.figure(traces, "seconds of training on this host")


def _part(
    name: str, title: str, env: str, presets: Sequence[str], others: list[list[object]], steps: int, *, stands_in: bool
) -> Part:
    pairs = [[preset, rate] for preset in presets for rate in DRAWN]
    asked = Specification(
        name=title,
        changes={"env": env},
        axes=[Axis(field=["preset", "learning_rate"], values=[*pairs, *others])],
        total_steps=steps,
    )
    return Part(name, title, asked, stands_in)


ITEM = Item(
    name="figure-1",
    label="Figure 1",
    title="How fast DQN and the four asynchronous methods learn",
    theirs="Trained DQN on a GPU, five seeds, and the four asynchronous methods with 50 learning rates drawn from "
    "LogUniform(10⁻⁴, 10⁻²) on 16 cores, on five games, and drew the mean of the best five of each along hours.",
    ours="For each game trains the four methods with the same 50 rates and DQN once, and draws the mean of the five "
    "best finished runs of each along the time on this host.",
    measures="Mean return along the time of training",
    draw=draw,
    differs=(
        PROCESSES,
        SCORES,
        BUDGET,
        Difference("DQN", "five seeds, on a K40 GPU", "seed 1, by Gorila's parts as one actor", "one study, one grid"),
        Difference("budget", "hours", "80 million steps a run, of DQN too", "a share of steps can be run on any host"),
    ),
    unpublished="The text prints no numbers of this figure.",
    parts=(
        *(
            _part(name, title, env, PAPERS_PRESETS, [[DQN, DQN_RATE]], STEPS, stands_in=False)
            for name, (title, env) in FIVE_GAMES.items()
        ),
        _part("cartpole", "CartPole, without DQN", "CartPole-v1", CARTPOLE_PRESETS, [], 400_000, stands_in=True),
    ),
    panels="each",
)
