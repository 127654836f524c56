"""The data folder of an earlier version: a finished run each of PAAC, A3C, GA3C and Gorila on CartPole.

Its database is of migration 0002. Of each run it holds the last checkpoint and replay.
"""

import tarfile
from pathlib import Path

ARCHIVE = Path(__file__).parent / "fixtures" / "installation-of-0002.tar.gz"


def unpack(folder: Path) -> None:
    """Put the earlier data folder where a new version will start."""
    with tarfile.open(ARCHIVE) as archive:
        # Python before 3.11.4 knows no filters; the archive is ours.
        archive.extraction_filter = getattr(tarfile, "data_filter", None)
        archive.extractall(folder)  # noqa: S202
