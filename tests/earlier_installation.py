"""Data folder of an earlier version with a finished CartPole run of each of PAAC, A3C, GA3C and Gorila.

Its database is at migration 0002. It contains the last checkpoint and replay of each run.
"""

import tarfile
from pathlib import Path

ARCHIVE = Path(__file__).parent / "fixtures" / "installation-of-0002.tar.gz"


def unpack(folder: Path) -> None:
    """Extract the earlier data folder to the folder where a new version will start."""
    with tarfile.open(ARCHIVE) as archive:
        # Python before 3.11.4 has no filters. The archive is trusted.
        archive.extraction_filter = getattr(tarfile, "data_filter", None)
        archive.extractall(folder)  # noqa: S202
