"""Cost of an item's parts at a share of their budget, and its limits."""

from collections.abc import Sequence
from itertools import islice

from sqlalchemy.orm import Session

from backend.papers import schemas
from backend.papers.definition import StudyPart
from backend.studies.cost import estimate_cost
from backend.studies.cost_limits import confirmation_reason, cost_refusal
from backend.studies.points import Draw, grid, point_config
from backend.studies.specification import Specification
from workers.contract.config import RunConfig

# Points of a grid that the estimate is based on.
SAMPLED_POINTS = 60


def part_cost(session: Session, part: StudyPart, share: float) -> schemas.PartCost:
    """Return the cost of a study of the part."""
    specification = part.at(share)
    found = estimate_cost(session, specification, _sample(specification), specification.point_count)
    frames = point_config(specification, _sample(specification)[0], specification.seeds[0]).environment.frames_per_step
    return schemas.PartCost(
        runs=found.runs,
        steps=found.steps,
        frames=found.steps * frames,
        seconds=found.seconds,
        concurrent_runs=found.concurrent_runs,
        unmeasured=found.unmeasured,
        estimated=found.estimated,
    )


def configs_of(part: StudyPart) -> list[RunConfig]:
    """Return a sample of the part's configurations, with every kind of run."""
    return [point_config(part.specification, draw, part.specification.seeds[0]) for draw in _sample(part.specification)]


def _sample(specification: Specification) -> list[Draw]:
    """Return a sample of points. Points with random numbers all cost the same, so one is enough."""
    if specification.sampler != "grid":
        return [[axis.bounds[0] for axis in specification.axes]]
    return [*islice(grid(specification), 0, None, max(1, specification.point_count // SAMPLED_POINTS))]


def preview(session: Session, parts: Sequence[StudyPart], share: float, max_runs: int) -> schemas.PaperPreview:
    """Return the cost of these parts one after the other, and why they are refused or must be confirmed."""
    costs = [part_cost(session, part, share) for part in parts]
    known = [cost.seconds for cost in costs if cost.seconds is not None]
    runs, steps = sum(cost.runs for cost in costs), sum(cost.steps for cost in costs)
    seconds = sum(known) if len(known) == len(costs) else None
    unmeasured = [*dict.fromkeys(kind for cost in costs for kind in cost.unmeasured)]
    return schemas.PaperPreview(
        studies=len(parts),
        runs=runs,
        steps=steps,
        frames=sum(cost.frames for cost in costs),
        seconds=seconds,
        concurrent_runs=max(cost.concurrent_runs for cost in costs),
        unmeasured=unmeasured,
        estimated=[*dict.fromkeys(kind for cost in costs for kind in cost.estimated)],
        confirm=confirmation_reason(steps, seconds, unmeasured),
        too_short=_why_too_short(parts, share),
        refused=_why_refused(runs, steps, sum(known), unmeasured, max_runs),
    )


def _why_too_short(parts: Sequence[StudyPart], share: float) -> str | None:
    """Return which part has too few steps to show anything, and the share that has enough."""
    for part in parts:
        steps, enough = part.at(share).total_steps or 0, part.needed_steps
        if steps < enough and share < part.suggested_share:
            return (
                f"{part.title}: {steps:,} steps per run are too few to show anything. "
                f"Use {part.suggested_share:.0%} of the budget"
            )
    return None


def _why_refused(runs: int, steps: int, seconds: float, unmeasured: Sequence[str], max_runs: int) -> str | None:
    if runs > max_runs:
        return f"{runs:,} runs exceed the limit of {max_runs:,} (ARCADIA_MAX_STUDY_RUNS): choose fewer parts"
    smaller = "choose a smaller share or fewer parts"
    return cost_refusal(steps, seconds, unmeasured, measure="measure the duration of", reduce=smaller)
