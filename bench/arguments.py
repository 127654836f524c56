"""Command lines of benchmarks with few options."""

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bench.raw_values import add_csv_option


def read_arguments(module: str, description: str | None, kinds: Mapping[str, type] | None = None) -> list[Any]:
    """Return the positional arguments, which have these names and types."""
    parser = argparse.ArgumentParser(
        prog=f"python -m {module}", description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    for name, kind in (kinds or {}).items():
        parser.add_argument(name, metavar=name.upper(), type=kind)
    return [*vars(parser.parse_args()).values()]


def read_csv_option(module: str, description: str | None) -> Path | None:
    """Return the file for raw values of a benchmark that has no other option."""
    parser = argparse.ArgumentParser(prog=f"python -m {module}", description=description)
    add_csv_option(parser)
    path: Path | None = parser.parse_args().csv
    return path
