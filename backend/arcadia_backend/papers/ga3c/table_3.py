"""Table 3: scores in nine games."""

from arcadia_backend.papers.definition import Item, PaperDifference, StudyPart
from arcadia_backend.papers.measured import number_of
from arcadia_backend.studies.specification import Axis, Specification
from arcadia_workers.contract import published

SOURCE = "GA3C (Babaeizadeh et al. 2017)"
ROWS = tuple(row for row in published.scores() if row.source == SOURCE)
GAMES = [*dict.fromkeys(row.env for row in ROWS)]

ITEM = Item(
    name="table-3",
    label="Table 3",
    title="Scores in nine games",
    theirs="Prints the mean of 30 games, each with a random seed, after one day of training on a GPU. Cites "
    "scores of A3C, a human and a random player for comparison.",
    ours="Trains each game once and evaluates checkpoints. The paper's way of measuring is not a protocol of "
    "Arcadia, so its scores are not drawn with ours. The games' pages show both in separate tables.",
    measures="",
    draw=None,
    differs=(
        PaperDifference(
            "protocol",
            "mean of 30 games; starts and time limit not stated",
            "no-op-5min",
            "scores are comparable only within a protocol",
        ),
        PaperDifference("budget", "one day on a GPU", "80 million steps", "any host can run a share of the steps"),
    ),
    published=tuple(map(number_of, ROWS)),
    parts=(
        StudyPart(
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
