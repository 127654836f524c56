"""Table 2: training speed-up by the number of threads."""

from collections.abc import Mapping, Sequence
from statistics import fmean

from sqlalchemy import select
from sqlalchemy.orm import Session

from arcadia_backend.comparisons.time_to_score import ScoreRecords, common_score, load_score_records, median_reached
from arcadia_backend.database.tables import Run
from arcadia_backend.figures.drawing import Figure
from arcadia_backend.papers import measured
from arcadia_backend.papers.a3c.games import BUDGET, FIVE_GAMES, PROCESSES
from arcadia_backend.papers.definition import Item, PaperDifference, PrintedNumber, StartedStudy, StudyPart
from arcadia_backend.studies.specification import Axis, Specification
from arcadia_workers.contract import published
from arcadia_workers.contract.presets import PRESETS

METHODS = {"one_step_q": "1-step Q", "one_step_sarsa": "1-step SARSA", "n_step_q": "n-step Q", "a3c": "A3C"}
COLORS = dict(zip(METHODS.values(), map(measured.color_at, range(4)), strict=True))
THREADS = (1, 2, 4, 8, 16)
SEVEN_GAMES = FIVE_GAMES | {"enduro": ("Enduro", "ALE/Enduro-v5"), "seaquest": ("Seaquest", "ALE/Seaquest-v5")}
PAPERS_PRESETS = ("one-step-q", "one-step-sarsa", "n-step-q", "a3c-paper-ff")
CARTPOLE_PRESETS = ("one-step-q-cartpole", "one-step-sarsa-cartpole", "n-step-q-cartpole", "a3c-cartpole")
STEPS = 80_000_000


def draw(session: Session, started: Sequence[StartedStudy]) -> Figure:
    """Draw the speed-up of each method. The paper's line is dotted; ours is the mean over the games that were run."""
    traces = []
    for method, color in COLORS.items():
        rows = [row for row in published.speedups() if row.method == method]
        hover = [f"The paper, {method}, {row.threads} threads: {row.speedup:g} times" for row in rows]
        x, y = [row.threads for row in rows], [row.speedup for row in rows]
        line = {"color": color, "width": 1.5, "dash": "dot"}
        traces.append(measured.line(f"{method}, the paper", color, x, y, hover, line=line, opacity=0.6))
    for method, speedup in speedups(session, started).items():
        hover = [
            f"Ours, {method}, {threads} processes: {fmean(ratios):.3g} times, games: {len(ratios)}"
            for threads, ratios in speedup.items()
        ]
        y = [fmean(ratios) for ratios in speedup.values()]
        traces.append(measured.line(f"{method}, ours", COLORS[method], [*speedup], y, hover))
    # A linear speed-up is a straight line on two logarithmic axes.
    ticks = {"type": "log", "tickmode": "array", "tickvals": [*THREADS], "ticktext": [*map(str, THREADS)]}
    return measured.figure(traces, "actor-learners", ticks, yaxis=ticks)


def method_of(preset: str) -> str:
    """Return the paper's name of a preset's method."""
    return METHODS[PRESETS[preset].config.algorithm]


def speedups(session: Session, started: Sequence[StartedStudy]) -> dict[str, dict[int, list[float]]]:
    """Return speed-ups by method and number of processes, in games where all numbers of processes reached one score."""
    speedups: dict[str, dict[int, list[float]]] = {}
    for each in started:
        points = measured.measured_points(session, each)
        ids = [run_id for point in points for run_id in point.finished_ids]
        every = load_score_records(session, session.scalars(select(Run).where(Run.id.in_(ids))).all())
        climbs: dict[str, dict[int, list[ScoreRecords]]] = {}
        for point in points:
            if point.finished_ids:
                of = climbs.setdefault(str(point.values["preset"]), {})
                of[point.values["num_actors"]] = [every[run_id] for run_id in point.finished_ids]
        for preset, by_threads in climbs.items():
            for threads, ratio in _ratios(by_threads).items():
                speedups.setdefault(method_of(preset), {}).setdefault(threads, []).append(ratio)
    return speedups


def _ratios(by_threads: Mapping[int, Sequence[ScoreRecords]]) -> dict[int, float]:
    """Return the speed-up of each number of processes to the highest score that all of them reached."""
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
) -> StudyPart:
    asked = Specification(
        name=title,
        changes={"env": env},
        axes=[Axis(field="preset", values=[*presets]), Axis(field="num_actors", values=[*threads])],
        total_steps=steps,
        max_concurrent_runs=1,
    )
    return StudyPart(name, title, asked, stands_in)


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
    title="Training speed-up by the number of actor-learners",
    theirs="Measures on seven games how long each method takes to reach a fixed reference score with 1, 2, 4, "
    "8 and 16 threads. Averages the speed-up over one thread across the games.",
    ours="Trains each method with each number of processes, one after the other. A run has reached a score "
    "when the mean return of 100 consecutive episodes is that high. The reference score is the highest "
    "that every number of processes reached.",
    measures="Speed-up over one actor-learner to the same score",
    draw=draw,
    differs=(
        PROCESSES,
        PaperDifference(
            "reference score",
            "fixed, but not stated",
            "the highest that every number of processes reached, for each method and game",
            "it exists for every share of the budget",
        ),
        PaperDifference(
            "learning rates",
            "the best three of those tried, in the curves that this table summarizes",
            "the preset's rate",
            "50 rates for each number of processes would cost as much as figure 1 each time",
        ),
        BUDGET,
        PaperDifference(
            "host",
            "16 cores",
            "this host",
            "each speed-up compares runs on one host; more processes than cores cannot be faster",
        ),
    ),
    published=tuple(
        PrintedNumber(f"{row.method}, {row.threads} threads", row.speedup, "×", row.source, row.table, row.protocol)
        for row in published.speedups()
    ),
    parts=PARTS,
    height=400,
)
