"""Colors and dashes of lines in charts."""

from collections import Counter
from collections.abc import Sequence
from typing import Literal, NamedTuple, get_args

# A palette for color-blind readers (Okabe and Ito; Tol), readable on light and dark pages.
PALETTE = (
    "#0072b2",
    "#e69f00",
    "#009e73",
    "#d55e00",
    "#cc79a7",
    "#56b4e9",
    "#aa4499",
    "#999933",
    "#44aa99",
    "#ee6677",
)
# More colors are hard to distinguish in one chart, so further lines repeat them with dashes.
COLORS_PER_CHART = 8

Dash = Literal[
    "solid",
    "dash",
    "dot",
    "dashdot",
    "longdash",
    "longdashdot",
    "12px,4px,2px,4px,2px,4px",
    "18px,3px",
    "2px,8px",
    "10px,10px",
    "18px,3px,6px,3px",
    "2px,2px,10px,2px",
    "18px,3px,2px,3px,2px,3px,2px,3px",
]
# Enough dashes for the largest comparison.
DASHES: tuple[Dash, ...] = get_args(Dash)


class Stroke(NamedTuple):
    """Color and dash of a line."""

    color: str
    dash: Dash


def color_of(number: int) -> str:
    """Return the color of a run id, the same in every list, or of a line's index in a chart."""
    return PALETTE[number % len(PALETTE)]


def group_strokes(groups: Sequence[Sequence[int]]) -> dict[int, Stroke]:
    """Return the stroke of each run. All runs of a group share the stroke of the group's index."""
    if len(groups) == 1:
        first, *_ = groups[0]
        return dict.fromkeys(groups[0], Stroke(color_of(first), "solid"))
    return {run_id: _stroke(place) for place, group in enumerate(groups) for run_id in group}


def own_strokes(run_ids: Sequence[int]) -> dict[int, Stroke]:
    """Return the stroke of each run in the color that lists show. Further runs of a color differ in their dashes."""
    used: Counter[str] = Counter()
    drawn = {}
    for run_id in run_ids:
        color = color_of(run_id)
        drawn[run_id] = Stroke(color, DASHES[used[color] % len(DASHES)])
        used[color] += 1
    return drawn


def _stroke(place: int) -> Stroke:
    return Stroke(PALETTE[place % COLORS_PER_CHART], DASHES[place // COLORS_PER_CHART % len(DASHES)])


def strokes(run_ids: Sequence[int]) -> dict[int, Stroke]:
    """Return the stroke of each run in a chart, by its index. A single run has the color of its id."""
    return group_strokes([[run_id] for run_id in run_ids])
