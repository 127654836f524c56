"""Lookup of papers, items and parts by their names in URLs."""

import pkgutil
from importlib import import_module

from backend import papers
from backend.errors import NotFound
from backend.papers.definition import Item, Paper, StudyPart

# Papers of plug-ins by name.
ADDED: dict[str, Paper] = {}


def built_in_names() -> list[str]:
    """Return the names of Arcadia's own papers."""
    return [module.name for module in pkgutil.iter_modules(papers.__path__) if module.ispkg]


def every_paper() -> list[Paper]:
    """Return the papers by year, then by name."""
    found: list[Paper] = [import_module(f"backend.papers.{name}").PAPER for name in built_in_names()]
    return sorted([*found, *ADDED.values()], key=lambda paper: (paper.year, paper.name))


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
