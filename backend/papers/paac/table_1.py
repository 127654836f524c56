"""Table 1: scores in twelve games."""

from backend.papers.definition import Difference, Item, Part
from backend.papers.paac.source import HOST, SOURCE
from backend.papers.scores import number_of
from backend.studies.specification import Axis, Specification
from workers.contract import published

ROWS = tuple(row for row in published.scores() if row.source == SOURCE)
GAMES = [*dict.fromkeys(row.env for row in ROWS)]


def _part(network: str) -> Part:
    title = f"12 games, arch_{network}"
    asked = Specification(
        name=title,
        preset=f"paac-paper-{network}",
        axes=[Axis(field="env", values=[*GAMES])],
        seeds=[1, 2, 3],
        total_steps=115_000_000,
    )
    return Part(network, title, asked)


ITEM = Item(
    name="table-1",
    label="Table 1",
    title="Scores in twelve games",
    theirs="Trained three actors for each game and network, and printed the mean of 30 episodes of the best one, after "
    "up to 30 no-ops.",
    ours="Trains three seeds for each game and network, and has checkpoints evaluated. The paper does not say when an "
    "episode is cut off, so its scores belong to no protocol that Arcadia evaluates by: they are drawn beside none of "
    "ours. The games' pages show both, in tables apart.",
    measures="",
    draw=None,
    differs=(
        HOST,
        Difference(
            "protocol",
            "30 episodes, up to 30 no-ops, no cap stated",
            "no-op-5min or no-op-30min",
            "scores compare only within a protocol",
        ),
    ),
    published=tuple(map(number_of, ROWS)),
    parts=(_part("nips"), _part("nature")),
)
