"""Papers, tables and figures as the API shows them."""

from collections.abc import Sequence
from itertools import islice

from sqlalchemy.orm import Session

from backend.papers import schemas, service
from backend.papers.cost import part_cost
from backend.papers.definition import Item, Paper, Part, Started
from backend.papers.speeds import speeds
from backend.runs.names import field_titles
from backend.studies.points import grid, point_config, point_values
from backend.studies.queries import to_summaries
from workers.contract.games import ENVIRONMENTS
from workers.contract.presets.stated import Stated, stated_for

# Points of a grid that are looked through for the presets that it moves.
MOST_POINTS = 1_000
OF_ANY_RUN = "Ours: the best score that any run here has by this protocol, however long it was trained."


def paper_summary(paper: Paper, counted: dict[tuple[str, str], int]) -> schemas.PaperSummary:
    """A paper with its list."""
    return schemas.PaperSummary(
        name=paper.name,
        title=paper.title,
        full_title=paper.full_title,
        authors=paper.authors,
        year=paper.year,
        shows=paper.shows,
        items=[_summary(item, counted.get((paper.name, item.home), 0)) for item in paper.items],
    )


def shown(session: Session, paper: Paper, item: Item) -> schemas.PaperItem:
    """An item with what was started from it."""
    found = service.started_from(session, paper, item)
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
        instead=_instead(item),
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


def _instead(item: Item) -> schemas.ItemInstead | None:
    if item.instead is None:
        return None
    env = item.instead.env
    return schemas.ItemInstead(env=env, title=ENVIRONMENTS[env].title, why=item.instead.why)


def _summary(item: Item, studies: int) -> schemas.ItemSummary:
    own = [part for part in item.parts if not part.stands_in]
    return schemas.ItemSummary(
        name=item.name,
        label=item.label,
        title=item.title,
        runs=sum(part.asked.run_count for part in own),
        frames=sum(_frames(part) for part in own),
        studies=studies,
        cannot=item.cannot,
    )


def _frames(part: Part) -> int:
    asked = part.asked
    first = point_config(asked, [0 if axis.values else axis.bounds[0] for axis in asked.axes], asked.seeds[0])
    return asked.run_count * first.total_steps * first.environment.frames_per_step


def _settings(item: Item) -> list[schemas.StatedSetting]:
    """What the presets of an item's own parts state; a row that holds for some of them alone names these."""
    presets = [*dict.fromkeys(preset for part in item.parts if not part.stands_in for preset in _presets(part))]
    rows: dict[Stated, list[str]] = {}
    for preset in presets:
        for row in stated_for(preset):
            if row.differs or row.why:
                rows.setdefault(row, []).append(preset)
    moved = {field for part in item.parts for axis in part.asked.axes for field in axis.fields}
    # What the item itself sets is told by its differences and its parts.
    moved |= {"total_steps", *(field for part in item.parts for field in part.asked.changes)}
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
        if row.field not in moved
    ]


def _presets(part: Part) -> list[str]:
    if part.asked.preset:
        return [part.asked.preset]
    draws = islice(grid(part.asked), MOST_POINTS)
    return [*dict.fromkeys(str(point_values(part.asked, draw)["preset"]) for draw in draws)]


def _part(session: Session, part: Part) -> schemas.ItemPart:
    return schemas.ItemPart(
        name=part.name,
        title=part.title,
        stands_in=part.stands_in,
        cost=part_cost(session, part, 1.0),
        suggested_share=part.suggested_share,
    )


def started(session: Session, found: Sequence[Started]) -> list[schemas.PaperStudy]:
    """Studies with the part and the share that they were started from."""
    told = to_summaries(session, [each.study for each in found])
    return [
        schemas.PaperStudy(**summary.model_dump(), part=each.part.title, share=each.share)
        for summary, each in zip(told, found, strict=True)
    ]


def _panels(session: Session, item: Item, started: Sequence[Started]) -> list[schemas.Panel]:
    """Figures that can be drawn: the largest budgets first."""
    if item.draw is None:
        return []
    if item.panels == "best":
        return [schemas.Panel(title=item.title, part=None, share=None, told=OF_ANY_RUN)]
    shares = sorted({each.share for each in started}, reverse=True)
    found = []
    for share in shares:
        drawn = service.newest(started, share)
        if item.panels == "together":
            found.append(_panel(session, item.title, None, share, drawn))
        else:
            found += [_panel(session, each.part.title, each.part.name, share, [each]) for each in drawn]
    if not found and (item.panels == "together" and (item.published or not item.parts)):
        told = "The paper's numbers alone: nothing of ours has been started."
        found.append(schemas.Panel(title=item.title, part=None, share=None, told=told))
    return found


def _panel(session: Session, title: str, part: str | None, share: float, drawn: Sequence[Started]) -> schemas.Panel:
    runs = [summary.runs for summary in to_summaries(session, [each.study for each in drawn])]
    finished = sum(counted.finished for counted in runs)
    total = sum(sum(counted.model_dump().values()) for counted in runs)
    steps = {(each.part.at(share).total_steps, each.part.asked.total_steps) for each in drawn}
    budget = " and ".join(f"{some:,} of {every:,}" for some, every in sorted(steps, key=str))
    told = f"Ours at {share:.0%} of the budget: {budget} steps a run. {finished:,} of {total:,} runs have finished."
    return schemas.Panel(title=title, part=part, share=share, told=told)
