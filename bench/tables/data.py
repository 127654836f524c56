"""Files of raw values in docs/results/data, with an index that names their origin."""

import csv
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

RESULTS = Path(__file__).parents[2] / "docs" / "results"
DATA = RESULTS / "data"
INDEX = "index.toml"
FAILED = "failed"

Cell = str | int | float | None
Row = Mapping[str, Cell]
Rows = Sequence[Row]
# The first row is the header.
Lines = list[list[str]]
Compute = Callable[..., Lines]


@dataclass(frozen=True)
class Table:
    """A table of a page: the files that it is computed from, and the function that computes it."""

    files: tuple[str, ...]
    compute: Compute

    def has_data(self, folder: Path = DATA) -> bool:
        """Return True if the files exist."""
        return all((folder / file).exists() for file in self.files)

    def lines(self, folder: Path = DATA) -> Lines:
        """Compute the table."""
        return self.compute(*(read_rows(folder / file) for file in self.files))


TABLES: dict[str, Table] = {}


def table(*files: str) -> Callable[[Compute], Compute]:
    """Register a function that computes a table from the rows of files. Its name is that of the table."""

    def register(compute: Compute) -> Compute:
        TABLES[compute.__name__] = Table(files, compute)
        return compute

    return register


@cache
def read_rows(path: Path) -> Rows:
    """Read a file of raw values. Numbers become numbers, and empty cells None."""
    with path.open(newline="") as file:
        return [{name: _cell(text) for name, text in row.items()} for row in csv.DictReader(file)]


def _cell(text: str) -> Cell:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text or None


@cache
def read_index(folder: Path = DATA) -> Mapping[str, Mapping[str, str]]:
    """Read the origin of each file: command, commit, date, machine, unit of its rows, note."""
    return tomllib.loads((folder / INDEX).read_text())


def origin(files: Sequence[str], folder: Path = DATA, link: str = "data") -> str:
    """Return the line that names the files of a table and their origin. `link` is the way to their folder."""
    return "Data: " + "; ".join(_origin(file, folder, link) for file in files) + "."


def _origin(file: str, folder: Path, link: str) -> str:
    entry, rows = read_index(folder)[file], read_rows(folder / file)
    parts = [f"[{file}]({link}/{file})", f"{len(rows)} {entry['unit']}"]
    if len(rows) == 1:
        parts[1] = parts[1].removesuffix("s")
    if "status" in rows[0]:
        seeds = sorted({int(str(row["seed"])) for row in rows})
        named = f"seed {seeds[0]}" if len(seeds) == 1 else f"seeds {seeds[0]} to {seeds[-1]}"
        parts += [named, f"{sum(row['status'] == FAILED for row in rows)} failed"]
    parts.append(f"commit {entry['commit']}")
    return ", ".join([*parts, *([entry["note"]] if "note" in entry else [])])
