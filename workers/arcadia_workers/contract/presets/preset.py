"""A named configuration that a run starts from, and which of its values a paper states."""

import csv
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Literal

from pydantic import JsonValue

from arcadia_workers.contract.config import RunConfig

# 4 M frames of Atari, the epoch of the papers' charts. The papers state no other interval between evaluations.
EPOCH_STEPS = 1_000_000

Origin = Literal["paper", "code", "tuned"]


@dataclass(frozen=True)
class Preset:
    """A named, complete configuration with what it shows and the source of its numbers."""

    name: str
    title: str
    shows: str
    source: str
    config: RunConfig
    # Where its settings are from: a paper, published code, or experiments with Arcadia.
    origin: Origin = "tuned"


TABLE = Path(__file__).with_name("stated.csv")


@dataclass(frozen=True)
class Stated:
    """One field of a preset. An empty text means that the paper or code does not state it, or was not checked."""

    field: str
    paper: str
    code: str
    ours: str
    why: str

    @property
    def differs(self) -> bool:
        """True if the paper or the code states another value than the preset."""
        return any(said not in ("", self.ours) for said in (self.paper, self.code))


@cache
def _rows() -> tuple[tuple[tuple[str, ...], Stated], ...]:
    with TABLE.open(encoding="utf-8", newline="") as table:
        return tuple((tuple(row.pop("presets").split()), Stated(**row)) for row in csv.DictReader(table))


def stated_for(preset: str) -> list[Stated]:
    """Return the rows of a preset. Presets that are tuned here have none."""
    return [row for names, row in _rows() if any(fnmatchcase(preset, name) for name in names)]


def written(value: JsonValue) -> str:
    """Return a field's value in the format of the table."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(map(written, value))
    if isinstance(value, float) and not value.is_integer():
        return f"{value:.12f}".rstrip("0")
    return f"{value:,.0f}" if isinstance(value, int | float) else str(value)
