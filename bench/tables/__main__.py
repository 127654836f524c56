"""Check the tables of docs/results, or compute them again from docs/results/data: `python -m bench.tables --check`."""

import argparse
import sys

from bench.tables import browser, experiments, inference, learning, peers, product
from bench.tables.pages import data_link, pages, problems, updated

# The modules that register tables.
PARTS = (browser, experiments, inference, learning, peers, product)


def main() -> None:
    """Compute the tables, or print what is wrong."""
    parser = argparse.ArgumentParser(prog="python -m bench.tables", description=__doc__)
    mode = parser.add_mutually_exclusive_group(required=True)
    mode.add_argument("--check", action="store_true", help="print what is wrong, and exit with status 1")
    mode.add_argument("--write", action="store_true", help="write the computed tables into the pages")
    if parser.parse_args().write:
        for page in pages():
            page.write_text(updated(page.read_text(), link=data_link(page)))
    found = [problem for page in pages() for problem in problems(page)]
    print(*found, sep="\n")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
