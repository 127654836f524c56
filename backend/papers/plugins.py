"""Papers of plug-ins."""

import re
from collections.abc import Iterator

from backend.papers.catalog import ADDED, built_in_names
from backend.papers.definition import Paper
from workers.contract.plugins.discovery import PAPERS
from workers.contract.plugins.groups import Group

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
