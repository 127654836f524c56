"""Every paper that has a folder here, and its tables and figures by their names in addresses."""

import pkgutil
from importlib import import_module

from backend import papers
from backend.errors import NotFound
from backend.papers.definition import Item, Paper, Part


def every_paper() -> list[Paper]:
    """The papers by year, then by name."""
    folders = [module.name for module in pkgutil.iter_modules(papers.__path__) if module.ispkg]
    found: list[Paper] = [import_module(f"backend.papers.{name}").PAPER for name in folders]
    return sorted(found, key=lambda paper: (paper.year, paper.name))


def find_paper(name: str) -> Paper:
    """The paper, or a problem that says which there are."""
    there = {paper.name: paper for paper in every_paper()}
    if name not in there:
        raise NotFound(f"There is no paper {name[:80]!r}. There are {', '.join(there)}.")
    return there[name]


def find_item(paper: Paper, name: str) -> Item:
    """The table or figure, or a problem that says which the paper has."""
    there = {item.name: item for item in paper.items}
    if name not in there:
        raise NotFound(f"{paper.title} has no {name[:80]!r}. It has {', '.join(there)}.")
    return there[name]


def find_part(item: Item, name: str) -> Part | None:
    """The part, if the item still has it."""
    return next((part for part in item.parts if part.name == name), None)
