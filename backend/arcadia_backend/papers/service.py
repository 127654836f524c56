"""The catalog of papers, and their studies: choose parts, start them, and find started ones."""

import pkgutil
import re
from collections.abc import Iterator, Sequence
from importlib import import_module

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from arcadia_backend import papers
from arcadia_backend.database.tables import PaperStudy, Study
from arcadia_backend.errors import Conflict, FieldError, Invalid, NotFound
from arcadia_backend.papers.definition import Item, Paper, StartedStudy, StudyPart
from arcadia_backend.papers.schemas import PaperPreview
from arcadia_backend.studies import planning
from arcadia_backend.studies import service as studies
from arcadia_backend.studies.points import Draw
from arcadia_workers.contract.plugins.discovery import PAPERS
from arcadia_workers.contract.plugins.loading import Group

# Papers of plug-ins by name.
ADDED: dict[str, Paper] = {}


def built_in_names() -> list[str]:
    """Return the names of Arcadia's own papers."""
    return [module.name for module in pkgutil.iter_modules(papers.__path__) if module.ispkg]


def every_paper() -> list[Paper]:
    """Return the papers by year, then by name."""
    papers: list[Paper] = [import_module(f"arcadia_backend.papers.{name}").PAPER for name in built_in_names()]
    return sorted([*papers, *ADDED.values()], key=lambda paper: (paper.year, paper.name))


def find_paper(name: str) -> Paper:
    """Return the paper. Raise NotFound, which lists the papers, if there is none."""
    known = {paper.name: paper for paper in every_paper()}
    if name not in known:
        raise NotFound(f"There is no paper {name[:80]!r}. Use one of {', '.join(known)}.")
    return known[name]


def find_item(paper: Paper, name: str) -> Item:
    """Return the table or figure. Raise NotFound, which lists the paper's items, if there is none."""
    known = {item.name: item for item in paper.items}
    if name not in known:
        raise NotFound(f"{paper.title} has no {name[:80]!r}. It has {', '.join(known)}.")
    return known[name]


def find_part(item: Item, name: str) -> StudyPart | None:
    """Return the part, or None if the item no longer has it."""
    return next((part for part in item.parts if part.name == name), None)


_NAME = re.compile(r"[a-z][a-z0-9-]{0,49}")


def _problems(paper: Paper) -> Iterator[str]:
    if not _NAME.fullmatch(paper.name):
        yield "its name must be lower-case letters, digits and dashes"
    if paper.name in built_in_names():
        yield "Arcadia itself already has this paper"
    if not (paper.title and paper.full_title and paper.authors and paper.shows):
        yield "it lacks a title, its authors or what it shows"


GROUP = Group(PAPERS, "paper", Paper, ADDED, lambda paper: paper.name, _problems)
# For the trial of packages.
REFERENCE = f"{__name__}:GROUP"


def choose_parts(item: Item, names: Sequence[str] | None) -> list[StudyPart]:
    """Return the requested parts. By default, return all parts of the paper itself."""
    if not item.parts:
        raise Conflict(item.unavailable_reason or f"There is no study to start from {item.in_sentence}.")
    if names is None:
        return [part for part in item.parts if not part.stands_in]
    there = {part.name: part for part in item.parts}
    if missing := [name for name in names if name not in there]:
        hover = f"{item.label} has no part {missing[0]!r}; it has {', '.join(there)}"
        raise Invalid(FieldError(field="parts", message=hover))
    return [part for part in item.parts if part.name in names]


def choose_named_parts(item: Item, names: Sequence[str] | None) -> list[StudyPart]:
    """Return the requested parts. Raise Invalid, which lists all parts, if the request names none."""
    if item.parts and names is None:
        there = ", ".join(part.name for part in item.parts)
        raise Invalid(FieldError(field="parts", message=f"name the parts to start: {item.label} has {there}"))
    return choose_parts(item, names)


def require_confirmation(preview: PaperPreview, confirmed_steps: int | None) -> None:
    """Raise a problem if the cost is refused, or must be confirmed and is not."""
    if preview.refused:
        raise Invalid(FieldError(field="parts", message=preview.refused))
    planning.require_confirmation(preview.runs, preview.steps, preview.confirm, confirmed_steps)


def start(
    session: Session,
    paper: Paper,
    item: Item,
    part: StudyPart,
    share: float,
    draws: Sequence[Draw],
    project: str | None = None,
) -> Study:
    """Start a study of a part. The caller queues its first runs."""
    name = f"{paper.title}, {item.in_sentence}: {part.title}, {share:.0%}"
    question = f"{item.title}. {item.ours}"
    spec = part.at(share).model_copy(update={"name": name, "question": question})
    study = studies.start(session, spec, draws, project)
    session.add(PaperStudy(study_id=study.id, paper=paper.name, item=item.home, part=part.name, share=share))
    session.flush()
    return study


def find_started(session: Session, paper: Paper, item: Item) -> list[StartedStudy]:
    """Return the studies that were started from an item, newest first."""
    query = (
        select(PaperStudy, Study)
        .join(Study, Study.id == PaperStudy.study_id)
        .where(PaperStudy.paper == paper.name, PaperStudy.item == item.home)
        .order_by(Study.id.desc())
    )
    rows = [(find_part(item, origin.part), origin.share, study) for origin, study in session.execute(query)]
    return [StartedStudy(part, share, study) for part, share, study in rows if part is not None]


def count_studies(session: Session) -> dict[tuple[str, str], int]:
    """Return the number of studies started from each item, by paper and item."""
    query = select(PaperStudy.paper, PaperStudy.item, func.count()).group_by(PaperStudy.paper, PaperStudy.item)
    return {(paper, item): count for paper, item, count in session.execute(query)}


def newest(started: Sequence[StartedStudy], share: float, part: str | None = None) -> list[StartedStudy]:
    """Return the newest study of each part at one share, so that results of different budgets never mix."""
    studies: dict[str, StartedStudy] = {}
    for each in started:
        if each.share == share and part in (None, each.part.name):
            studies.setdefault(each.part.name, each)
    return list(studies.values())


def every_newest(started: Sequence[StartedStudy]) -> list[StartedStudy]:
    """Return the newest study of each part at each share, largest shares first."""
    shares = sorted({each.share for each in started}, reverse=True)
    return [each for share in shares for each in newest(started, share)]
