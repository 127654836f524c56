"""Figure 5: how soon Gorila surpasses DQN."""

from collections.abc import Sequence

from sqlalchemy.orm import Session

from backend.figures.schemas import Figure
from backend.papers import drawing
from backend.papers.definition import Item, Number, Started

# Section 6: hours of training, and in how many of 49 games DQN's best score was passed.
PASSED = {6: 19, 12: 23, 24: 30, 36: 38}


def draw(_session: Session, _started: Sequence[Started]) -> Figure:
    """The numbers that the text has."""
    told = [f"The paper: {games} of 49 games after {hours} h" for hours, games in PASSED.items()]
    trace = drawing.line("Gorila, the paper", drawing.THEIRS, [*PASSED], [*PASSED.values()], told)
    return drawing.figure([trace], "hours of training with 100 bundles")


ITEM = Item(
    name="figure-5",
    label="Figure 5",
    title="How soon Gorila surpasses DQN",
    theirs="Counted in how many of 49 games Gorila had passed the best score of a single DQN, by hours of training, "
    "and when it came to its own best score.",
    ours="Draws the numbers of the text alone.",
    measures="Games of 49 in which DQN's best score was passed",
    draw=draw,
    published=tuple(
        Number(
            f"games after {hours} hours",
            games,
            "of 49",
            "Gorila (Nair et al. 2015)",
            "section 6",
            "human-starts, best evaluation so far",
        )
        for hours, games in PASSED.items()
    ),
    cannot="It counts over 49 games with 100 bundles and days for each, and hours on other hosts are not compared. "
    "A single game's runs can be compared by the time to a score on the Compare page.",
)
