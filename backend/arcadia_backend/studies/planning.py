"""The plan of a study: its points, their seeds, its number of runs, and its cost with limits."""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import islice

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from arcadia_backend.configuration import queue_for
from arcadia_backend.database.columns import utc_now
from arcadia_backend.database.tables import Study, StudyPoint, StudyRun
from arcadia_backend.errors import FieldError, Invalid
from arcadia_backend.runs.forecast import seconds_before_training
from arcadia_backend.runs.history import RunKind, kind_label, measure, startup_seconds
from arcadia_backend.studies import points
from arcadia_backend.studies.points import Draw, point_config, random_draws
from arcadia_backend.studies.specification import MAX_SEED, Seeds, Specification
from arcadia_backend.workers import open_workers
from arcadia_workers.contract.config import RunConfig
from arcadia_workers.contract.worker_api import WORKERS

# Points in the sample that the cost is estimated from.
MAX_SAMPLED_POINTS = 200
# Default for the time that a run holds a worker before and after its training.
DEFAULT_OVERHEAD_SECONDS = 15.0


@dataclass(frozen=True)
class Cost:
    """Cost of all runs. `seconds` is elapsed time, or None if some kind of run was never measured here."""

    points: int
    runs: int
    steps: int
    seconds: float | None
    concurrent_runs: int
    # Labels of run kinds that have not trained here yet.
    unmeasured: list[str]
    # Labels of run kinds whose rate is taken from similar environments.
    estimated: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        time = "" if self.seconds is None else f" and about {_duration(self.seconds)}"
        return f"{self.runs:,} runs with {self.steps:,} steps{time}"


def estimate_cost(session: Session, spec: Specification, draws: Sequence[Draw], points: int) -> Cost:
    """Estimate the largest cost of this number of points from a sample of them."""
    sample = draws[:: max(1, len(draws) // MAX_SAMPLED_POINTS)]
    configs = [point_config(spec, draw, spec.seeds[0]) for draw in sample]
    runs = points * spec.seed_limit
    steps: Counter[RunKind] = Counter()
    for config in configs:
        steps[config.algorithm, config.env] += config.total_steps
    measured = {(algorithm, env): measure(session, algorithm, env) for algorithm, env in steps}
    rates = {kind: each.steps_per_second for kind, each in measured.items() if each}
    concurrent = _concurrent_runs(session, spec, configs)
    seconds = None
    if len(rates) == len(steps):
        overheads = {algorithm: _overhead(session, algorithm) for algorithm, _ in steps}
        training = sum(count / rates[kind] for kind, count in steps.items())
        overhead = sum(seconds_before_training(config) + overheads[config.algorithm] for config in configs)
        seconds = (training + overhead) * runs / len(configs) / concurrent
    unmeasured = [kind_label(kind) for kind, each in measured.items() if each is None]
    estimated = [kind_label(kind) for kind, each in measured.items() if each and not each.is_exact]
    return Cost(points, runs, steps.total() * runs // len(configs), seconds, concurrent, unmeasured, estimated)


def _overhead(session: Session, algorithm: str) -> float:
    seconds = startup_seconds(session, algorithm)
    return DEFAULT_OVERHEAD_SECONDS if seconds is None else seconds


def _concurrent_runs(session: Session, spec: Specification, configs: Iterable[RunConfig]) -> int:
    """Return how many runs can train concurrently, limited by the connected workers of their queues."""
    if spec.executor not in (None, WORKERS):
        return spec.max_concurrent_runs
    queues = {queue_for(config) for config in configs}
    here = [worker for worker in open_workers(session, utc_now()) if worker.queue in queues]
    return max(1, min(spec.max_concurrent_runs, len(here)))


def _duration(seconds: float) -> str:
    if seconds < 5_400:
        return f"{max(1, round(seconds / 60)):,} min"
    return f"{seconds / 3_600:,.1f} h" if seconds < 360_000 else f"{seconds / 86_400:,.0f} days"


MAX_STUDY_SECONDS = 366 * 86_400.0
# The total of steps must be confirmed above these limits, or if the duration is unknown.
CONFIRM_ABOVE_SECONDS = 86_400.0
CONFIRM_ABOVE_STEPS = 1_000_000_000
# More steps are rejected while the duration is unknown.
MAX_UNMEASURED_STEPS = 10_000_000_000
# Run kinds listed in a message.
MAX_LISTED_KINDS = 3


def confirmation_reason(steps: int, seconds: float | None, unmeasured: Sequence[str]) -> str | None:
    """Return why the total of steps must be confirmed, or None."""
    if seconds is None:
        return f"the duration is unknown: {name_kinds(unmeasured)} has not trained here yet"
    if steps > CONFIRM_ABOVE_STEPS:
        return f"that is more than {CONFIRM_ABOVE_STEPS:,} steps"
    if seconds > CONFIRM_ABOVE_SECONDS:
        return f"that takes about {seconds / 86_400:,.1f} days"
    return None


def cost_refusal(steps: int, seconds: float, unmeasured: Sequence[str], *, measure: str, reduce: str) -> str | None:
    """Return why a cost is rejected even if confirmed, or None.

    `measure` and `reduce` are parts of the message: how to measure the duration, and how to reduce the cost.
    """
    if seconds > MAX_STUDY_SECONDS:
        years = seconds / (365.25 * 86_400)
        return f"that would take about {years:,.1f} years at the rate measured here: {reduce}"
    if unmeasured and steps > MAX_UNMEASURED_STEPS:
        return (
            f"{steps:,} steps are too many while the duration is unknown: {measure} "
            f"{name_kinds(unmeasured)} first, or {reduce}"
        )
    return None


def require_confirmation(runs: int, steps: int, confirm: str | None, confirmed_steps: int | None) -> None:
    """Raise Invalid if the total of steps must be confirmed and is not, or if the confirmed total differs."""
    total = f"{'1 run trains' if runs == 1 else f'{runs:,} runs train'} {steps:,} steps"
    if confirmed_steps is not None and confirmed_steps != steps:
        message = f"{total}, not {confirmed_steps:,}: send {steps}"
        raise Invalid(FieldError(field="confirm_steps", message=message))
    if confirm and confirmed_steps is None:
        message = f'{total}, and {confirm}; send "confirm_steps": {steps} to start them'
        raise Invalid(FieldError(field="confirm_steps", message=message))


def name_kinds(kinds: Sequence[str]) -> str:
    """List the first run kinds, and the number of the others."""
    more = len(kinds) - MAX_LISTED_KINDS
    return ", ".join(kinds[:MAX_LISTED_KINDS]) + (f" and {more:,} more" if more > 0 else "")


def initial_draws(spec: Specification, limit: int) -> list[Draw]:
    """Return the first points of a study, at most `limit`."""
    if spec.sampler == "grid":
        return [*islice(points.grid(spec), limit)]
    count = spec.point_count
    if spec.sampler == "tpe":
        # Draw only the points that train first. TPE draws the others from their results.
        count = min(count, math.ceil(spec.max_concurrent_runs / len(spec.seeds)))
    return random_draws(spec, 0, min(count, limit))


def validate_and_price(
    session: Session, spec: Specification, max_runs: int
) -> tuple[list[Draw], Cost, FieldError | None]:
    """Validate a specification. Return its first points, its cost, and why the cost is rejected, or None."""
    points.validate(spec)
    draws = initial_draws(spec, max_runs)
    for draw in draws:
        points.validate_draw(spec, draw)
    cost = estimate_cost(session, spec, draws, spec.point_count)
    return draws, cost, _rejection(spec, cost, max_runs)


def confirmed_draws(session: Session, spec: Specification, max_runs: int, confirmed_steps: int | None) -> list[Draw]:
    """Return the first points of a study. Raise Invalid if its cost is rejected or not confirmed as required."""
    draws, cost, rejection = validate_and_price(session, spec, max_runs)
    if rejection is not None:
        raise Invalid(rejection)
    require_confirmation(
        cost.runs, cost.steps, confirmation_reason(cost.steps, cost.seconds, cost.unmeasured), confirmed_steps
    )
    return draws


def _rejection(spec: Specification, cost: Cost, max_runs: int) -> FieldError | None:
    """Return why the cost of a study is rejected, at the field that makes it too large, or None."""
    if cost.runs <= max_runs:
        smaller = "use fewer values, points, seeds or steps"
        seconds = cost.seconds or 0.0
        message = cost_refusal(cost.steps, seconds, cost.unmeasured, measure="launch a run of", reduce=smaller)
        return FieldError(field="total_steps", message=message) if message else None
    if spec.sampler != "grid":
        field = "points"
    elif spec.point_count > spec.seed_limit:
        field = "axes"
    else:
        field = "seeds" if spec.until is None else "max_seeds"
    total = f"{cost.points:,} points × {spec.seed_limit:,} seeds are {cost}"
    limit = f"a study may have {max_runs:,} runs (ARCADIA_MAX_STUDY_RUNS): use fewer values, points or seeds"
    return FieldError(field=field, message=f"{total}; {limit}")


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
