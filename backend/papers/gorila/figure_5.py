"""Figure 5: training time until Gorila surpasses DQN."""

from collections.abc import Sequence

from sqlalchemy.orm import Session

from backend.figures.schemas import Figure
from backend.papers import drawing
from backend.papers.definition import Item, PrintedNumber, StartedStudy

# Section 6: by hours of training, the number of 49 games in which Gorila passed the best score of DQN.
PASSED = {6: 19, 12: 23, 24: 30, 36: 38}


def draw(_session: Session, _started: Sequence[StartedStudy]) -> Figure:
    """Draw the numbers that the text states."""
    hover = [f"The paper: {games} of 49 games after {hours} h" for hours, games in PASSED.items()]
    trace = drawing.line("Gorila, the paper", drawing.THEIRS, [*PASSED], [*PASSED.values()], hover)
    return drawing.figure([trace], "hours of training with 100 bundles")


ITEM = Item(
    name="figure-5",
    label="Figure 5",
    title="Training time until Gorila surpasses DQN",
    theirs="Counts by hours of training in how many of 49 games Gorila has passed the best score of a single "
    "DQN, and when it reaches its own best score.",
    ours="Shows only the numbers in the text.",
    measures="Games of 49 in which DQN's best score was passed",
    draw=draw,
    published=tuple(
        PrintedNumber(
            f"games after {hours} hours",
            games,
            "of 49",
            "Gorila (Nair et al. 2015)",
            "section 6",
            "human-starts, best evaluation so far",
        )
        for hours, games in PASSED.items()
    ),
    unavailable_reason="The figure needs 49 games with 100 bundles and days of training each, and hours on "
    "different hosts are not comparable. To compare runs of one game, use the time to a score on the Compare page.",
)
