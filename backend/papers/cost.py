"""What parts of an item take at a share of their budget, and when that is too much."""

from collections.abc import Sequence
from itertools import islice

from sqlalchemy.orm import Session

from backend.papers import schemas
from backend.papers.definition import Part
from backend.studies import cost as studies
from backend.studies.points import Draw, config_at, grid
from backend.studies.specification import Specification

# Who waits longer than this has asked for something else.
MOST_SECONDS = 366 * 86_400.0
# Points that stand for all of a grid.
LOOKED_AT = 60


def part_cost(session: Session, part: Part, share: float) -> schemas.PartCost:
    """What a study of the part takes."""
    asked = part.at(share)
    found = studies.cost(session, asked, _some(asked), asked.point_count)
    frames = config_at(asked, _some(asked)[0], asked.seeds[0]).environment.frames_per_step
    return schemas.PartCost(
        runs=found.runs,
        steps=found.steps,
        frames=found.steps * frames,
        seconds=found.seconds,
        places=found.places,
        unmeasured=found.unmeasured,
    )


def _some(asked: Specification) -> list[Draw]:
    """Points of every kind that there is; numbers that are drawn cost alike."""
    if asked.sampler != "grid":
        return [[axis.bounds[0] for axis in asked.axes]]
    return [*islice(grid(asked), 0, None, max(1, asked.point_count // LOOKED_AT))]


def together(session: Session, parts: Sequence[Part], share: float, most_runs: int) -> schemas.PaperPreview:
    """What all these take, one after the other, and why they are refused if they are."""
    costs = [part_cost(session, part, share) for part in parts]
    known = [cost.seconds for cost in costs if cost.seconds is not None]
    runs, seconds = sum(cost.runs for cost in costs), sum(known) if len(known) == len(costs) else None
    return schemas.PaperPreview(
        studies=len(parts),
        runs=runs,
        steps=sum(cost.steps for cost in costs),
        frames=sum(cost.frames for cost in costs),
        seconds=seconds,
        places=max(cost.places for cost in costs),
        unmeasured=[*dict.fromkeys(kind for cost in costs for kind in cost.unmeasured)],
        refused=_refusal(runs, sum(known), most_runs),
    )


def _refusal(runs: int, seconds: float, most_runs: int) -> str | None:
    if runs > most_runs:
        return f"these are {runs:,} runs; at most {most_runs:,} (ARCADIA_MAX_STUDY_RUNS): choose fewer parts"
    if seconds > MOST_SECONDS:
        years = seconds / (365.25 * 86_400)
        return (
            f"that would take about {years:,.1f} years at the rate measured here: choose a smaller share or fewer parts"
        )
    return None
