"""What a study plans: its points, the seeds of each, and how many runs that are."""

import math
from collections.abc import Iterable, Sequence
from itertools import islice

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from backend.database.tables import Study, StudyPoint, StudyRun
from backend.errors import FieldError, Invalid
from backend.studies import points
from backend.studies.cost import Cost, cost
from backend.studies.cost_limits import confirmation_reason, cost_refusal, require_confirmation
from backend.studies.points import Draw
from backend.studies.sampling import random_draws
from backend.studies.specification import MAX_SEED, Seeds, Specification


def initial_draws(asked: Specification, most: int) -> list[Draw]:
    """The points that a study begins with, or the first ones of too many."""
    if asked.sampler == "grid":
        return [*islice(points.grid(asked), most)]
    count = asked.point_count
    if asked.sampler == "tpe":
        # As many as train at first; the others are drawn when something is known of these.
        count = min(count, math.ceil(asked.at_once / len(asked.seeds)))
    return random_draws(asked, 0, min(count, most))


def validate_and_price(session: Session, asked: Specification, most: int) -> tuple[list[Draw], Cost, str | None]:
    """Check a specification; its points, its cost, and why it is refused for that."""
    points.validate(asked)
    draws = initial_draws(asked, most)
    for draw in draws:
        points.validate_draw(asked, draw)
    found = cost(session, asked, draws, asked.point_count)
    return draws, found, _too_many(asked, found, most) if found.runs > most else _too_costly(found)


def confirmed_draws(session: Session, asked: Specification, most: int, confirmed_steps: int | None) -> list[Draw]:
    """Return the first points of a study. Raise a problem if its cost is refused, or must be confirmed and is not."""
    draws, found, refused = validate_and_price(session, asked, most)
    if refused is not None:
        raise Invalid(FieldError(field=_cause(asked, found, most), message=refused))
    require_confirmation(
        found.runs, found.steps, confirmation_reason(found.steps, found.seconds, found.unmeasured), confirmed_steps
    )
    return draws


def _cause(asked: Specification, found: Cost, most: int) -> str:
    """Return the field that makes a study too large."""
    if found.runs <= most:
        return "total_steps"
    return "points" if asked.sampler != "grid" else "axes" if asked.point_count > len(asked.seeds) else "seeds"


def _too_costly(found: Cost) -> str | None:
    smaller = "take fewer values, points, seeds or steps"
    return cost_refusal(found.steps, found.seconds or 0.0, found.unmeasured, measure="launch a run of", reduce=smaller)


def _too_many(asked: Specification, found: Cost, most: int) -> str:
    made = f"{found.points:,} points × {len(asked.seeds):,} seeds are {found}"
    return f"{made}; a study may have {most:,} runs (ARCADIA_MAX_STUDY_RUNS): take fewer values, points or seeds"


def add_points(session: Session, study: Study, draws: Iterable[Draw], seeds: Seeds) -> None:
    """Add points, each with these seeds."""
    first = session.scalar(select(func.count()).where(StudyPoint.study_id == study.id)) or 0
    for number, draw in enumerate(draws, first):
        session.add(StudyPoint(study_id=study.id, number=number, draw=[*draw]))
        add_seeds(session, study, number, seeds)


def points_remaining(session: Session, study: Study) -> int:
    """How many points are still to be drawn, which tpe does as runs end."""
    asked = points.read_specification(study)
    if asked.sampler != "tpe":
        return 0
    drawn = session.scalar(select(func.count()).where(StudyPoint.study_id == study.id)) or 0
    return max(0, asked.point_count - drawn)


def run_count(session: Session, study: Study) -> int:
    """How many runs a study plans, those of points that are still to be drawn among them."""
    planned = session.scalar(select(func.count()).where(StudyRun.study_id == study.id)) or 0
    return planned + _undrawn_runs(session, study)


def remaining_run_count(session: Session, study: Study) -> int:
    """How many of these runs are not made yet."""
    unmade = select(func.count()).where(StudyRun.study_id == study.id, StudyRun.run_id.is_(None))
    return (session.scalar(unmade) or 0) + _undrawn_runs(session, study)


def _undrawn_runs(session: Session, study: Study) -> int:
    return points_remaining(session, study) * len(points.read_specification(study).seeds)


def add_seeds(session: Session, study: Study, point: int, seeds: Seeds) -> None:
    """Add runs of a point."""
    session.add_all(StudyRun(study_id=study.id, point=point, seed=seed) for seed in seeds)


def add_new_seeds(session: Session, study: Study, numbers: Sequence[int], count: int) -> None:
    """Give each of these points so many seeds that it has not had."""
    query = select(StudyRun.point, func.max(StudyRun.seed)).where(StudyRun.study_id == study.id)
    largest = {row[0]: row[1] for row in session.execute(query.group_by(StudyRun.point))}
    for number in numbers:
        first = largest[number] + 1
        if first + count - 1 > MAX_SEED:
            raise Invalid(FieldError(field="seeds", message=f"seeds go up to {MAX_SEED:,}"))
        add_seeds(session, study, number, [*range(first, first + count)])
