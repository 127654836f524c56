"""Table 1: mean and median scores over 57 games."""

from collections.abc import Sequence

from sqlalchemy.orm import Session

from arcadia_backend.figures.drawing import Figure
from arcadia_backend.papers import measured
from arcadia_backend.papers.a3c.games import BUDGET, PROCESSES
from arcadia_backend.papers.definition import Item, PaperDifference, PrintedNumber, StartedStudy, StudyPart
from arcadia_backend.studies.specification import Axis, Specification
from arcadia_workers.contract import published
from arcadia_workers.contract.games import ENVIRONMENTS

GAMES = [env.id for env in ENVIRONMENTS.values() if env.group == "Atari, of the papers"]


def draw(_session: Session, _started: Sequence[StartedStudy]) -> Figure:
    """Draw only the paper's means and medians. Averages over other games are not comparable."""
    rows = published.summaries()
    names = [f"{row.method}, {row.training_time}" for row in rows]
    traces = []
    for name, values, symbol in (
        ("mean", [row.mean_percent for row in rows], "circle"),
        ("median", [row.median_percent for row in rows], "diamond-open"),
    ):
        hover = [f"{row}: {name} {value:g} %" for row, value in zip(names, values, strict=True)]
        traces.append(
            measured.dots(f"{name}, the paper", measured.THEIRS, values, names, hover, symbol=symbol, size=10)
        )
    order = {"type": "category", "autorange": "reversed"}
    return measured.figure(traces, "human-normalized score, %", yaxis=order)


def _part(name: str, title: str, preset: str) -> StudyPart:
    axes = [Axis(field="env", values=[*GAMES])]
    return StudyPart(name, title, Specification(name=title, preset=preset, axes=axes, total_steps=80_000_000))


ITEM = Item(
    name="table-1",
    label="Table 1",
    title="Human-normalized scores over 57 games",
    theirs="Trains A3C on 57 games: the feed-forward network for one and for four days, the LSTM for four "
    "days. Averages the scores from human starts.",
    ours="Trains both agents on each of the 57 games. The papers print random and human scores for only 49 "
    "of them, so no mean over all 57 can be computed. A mean over fewer games is not comparable, so it "
    "is shown under Games instead.",
    measures="Human-normalized scores over 57 games, from human starts",
    draw=draw,
    differs=(
        PROCESSES,
        BUDGET,
        PaperDifference(
            "length of training",
            "one and four days; four with the LSTM",
            "80 million steps",
            "a day of training achieves more on a faster host",
        ),
    ),
    published=tuple(
        PrintedNumber(f"{row.method}, {row.training_time}: {name}", value, "%", row.source, row.table, row.protocol)
        for row in published.summaries()
        for name, value in (("mean", row.mean_percent), ("median", row.median_percent))
    ),
    parts=(
        _part("ff", "57 games, feed-forward", "a3c-paper-ff"),
        _part("lstm", "57 games, LSTM", "a3c-paper-lstm"),
    ),
)
