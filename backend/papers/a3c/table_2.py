"""Table 2: how much faster more threads come to a score."""

from collections.abc import Mapping, Sequence
from statistics import fmean

from sqlalchemy import select
from sqlalchemy.orm import Session

from backend.comparisons.score_records import ScoreRecords, common_score, load_score_records, median_reached
from backend.database.tables import Run
from backend.figures.schemas import Figure
from backend.papers import drawing, measured
from backend.papers.a3c.games import BUDGET, FIVE_GAMES, PROCESSES
from backend.papers.definition import Difference, Item, Number, Part, Started
from backend.studies.specification import Axis, Specification
from workers.contract import published
from workers.contract.presets import PRESETS

METHODS = {"one_step_q": "1-step Q", "one_step_sarsa": "1-step SARSA", "n_step_q": "n-step Q", "a3c": "A3C"}
COLORS = dict(zip(METHODS.values(), map(drawing.color_at, range(4)), strict=True))
THREADS = (1, 2, 4, 8, 16)
SEVEN_GAMES = FIVE_GAMES | {"enduro": ("Enduro", "ALE/Enduro-v5"), "seaquest": ("Seaquest", "ALE/Seaquest-v5")}
PAPERS_PRESETS = ("one-step-q", "one-step-sarsa", "n-step-q", "a3c-paper-ff")
CARTPOLE_PRESETS = ("one-step-q-cartpole", "one-step-sarsa-cartpole", "n-step-q-cartpole", "a3c-cartpole")
STEPS = 80_000_000


def draw(session: Session, started: Sequence[Started]) -> Figure:
    """A line for each method: the paper's dotted, ours the mean over the games that were run."""
    traces = []
    for method, color in COLORS.items():
        rows = [row for row in published.speedups() if row.method == method]
        told = [f"The paper, {method}, {row.threads} threads: {row.speedup:g} times" for row in rows]
        x, y = [row.threads for row in rows], [row.speedup for row in rows]
        line = {"color": color, "width": 1.5, "dash": "dot"}
        traces.append(drawing.line(f"{method}, the paper", color, x, y, told, line=line, opacity=0.6))
    for method, found in speedups(session, started).items():
        told = [
            f"Ours, {method}, {threads} processes: {fmean(ratios):.3g} times, games: {len(ratios)}"
            for threads, ratios in found.items()
        ]
        y = [fmean(ratios) for ratios in found.values()]
        traces.append(drawing.line(f"{method}, ours", COLORS[method], [*found], y, told))
    # As many times as fast as there are threads is a straight line.
    ticks = {"type": "log", "tickmode": "array", "tickvals": [*THREADS], "ticktext": [*map(str, THREADS)]}
    return drawing.figure(traces, "actor-learners", ticks, yaxis=ticks)


def method_of(preset: str) -> str:
    """What the paper calls the method of a preset."""
    return METHODS[PRESETS[preset].config.algorithm]


def speedups(session: Session, started: Sequence[Started]) -> dict[str, dict[int, list[float]]]:
    """By method and number of processes, the speed-up in each game where all numbers came to one score."""
    found: dict[str, dict[int, list[float]]] = {}
    for each in started:
        for preset, by_threads in _climbs(session, each).items():
            for threads, ratio in _ratios(by_threads).items():
                found.setdefault(method_of(preset), {}).setdefault(threads, []).append(ratio)
    return found


def _climbs(session: Session, started: Started) -> dict[str, dict[int, list[ScoreRecords]]]:
    points = measured.measured_points(session, started)
    ids = [run_id for point in points for run_id in point.finished_ids]
    every = load_score_records(session, session.scalars(select(Run).where(Run.id.in_(ids))).all())
    found: dict[str, dict[int, list[ScoreRecords]]] = {}
    for point in points:
        if point.finished_ids:
            of = found.setdefault(str(point.values["preset"]), {})
            of[point.values["num_actors"]] = [every[run_id] for run_id in point.finished_ids]
    return found


def _ratios(by_threads: Mapping[int, Sequence[ScoreRecords]]) -> dict[int, float]:
    """How many times sooner than one process each number came to the highest score that all of them reached."""
    score = common_score([*by_threads.values()]) if 1 in by_threads and len(by_threads) > 1 else None
    if score is None:
        return {}
    places = {threads: median_reached(runs, score) for threads, runs in by_threads.items()}
    alone = places[1]
    return {
        threads: alone.seconds / place.seconds
        for threads, place in places.items()
        if alone is not None and place is not None and place.seconds > 0
    }


def _part(
    name: str, title: str, presets: Sequence[str], env: str, threads: Sequence[int], steps: int, *, stands_in: bool
) -> Part:
    asked = Specification(
        name=title,
        changes={"env": env},
        axes=[Axis(field="preset", values=[*presets]), Axis(field="num_actors", values=[*threads])],
        total_steps=steps,
        at_once=1,
    )
    return Part(name, title, asked, stands_in)


PONG = ("n-step-q-pong", "a3c-pong")
PARTS = (
    *(
        _part(name, title, PAPERS_PRESETS, env, THREADS, STEPS, stands_in=False)
        for name, (title, env) in SEVEN_GAMES.items()
    ),
    _part("pong-1-2", "Pong, 1 and 2 processes, tuned here", PONG, "ALE/Pong-v5", (1, 2), 4_000_000, stands_in=True),
    _part("cartpole", "CartPole, 1 and 2", CARTPOLE_PRESETS, "CartPole-v1", (1, 2), 400_000, stands_in=True),
)

ITEM = Item(
    name="table-2",
    label="Table 2",
    title="How much faster more actor-learners come to a score",
    theirs="Measured on seven games how long each method takes with 1, 2, 4, 8 and 16 threads to come to a fixed "
    "score, and averaged over the games how many times sooner than with one thread that is.",
    ours="Trains each method with each number of processes, one run at a time. A run has come to a score when the mean "
    "return of 100 episodes in a row is that high; the score is the highest that every number of processes came to.",
    measures="Times as fast as one actor-learner, to the same score",
    draw=draw,
    differs=(
        PROCESSES,
        Difference(
            "reference score",
            "fixed, its value not stated",
            "the highest that every number of processes came to, for each method and game",
            "it exists at every share of the budget",
        ),
        Difference(
            "learning rates",
            "the best three of those tried, for the curves that this table belongs to",
            "that of the preset",
            "50 rates for each number of processes are figure 1's cost again",
        ),
        BUDGET,
        Difference(
            "host",
            "16 cores",
            "this host",
            "each speed-up is a ratio within one host; beyond its cores more processes cannot be faster",
        ),
    ),
    published=tuple(
        Number(f"{row.method}, {row.threads} threads", row.speedup, "×", row.source, row.table, row.protocol)
        for row in published.speedups()
    ),
    parts=PARTS,
    height=400,
)
