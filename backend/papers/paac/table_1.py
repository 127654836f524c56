"""Table 1: scores in twelve games."""

from backend.papers.definition import Difference, Item, Part
from backend.papers.paac.source import HOST, PREPROCESSING, RATE, SOURCE
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
        changes={"evaluation_protocol": "no-op-30min"},
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
    ours="Trains three seeds for each game and network, and has checkpoints evaluated by no-op-30min. The paper "
    "does not say when an episode is cut off, so its scores belong to no protocol that Arcadia evaluates by: they are "
    "drawn beside none of ours. The games' pages show both, in tables apart.",
    measures="",
    draw=None,
    differs=(
        HOST,
        RATE,
        PREPROCESSING,
        Difference(
            "protocol",
            "30 episodes, up to 30 no-ops, no cap stated",
            "30 episodes after 1 to 30 no-ops, cut off after 30 minutes (no-op-30min)",
            "the cap is that of the training; scores compare only within a protocol",
        ),
    ),
    published=tuple(map(number_of, ROWS)),
    parts=(_part("nips"), _part("nature")),
)
