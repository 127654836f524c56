"""Table 1: scores in twelve games."""

from arcadia_backend.papers.definition import Item, PaperDifference, StudyPart
from arcadia_backend.papers.measured import number_of
from arcadia_backend.papers.paac.source import HOST, PREPROCESSING, RATE, SOURCE
from arcadia_backend.studies.specification import Axis, Specification
from arcadia_workers.contract import published

ROWS = tuple(row for row in published.scores() if row.source == SOURCE)
GAMES = [*dict.fromkeys(row.env for row in ROWS)]


def _part(network: str) -> StudyPart:
    title = f"12 games, arch_{network}"
    asked = Specification(
        name=title,
        preset=f"paac-paper-{network}",
        changes={"evaluation_protocol": "no-op-30min"},
        axes=[Axis(field="env", values=[*GAMES])],
        seeds=[1, 2, 3],
        total_steps=115_000_000,
    )
    return StudyPart(network, title, asked)


ITEM = Item(
    name="table-1",
    label="Table 1",
    title="Scores in twelve games",
    theirs="Trains three actors for each game and network. Prints the mean of 30 episodes of the best one, "
    "after up to 30 no-ops.",
    ours="Trains three seeds for each game and network, and evaluates checkpoints by no-op-30min. The paper "
    "states no time limit, so its scores match no protocol of Arcadia and are not drawn with ours. The "
    "games' pages show both in separate tables.",
    measures="",
    draw=None,
    differs=(
        HOST,
        RATE,
        PREPROCESSING,
        PaperDifference(
            "protocol",
            "30 episodes after up to 30 no-ops; no time limit stated",
            "30 episodes of at most 30 minutes after 1 to 30 no-ops (no-op-30min)",
            "the time limit is that of training; scores are comparable only within a protocol",
        ),
    ),
    published=tuple(map(number_of, ROWS)),
    parts=(_part("nips"), _part("nature")),
)
