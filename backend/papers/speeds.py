"""Speeds as parts of what the same host does with the environments alone, which each run measures first."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy.orm import Session

from backend.papers import measured
from backend.papers.definition import Part, Started
from backend.papers.measured import Tried
from backend.studies.words import label_of
from workers.contract.metrics import CEILING, STEPS_PER_SECOND

# What a part of a figure about speed sets.
SECONDS = 5
FIRST = {"ceiling_seconds": SECONDS}


@dataclass(frozen=True)
class Speed:
    """Steps a second of a point, over its runs; runs that did not measure the environments alone have no share."""

    part: str
    share: float
    setting: str
    rate: float
    ceiling: float | None
    of_ceiling: float | None


def measures_speed(part: Part) -> bool:
    """Whether the part's runs measure the environments alone."""
    return "ceiling_seconds" in part.asked.changes


def of_ceiling(session: Session, run_ids: Sequence[int]) -> float | None:
    """The mean over runs of their steps a second as a part of their own ceiling's."""
    rates, ceilings = (measured.means(session, run_ids, metric) for metric in (STEPS_PER_SECOND, CEILING))
    shares = [rate / ceilings[run] for run, rate in rates.items() if ceilings.get(run)]
    return sum(shares) / len(shares) if shares else None


def told(session: Session, point: Tried) -> str:
    """The share in words, for the pointer."""
    share = of_ceiling(session, point.run_ids)
    if share is None:
        return "the environments alone were not measured on this host"
    return f"{share:.0%} of the steps a second of the environments alone"


def speeds(session: Session, started: Sequence[Started]) -> list[Speed]:
    """Every point that has told its speed, of studies whose parts measure it."""
    return [
        Speed(
            part=each.part.title,
            share=each.share,
            setting=label_of(point.values),
            rate=rate,
            ceiling=measured.mean(session, point.run_ids, CEILING),
            of_ceiling=of_ceiling(session, point.run_ids),
        )
        for each in started
        if measures_speed(each.part)
        for point in measured.tried(session, each)
        if (rate := measured.mean(session, point.run_ids, STEPS_PER_SECOND)) is not None
    ]
