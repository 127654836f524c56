"""What the papers and their code state for each field of a preset that is named after them: stated.csv, read.

A preset of a program that belongs to no paper has an empty column for the paper.
"""

import csv
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path

from pydantic import JsonValue

TABLE = Path(__file__).with_name("stated.csv")


@dataclass(frozen=True)
class Stated:
    """One field of one preset; an empty word means that paper or code does not say, or was not looked at."""

    field: str
    paper: str
    code: str
    ours: str
    why: str

    @property
    def differs(self) -> bool:
        """Whether the paper or the code says something else than the preset."""
        return any(said not in ("", self.ours) for said in (self.paper, self.code))


@cache
def _rows() -> tuple[tuple[tuple[str, ...], Stated], ...]:
    with TABLE.open(encoding="utf-8", newline="") as table:
        return tuple((tuple(row.pop("presets").split()), Stated(**row)) for row in csv.DictReader(table))


def stated_for(preset: str) -> list[Stated]:
    """Return the rows of a preset; those that are tuned here have none."""
    return [row for names, row in _rows() if any(fnmatchcase(preset, name) for name in names)]


def written(value: JsonValue) -> str:
    """Write a field's value as the table does."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(map(written, value))
    if isinstance(value, float) and not value.is_integer():
        return f"{value:.12f}".rstrip("0")
    return f"{value:,.0f}" if isinstance(value, int | float) else str(value)
