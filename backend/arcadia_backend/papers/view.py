"""API schemas of papers, tables and figures, filled from their definitions and started studies, with their cost."""

from collections.abc import Sequence
from itertools import islice

from sqlalchemy.orm import Session

from arcadia_backend.papers import schemas, service
from arcadia_backend.papers.definition import Item, Paper, StartedStudy, StudyPart
from arcadia_backend.papers.measured import speeds
from arcadia_backend.runs.names import field_titles
from arcadia_backend.studies.planning import confirmation_reason, cost_refusal, estimate_cost
from arcadia_backend.studies.points import Draw, grid, point_config, point_values
from arcadia_backend.studies.queries import to_summaries
from arcadia_backend.studies.specification import Specification
from arcadia_workers.contract.config import RunConfig
from arcadia_workers.contract.games import ENVIRONMENTS
from arcadia_workers.contract.presets.preset import Stated, stated_for

# Points of a grid that the estimate is based on.
SAMPLED_POINTS = 60


def part_cost(session: Session, part: StudyPart, share: float) -> schemas.PartCost:
    """Return the cost of a study of the part."""
    specification = part.at(share)
    cost = estimate_cost(session, specification, _sample(specification), specification.point_count)
    frames = point_config(specification, _sample(specification)[0], specification.seeds[0]).environment.frames_per_step
    return schemas.PartCost(
        runs=cost.runs,
        steps=cost.steps,
        frames=cost.steps * frames,
        seconds=cost.seconds,
        concurrent_runs=cost.concurrent_runs,
        unmeasured=cost.unmeasured,
        estimated=cost.estimated,
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


# Points of a grid to search for the presets that it uses.
MAX_POINTS = 1_000
OF_ANY_RUN = "Ours is the mean of all runs of a method here by this protocol, for any training length."


def paper_summary(paper: Paper, counted: dict[tuple[str, str], int]) -> schemas.PaperSummary:
    """Return a paper with its items."""
    return schemas.PaperSummary(
        name=paper.name,
        title=paper.title,
        full_title=paper.full_title,
        authors=paper.authors,
        year=paper.year,
        shows=paper.shows,
        items=[_summary(item, counted.get((paper.name, item.home), 0)) for item in paper.items],
    )


def paper_item(session: Session, paper: Paper, item: Item) -> schemas.PaperItem:
    """Return an item with the studies started from it."""
    started_studies = service.find_started(session, paper, item)
    return schemas.PaperItem(
        **_summary(item, len(started_studies)).model_dump(),
        paper=paper.name,
        paper_title=paper.title,
        theirs=item.theirs,
        ours=item.ours,
        measures=item.measures,
        differs=[schemas.ItemDifference(**vars(each)) for each in item.differs],
        settings=_settings(item),
        published=[schemas.PublishedNumber(**vars(each)) for each in item.published],
        unpublished=item.unpublished,
        substitute=_substitute(item),
        parts=[_part(session, part) for part in item.parts],
        started=started(session, started_studies),
        panels=_panels(session, item, started_studies),
        table=_table(session, item),
        diagrams=[diagram.name for diagram in item.diagrams],
        speeds=speeds(session, service.every_newest(started_studies)),
        height=item.height,
    )


def _table(session: Session, item: Item) -> schemas.ItemTable | None:
    if item.table is None:
        return None
    table = item.table(session)
    return schemas.ItemTable(
        title=table.title, columns=[*table.columns], rows=[[*row] for row in table.rows], note=table.note
    )


def _substitute(item: Item) -> schemas.ItemSubstitute | None:
    if item.substitute is None:
        return None
    env = item.substitute.env
    return schemas.ItemSubstitute(env=env, title=ENVIRONMENTS[env].title, why=item.substitute.why)


def _summary(item: Item, studies: int) -> schemas.ItemSummary:
    own = [part for part in item.parts if not part.stands_in]
    return schemas.ItemSummary(
        name=item.name,
        label=item.label,
        title=item.title,
        runs=sum(part.specification.run_count for part in own),
        frames=sum(_frames(part) for part in own),
        studies=studies,
        unavailable_reason=item.unavailable_reason,
    )


def _frames(part: StudyPart) -> int:
    asked = part.specification
    first = point_config(asked, [0 if axis.values else axis.bounds[0] for axis in asked.axes], asked.seeds[0])
    return asked.run_count * first.total_steps * first.environment.frames_per_step


def _settings(item: Item) -> list[schemas.StatedSetting]:
    """Return the fields whose values the paper states differently, for the presets of the item's own parts.

    A row that applies to only some presets names them.
    """
    presets = [*dict.fromkeys(preset for part in item.parts if not part.stands_in for preset in _presets(part))]
    rows: dict[Stated, list[str]] = {}
    for preset in presets:
        for row in stated_for(preset):
            if row.differs or row.why:
                rows.setdefault(row, []).append(preset)
    varied = {field for part in item.parts for axis in part.specification.axes for field in axis.fields}
    # The item's differences and parts describe the fields that the item itself sets.
    varied |= {"total_steps", *(field for part in item.parts for field in part.specification.changes)}
    titles = field_titles()
    return [
        schemas.StatedSetting(
            field=titles.get(row.field, row.field) + ("" if of == presets else f" ({', '.join(of)})"),
            paper=row.paper,
            code=row.code,
            ours=row.ours,
            why=row.why,
        )
        for row, of in rows.items()
        if row.field not in varied
    ]


def _presets(part: StudyPart) -> list[str]:
    if part.specification.preset:
        return [part.specification.preset]
    draws = islice(grid(part.specification), MAX_POINTS)
    return [*dict.fromkeys(str(point_values(part.specification, draw)["preset"]) for draw in draws)]


def _part(session: Session, part: StudyPart) -> schemas.ItemPart:
    return schemas.ItemPart(
        name=part.name,
        title=part.title,
        stands_in=part.stands_in,
        cost=part_cost(session, part, 1.0),
        suggested_share=part.suggested_share,
    )


def started(session: Session, studies: Sequence[StartedStudy]) -> list[schemas.PaperStudy]:
    """Return the studies with their part and share."""
    summarized = to_summaries(session, [each.study for each in studies])
    return [
        schemas.PaperStudy(**summary.model_dump(), part=each.part.title, share=each.share)
        for summary, each in zip(summarized, studies, strict=True)
    ]


def _panels(session: Session, item: Item, started: Sequence[StartedStudy]) -> list[schemas.Panel]:
    """Return the figures that can be drawn, largest budgets first."""
    if item.draw is None:
        return []
    if item.panels == "best":
        return [schemas.Panel(title=item.title, part=None, share=None, caption=OF_ANY_RUN)]
    shares = sorted({each.share for each in started}, reverse=True)
    panels = []
    for share in shares:
        drawn = service.newest(started, share)
        if item.panels == "together":
            panels.append(_panel(session, item.title, None, share, drawn))
        else:
            panels += [_panel(session, each.part.title, each.part.name, share, [each]) for each in drawn]
    if not panels and (item.panels == "together" and (item.published or not item.parts)):
        caption = "Only the paper's numbers. No study has been started here."
        panels.append(schemas.Panel(title=item.title, part=None, share=None, caption=caption))
    return panels


def _panel(
    session: Session, title: str, part: str | None, share: float, drawn: Sequence[StartedStudy]
) -> schemas.Panel:
    runs = [summary.runs for summary in to_summaries(session, [each.study for each in drawn])]
    finished = sum(counted.finished for counted in runs)
    total = sum(sum(counted.model_dump().values()) for counted in runs)
    steps = {(each.part.at(share).total_steps, each.part.specification.total_steps) for each in drawn}
    budget = " and ".join(f"{some:,} of {every:,}" for some, every in sorted(steps, key=str))
    caption = (
        f"Ours at {share:.0%} of the budget: {budget} steps per run. {finished:,} of {total:,} runs have finished."
    )
    return schemas.Panel(title=title, part=part, share=share, caption=caption)
