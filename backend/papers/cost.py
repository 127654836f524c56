"""What parts of an item take at a share of their budget, and when that is too much."""

from collections.abc import Sequence
from itertools import islice

from sqlalchemy.orm import Session

from backend.papers import schemas
from backend.papers.definition import Part
from backend.studies.cost import estimate_cost
from backend.studies.cost_limits import confirmation_reason, cost_refusal
from backend.studies.points import Draw, grid, point_config
from backend.studies.specification import Specification
from workers.contract.config import RunConfig

# Points that stand for all of a grid.
LOOKED_AT = 60


def part_cost(session: Session, part: Part, share: float) -> schemas.PartCost:
    """What a study of the part takes."""
    asked = part.at(share)
    found = estimate_cost(session, asked, _some(asked), asked.point_count)
    frames = point_config(asked, _some(asked)[0], asked.seeds[0]).environment.frames_per_step
    return schemas.PartCost(
        runs=found.runs,
        steps=found.steps,
        frames=found.steps * frames,
        seconds=found.seconds,
        concurrent_runs=found.concurrent_runs,
        unmeasured=found.unmeasured,
        estimated=found.estimated,
    )


def configs_of(part: Part) -> list[RunConfig]:
    """Return configurations of every kind that the part has."""
    return [point_config(part.asked, draw, part.asked.seeds[0]) for draw in _some(part.asked)]


def _some(asked: Specification) -> list[Draw]:
    """Points of every kind that there is; numbers that are drawn cost alike."""
    if asked.sampler != "grid":
        return [[axis.bounds[0] for axis in asked.axes]]
    return [*islice(grid(asked), 0, None, max(1, asked.point_count // LOOKED_AT))]


def together(session: Session, parts: Sequence[Part], share: float, most_runs: int) -> schemas.PaperPreview:
    """What all these take, one after the other, and why they are refused if they are."""
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
        too_short=_too_short(parts, share),
        refused=_refusal(runs, steps, sum(known), unmeasured, most_runs),
    )


def _too_short(parts: Sequence[Part], share: float) -> str | None:
    """Say which parts would show nothing, and what share would."""
    for part in parts:
        steps, enough = part.at(share).total_steps or 0, part.needed_steps
        if steps < enough and share < part.suggested_share:
            return (
                f"{steps:,} steps a run are too few to show anything ({part.title}): "
                f"run it at {part.suggested_share:.0%} of its budget"
            )
    return None


def _refusal(runs: int, steps: int, seconds: float, unmeasured: Sequence[str], most_runs: int) -> str | None:
    if runs > most_runs:
        return f"these are {runs:,} runs; at most {most_runs:,} (ARCADIA_MAX_STUDY_RUNS): choose fewer parts"
    smaller = "choose a smaller share or fewer parts"
    return cost_refusal(steps, seconds, unmeasured, measure="measure the duration of", reduce=smaller)
