"""API schemas of papers, tables and figures, filled from their definitions and started studies."""

from collections.abc import Sequence
from itertools import islice

from sqlalchemy.orm import Session

from backend.papers import schemas, service
from backend.papers.cost import part_cost
from backend.papers.definition import Item, Paper, StartedStudy, StudyPart
from backend.papers.speeds import speeds
from backend.runs.names import field_titles
from backend.studies.points import grid, point_config, point_values
from backend.studies.queries import to_summaries
from workers.contract.games import ENVIRONMENTS
from workers.contract.presets.stated import Stated, stated_for

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
    found = service.find_started(session, paper, item)
    return schemas.PaperItem(
        **_summary(item, len(found)).model_dump(),
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
        started=started(session, found),
        panels=_panels(session, item, found),
        table=_table(session, item),
        diagrams=[diagram.name for diagram in item.diagrams],
        speeds=speeds(session, service.every_newest(found)),
        height=item.height,
    )


def _table(session: Session, item: Item) -> schemas.ItemTable | None:
    if item.table is None:
        return None
    found = item.table(session)
    return schemas.ItemTable(
        title=found.title, columns=[*found.columns], rows=[[*row] for row in found.rows], note=found.note
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


def started(session: Session, found: Sequence[StartedStudy]) -> list[schemas.PaperStudy]:
    """Return the studies with their part and share."""
    summarized = to_summaries(session, [each.study for each in found])
    return [
        schemas.PaperStudy(**summary.model_dump(), part=each.part.title, share=each.share)
        for summary, each in zip(summarized, found, strict=True)
    ]


def _panels(session: Session, item: Item, started: Sequence[StartedStudy]) -> list[schemas.Panel]:
    """Return the figures that can be drawn, largest budgets first."""
    if item.draw is None:
        return []
    if item.panels == "best":
        return [schemas.Panel(title=item.title, part=None, share=None, caption=OF_ANY_RUN)]
    shares = sorted({each.share for each in started}, reverse=True)
    found = []
    for share in shares:
        drawn = service.newest(started, share)
        if item.panels == "together":
            found.append(_panel(session, item.title, None, share, drawn))
        else:
            found += [_panel(session, each.part.title, each.part.name, share, [each]) for each in drawn]
    if not found and (item.panels == "together" and (item.published or not item.parts)):
        caption = "Only the paper's numbers. No study has been started here."
        found.append(schemas.Panel(title=item.title, part=None, share=None, caption=caption))
    return found


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
