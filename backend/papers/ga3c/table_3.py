"""Table 3: scores in nine games."""

from backend.papers.definition import Difference, Item, Part
from backend.papers.scores import number_of
from backend.studies.specification import Axis, Specification
from workers.contract import published

SOURCE = "GA3C (Babaeizadeh et al. 2017)"
ROWS = tuple(row for row in published.scores() if row.source == SOURCE)
GAMES = [*dict.fromkeys(row.env for row in ROWS)]

ITEM = Item(
    name="table-3",
    label="Table 3",
    title="Scores in nine games",
    theirs="Printed the mean of 30 games, each with a random seed, after one day of training on a GPU, beside what it "
    "cites of A3C, a human and a random player.",
    ours="Trains each game once, and has checkpoints evaluated. The paper's way to measure is no protocol that Arcadia "
    "evaluates by, so its scores are drawn beside none of ours. The games' pages show both, in tables apart.",
    measures="",
    draw=None,
    differs=(
        Difference(
            "protocol",
            "mean of 30 games, starts and cap not stated",
            "no-op-5min",
            "scores compare only within a protocol",
        ),
        Difference("budget", "one day on a GPU", "80 million steps", "a share of steps can be run on any host"),
    ),
    published=tuple(map(number_of, ROWS)),
    parts=(
        Part(
            "games",
            "9 games",
            Specification(
                name="9 games",
                preset="ga3c-paper",
                axes=[Axis(field="env", values=[*GAMES])],
                total_steps=80_000_000,
            ),
        ),
    ),
)
