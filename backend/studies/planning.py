"""What a study plans: its points, the seeds of each, and how many runs that are."""

import math
from collections.abc import Iterable, Sequence
from itertools import islice

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from backend.database.tables import Study, StudyPoint, StudyRun
from backend.errors import FieldError, Invalid
from backend.studies import points
from backend.studies.confirmation import check_confirmed, cost_refusal, why_confirm
from backend.studies.cost import Cost, cost
from backend.studies.points import Draw
from backend.studies.sampling import random_draws
from backend.studies.specification import LARGEST_SEED, Seeds, Specification


def first_draws(asked: Specification, most: int) -> list[Draw]:
    """The points that a study begins with, or the first ones of too many."""
    if asked.sampler == "grid":
        return [*islice(points.grid(asked), most)]
    count = asked.point_count
    if asked.sampler == "tpe":
        # As many as train at first; the others are drawn when something is known of these.
        count = min(count, math.ceil(asked.at_once / len(asked.seeds)))
    return random_draws(asked, 0, min(count, most))


def looked_over(session: Session, asked: Specification, most: int) -> tuple[list[Draw], Cost, str | None]:
    """Check a specification; its points, its cost, and why it is refused for that."""
    points.check(asked)
    draws = first_draws(asked, most)
    for draw in draws:
        points.check_draw(asked, draw)
    found = cost(session, asked, draws, asked.point_count)
    return draws, found, _too_many(asked, found, most) if found.runs > most else _too_costly(found)


def confirmed_draws(session: Session, asked: Specification, most: int, confirmed_steps: int | None) -> list[Draw]:
    """Return the first points of a study. Raise a problem if its cost is refused, or must be confirmed and is not."""
    draws, found, refused = looked_over(session, asked, most)
    if refused is not None:
        raise Invalid(FieldError(field=_cause(asked, found, most), message=refused))
    check_confirmed(found.runs, found.steps, why_confirm(found.steps, found.seconds, found.unmeasured), confirmed_steps)
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


def plan(session: Session, study: Study, draws: Iterable[Draw], seeds: Seeds) -> None:
    """Add points, each with these seeds."""
    first = session.scalar(select(func.count()).where(StudyPoint.study_id == study.id)) or 0
    for number, draw in enumerate(draws, first):
        session.add(StudyPoint(study_id=study.id, number=number, draw=[*draw]))
        plan_seeds(session, study, number, seeds)


def undrawn(session: Session, study: Study) -> int:
    """How many points are still to be drawn, which tpe does as runs end."""
    asked = points.specification_of(study)
    if asked.sampler != "tpe":
        return 0
    drawn = session.scalar(select(func.count()).where(StudyPoint.study_id == study.id)) or 0
    return max(0, asked.point_count - drawn)


def run_count(session: Session, study: Study) -> int:
    """How many runs a study plans, those of points that are still to be drawn among them."""
    planned = session.scalar(select(func.count()).where(StudyRun.study_id == study.id)) or 0
    return planned + _undrawn_runs(session, study)


def unmade_count(session: Session, study: Study) -> int:
    """How many of these runs are not made yet."""
    unmade = select(func.count()).where(StudyRun.study_id == study.id, StudyRun.run_id.is_(None))
    return (session.scalar(unmade) or 0) + _undrawn_runs(session, study)


def _undrawn_runs(session: Session, study: Study) -> int:
    return undrawn(session, study) * len(points.specification_of(study).seeds)


def plan_seeds(session: Session, study: Study, point: int, seeds: Seeds) -> None:
    """Add runs of a point."""
    session.add_all(StudyRun(study_id=study.id, point=point, seed=seed) for seed in seeds)


def more_seeds(session: Session, study: Study, numbers: Sequence[int], count: int) -> None:
    """Give each of these points so many seeds that it has not had."""
    query = select(StudyRun.point, func.max(StudyRun.seed)).where(StudyRun.study_id == study.id)
    largest = {row[0]: row[1] for row in session.execute(query.group_by(StudyRun.point))}
    for number in numbers:
        first = largest[number] + 1
        if first + count - 1 > LARGEST_SEED:
            raise Invalid(FieldError(field="seeds", message=f"seeds go up to {LARGEST_SEED:,}"))
        plan_seeds(session, study, number, [*range(first, first + count)])
