"""Table 1: mean and median scores over 57 games."""

from collections.abc import Sequence

from sqlalchemy.orm import Session

from backend.figures.schemas import Figure
from backend.papers import drawing
from backend.papers.a3c.games import BUDGET, PROCESSES
from backend.papers.definition import Difference, Item, Number, Part, Started
from backend.studies.specification import Axis, Specification
from workers.contract import published
from workers.contract.games import ENVIRONMENTS

GAMES = [env.id for env in ENVIRONMENTS.values() if env.group == "Atari, of the papers"]


def draw(_session: Session, _started: Sequence[Started]) -> Figure:
    """The paper's means and medians; an average over other games than these 57 says nothing beside them."""
    rows = published.summaries()
    names = [f"{row.method}, {row.training_time}" for row in rows]
    traces = []
    for name, values, symbol in (
        ("mean", [row.mean_percent for row in rows], "circle"),
        ("median", [row.median_percent for row in rows], "diamond-open"),
    ):
        told = [f"{row}: {name} {value:g} %" for row, value in zip(names, values, strict=True)]
        traces.append(drawing.dots(f"{name}, the paper", drawing.THEIRS, values, names, told, symbol=symbol, size=10))
    order = {"type": "category", "autorange": "reversed"}
    return drawing.figure(traces, "percent of the human's score, random being 0", yaxis=order)


def _part(name: str, title: str, preset: str) -> Part:
    axes = [Axis(field="env", values=[*GAMES])]
    return Part(name, title, Specification(name=title, preset=preset, axes=axes, total_steps=80_000_000))


ITEM = Item(
    name="table-1",
    label="Table 1",
    title="Human-normalised scores over 57 games",
    theirs="Trained A3C in each of 57 games, feed-forward for one and for four days and with an LSTM for four, and "
    "averaged the scores from human starts.",
    ours="Trains each of the 57 games with both agents. The papers print random and human scores of 49 of these games, "
    "so no mean over all 57 can be made here, and one over fewer is not drawn beside theirs; Games has it.",
    measures="Human-normalised scores over 57 games, from human starts",
    draw=draw,
    differs=(
        PROCESSES,
        BUDGET,
        Difference(
            "length of training",
            "one day and four; four with the LSTM",
            "80 million steps",
            "days on other hosts differ",
        ),
    ),
    published=tuple(
        Number(f"{row.method}, {row.training_time}: {name}", value, "%", row.source, row.table, row.protocol)
        for row in published.summaries()
        for name, value in (("mean", row.mean_percent), ("median", row.median_percent))
    ),
    parts=(
        _part("ff", "57 games, feed-forward", "a3c-paper-ff"),
        _part("lstm", "57 games, LSTM", "a3c-paper-lstm"),
    ),
)
