"""Command lines of benchmarks that have no options."""

import argparse
from collections.abc import Mapping
from typing import Any


def read_arguments(module: str, description: str | None, kinds: Mapping[str, type] | None = None) -> list[Any]:
    """Return the positional arguments, which have these names and types."""
    parser = argparse.ArgumentParser(
        prog=f"python -m {module}", description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    for name, kind in (kinds or {}).items():
        parser.add_argument(name, metavar=name.upper(), type=kind)
    return [*vars(parser.parse_args()).values()]
