"""Training speeds as a share of the speed of the environments alone, which each run measures first."""

from collections.abc import Sequence

from sqlalchemy.orm import Session

from backend.papers import measured
from backend.papers.definition import StartedStudy, StudyPart
from backend.papers.measured import MeasuredPoint
from backend.papers.schemas import PaperSpeed
from backend.studies.labels import point_label
from workers.contract.metrics import CEILING, STEPS_PER_SECOND

# Fields that make a run measure its environments alone before training.
MEASURE_CEILING = {"ceiling_seconds": 5}


def measures_speed(part: StudyPart) -> bool:
    """Return True if the part's runs measure the environments alone."""
    return part.specification.changes.keys() >= MEASURE_CEILING.keys()


def share_of_ceiling(session: Session, run_ids: Sequence[int]) -> float | None:
    """Return the mean over runs of their steps per second as a share of their own ceiling."""
    rates, ceilings = (measured.means(session, run_ids, metric) for metric in (STEPS_PER_SECOND, CEILING))
    shares = [rate / ceilings[run] for run, rate in rates.items() if ceilings.get(run)]
    return sum(shares) / len(shares) if shares else None


def describe_share(session: Session, point: MeasuredPoint) -> str:
    """Return the speed of a point as a share of its ceiling, for the tooltip."""
    share = share_of_ceiling(session, point.run_ids)
    if share is None:
        return "the environments alone were not measured on this host"
    return f"{share:.0%} of the speed of the environments alone"


def speeds(session: Session, started: Sequence[StartedStudy]) -> list[PaperSpeed]:
    """Return the speed of each point that has reported it, in studies that measure it."""
    return [
        PaperSpeed(
            part=each.part.title,
            share=each.share,
            setting=point_label(point.values),
            rate=rate,
            ceiling=measured.mean(session, point.run_ids, CEILING),
            of_ceiling=share_of_ceiling(session, point.run_ids),
        )
        for each in started
        if measures_speed(each.part)
        for point in measured.measured_points(session, each)
        if (rate := measured.mean(session, point.run_ids, STEPS_PER_SECOND)) is not None
    ]
