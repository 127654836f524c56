"""Speeds as parts of what the same host does with the environments alone, which each run measures first."""

from collections.abc import Sequence

from sqlalchemy.orm import Session

from backend.papers import measured
from backend.papers.definition import Part, Started
from backend.papers.measured import MeasuredPoint
from backend.papers.schemas import PaperSpeed
from backend.studies.labels import point_label
from workers.contract.metrics import CEILING, STEPS_PER_SECOND

# What a part of a figure about speed sets.
CEILING_FIRST = {"ceiling_seconds": 5}


def measures_speed(part: Part) -> bool:
    """Whether the part's runs measure the environments alone."""
    return part.asked.changes.keys() >= CEILING_FIRST.keys()


def of_ceiling(session: Session, run_ids: Sequence[int]) -> float | None:
    """The mean over runs of their steps a second as a part of their own ceiling's."""
    rates, ceilings = (measured.means(session, run_ids, metric) for metric in (STEPS_PER_SECOND, CEILING))
    shares = [rate / ceilings[run] for run, rate in rates.items() if ceilings.get(run)]
    return sum(shares) / len(shares) if shares else None


def share_in_words(session: Session, point: MeasuredPoint) -> str:
    """How fast a point is beside the environments alone, for the pointer."""
    share = of_ceiling(session, point.run_ids)
    if share is None:
        return "the environments alone were not measured on this host"
    return f"{share:.0%} of the steps a second of the environments alone"


def speeds(session: Session, started: Sequence[Started]) -> list[PaperSpeed]:
    """Every point that has told its speed, of studies whose parts measure it."""
    return [
        PaperSpeed(
            part=each.part.title,
            share=each.share,
            setting=point_label(point.values),
            rate=rate,
            ceiling=measured.mean(session, point.run_ids, CEILING),
            of_ceiling=of_ceiling(session, point.run_ids),
        )
        for each in started
        if measures_speed(each.part)
        for point in measured.measured_points(session, each)
        if (rate := measured.mean(session, point.run_ids, STEPS_PER_SECOND)) is not None
    ]
