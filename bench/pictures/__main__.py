"""Take the pictures of docs/images: `make pictures`, or with ARGS="run live" only those pages."""

import argparse
import signal
import sys
import tempfile
from pathlib import Path

from bench.pictures.runs import installation_with_runs
from bench.pictures.screenshots import take_screenshots


def main() -> None:
    """Start an installation, train its runs and write the pictures."""
    parser = argparse.ArgumentParser(prog="python -m bench.pictures", description=__doc__)
    parser.add_argument("pages", nargs="*", metavar="PAGE", help="pages to take, as run or live (default: all)")
    options = parser.parse_args()
    # Exit normally, so that the installation is stopped and its folder is removed.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    with (
        tempfile.TemporaryDirectory(prefix="arcadia-pictures-") as folder,
        installation_with_runs(Path(folder)) as (url, contents),
    ):
        take_screenshots(url, contents, options.pages)


if __name__ == "__main__":
    main()
