"""Colours and dashes of lines in charts."""

from collections.abc import Sequence
from typing import Literal, NamedTuple, get_args

# Colours that colour-blind eyes tell apart (Okabe and Ito; Tol), legible on a light and on a dark page.
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
# More than these cannot be told apart in one chart; the next lines have them again, dashed.
TOGETHER = 8

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
# With these, as many lines as a comparison has runs differ.
DASHES: tuple[Dash, ...] = get_args(Dash)


class Stroke(NamedTuple):
    """How a line is drawn."""

    color: str
    dash: Dash


def color_of(number: int) -> str:
    """The colour of a run's number, the same in every list, or of a line's place in its chart."""
    return PALETTE[number % len(PALETTE)]


def group_strokes(groups: Sequence[Sequence[int]]) -> dict[int, Stroke]:
    """Return the stroke of each run of groups: a group's place decides, and all of its runs share it."""
    if len(groups) == 1:
        first, *_ = groups[0]
        return dict.fromkeys(groups[0], Stroke(color_of(first), "solid"))
    return {run_id: _stroke(place) for place, group in enumerate(groups) for run_id in group}


def _stroke(place: int) -> Stroke:
    return Stroke(PALETTE[place % TOGETHER], DASHES[place // TOGETHER % len(DASHES)])


def strokes(run_ids: Sequence[int]) -> dict[int, Stroke]:
    """How the lines of runs beside one another are drawn: by their places; a run alone has its own colour."""
    return group_strokes([[run_id] for run_id in run_ids])
