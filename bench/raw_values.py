"""Raw values of benchmarks: CSV files with one row per measurement, such as those of docs/results/data."""

import argparse
import csv
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path


def add_csv_option(parser: argparse.ArgumentParser) -> None:
    """Add the option for the file of raw values."""
    parser.add_argument("--csv", type=Path, metavar="FILE", help="also write the raw values to this file")


def write_rows(path: Path | None, rows: Sequence[Mapping[str, object]]) -> None:
    """Write rows with the same fields, if a file was requested."""
    if path is None:
        return
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def joined(values: Iterable[float], digits: int = 1) -> str:
    """Return many values as one field, to keep files small."""
    return " ".join(f"{value:.{digits}f}" for value in values)
