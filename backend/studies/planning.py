"""The plan of a study: its points, their seeds, and its number of runs."""

import math
from collections.abc import Iterable, Sequence
from itertools import islice

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from backend.database.tables import Study, StudyPoint, StudyRun
from backend.errors import FieldError, Invalid
from backend.studies import points
from backend.studies.cost import Cost, estimate_cost
from backend.studies.cost_limits import confirmation_reason, cost_refusal, require_confirmation
from backend.studies.points import Draw
from backend.studies.sampling import random_draws
from backend.studies.specification import MAX_SEED, Seeds, Specification


def initial_draws(spec: Specification, limit: int) -> list[Draw]:
    """Return the first points of a study, at most `limit`."""
    if spec.sampler == "grid":
        return [*islice(points.grid(spec), limit)]
    count = spec.point_count
    if spec.sampler == "tpe":
        # Draw only the points that train first. TPE draws the others from their results.
        count = min(count, math.ceil(spec.max_concurrent_runs / len(spec.seeds)))
    return random_draws(spec, 0, min(count, limit))


def validate_and_price(session: Session, spec: Specification, max_runs: int) -> tuple[list[Draw], Cost, str | None]:
    """Validate a specification. Return its first points, its cost, and why the cost is rejected, or None."""
    points.validate(spec)
    draws = initial_draws(spec, max_runs)
    for draw in draws:
        points.validate_draw(spec, draw)
    cost = estimate_cost(session, spec, draws, spec.point_count)
    return draws, cost, _too_many_runs(spec, cost, max_runs) if cost.runs > max_runs else _too_costly(cost)


def confirmed_draws(session: Session, spec: Specification, max_runs: int, confirmed_steps: int | None) -> list[Draw]:
    """Return the first points of a study. Raise Invalid if its cost is rejected or not confirmed as required."""
    draws, cost, rejection = validate_and_price(session, spec, max_runs)
    if rejection is not None:
        raise Invalid(FieldError(field=_cost_field(spec, cost, max_runs), message=rejection))
    require_confirmation(
        cost.runs, cost.steps, confirmation_reason(cost.steps, cost.seconds, cost.unmeasured), confirmed_steps
    )
    return draws


def _cost_field(spec: Specification, cost: Cost, max_runs: int) -> str:
    """Return the field that makes a study too large."""
    if cost.runs <= max_runs:
        return "total_steps"
    if spec.sampler != "grid":
        return "points"
    if spec.point_count > spec.seed_limit:
        return "axes"
    return "seeds" if spec.until is None else "max_seeds"


def _too_costly(cost: Cost) -> str | None:
    smaller = "use fewer values, points, seeds or steps"
    return cost_refusal(cost.steps, cost.seconds or 0.0, cost.unmeasured, measure="launch a run of", reduce=smaller)


def _too_many_runs(spec: Specification, cost: Cost, max_runs: int) -> str:
    total = f"{cost.points:,} points × {spec.seed_limit:,} seeds are {cost}"
    return f"{total}; a study may have {max_runs:,} runs (ARCADIA_MAX_STUDY_RUNS): use fewer values, points or seeds"


def add_points(session: Session, study: Study, draws: Iterable[Draw], seeds: Seeds) -> None:
    """Add points, each with these seeds."""
    first = session.scalar(select(func.count()).where(StudyPoint.study_id == study.id)) or 0
    for number, draw in enumerate(draws, first):
        session.add(StudyPoint(study_id=study.id, number=number, draw=[*draw]))
        add_seeds(session, study, number, seeds)


def points_remaining(session: Session, study: Study) -> int:
    """Return how many points TPE has yet to draw, which it does as runs end."""
    spec = points.read_specification(study)
    if spec.sampler != "tpe":
        return 0
    drawn = session.scalar(select(func.count()).where(StudyPoint.study_id == study.id)) or 0
    return max(0, spec.point_count - drawn)


def run_count(session: Session, study: Study) -> int:
    """Return the number of runs of a study, including those of points not drawn yet."""
    planned = session.scalar(select(func.count()).where(StudyRun.study_id == study.id)) or 0
    return planned + _undrawn_runs(session, study)


def remaining_run_count(session: Session, study: Study) -> int:
    """Return how many of these runs are not created yet."""
    planned = select(func.count()).where(StudyRun.study_id == study.id, StudyRun.run_id.is_(None))
    return (session.scalar(planned) or 0) + _undrawn_runs(session, study)


def _undrawn_runs(session: Session, study: Study) -> int:
    return points_remaining(session, study) * len(points.read_specification(study).seeds)


def add_seeds(session: Session, study: Study, point: int, seeds: Seeds) -> None:
    """Add planned runs of a point."""
    session.add_all(StudyRun(study_id=study.id, point=point, seed=seed) for seed in seeds)


def add_new_seeds(session: Session, study: Study, numbers: Sequence[int], count: int) -> None:
    """Add `count` new seeds to each point."""
    query = select(StudyRun.point, func.max(StudyRun.seed)).where(StudyRun.study_id == study.id)
    largest = {row[0]: row[1] for row in session.execute(query.group_by(StudyRun.point))}
    for number in numbers:
        first = largest[number] + 1
        if first + count - 1 > MAX_SEED:
            raise Invalid(FieldError(field="seeds", message=f"the largest seed is {MAX_SEED:,}"))
        add_seeds(session, study, number, [*range(first, first + count)])
