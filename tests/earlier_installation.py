"""Data folder and backup of the oldest version whose data folders can be opened, made by its own code.

They have a finished CartPole run of each of PAAC, A3C, GA3C and Gorila, a run with every kind of row, a study, a
report, a project with a board, a view and an alias.
"""

import tarfile
from pathlib import Path

ARCHIVE = Path(__file__).parent / "fixtures" / "installation-of-0035.tar.xz"
OLDEST = "0035"
METHODS = {4: "paac", 5: "a3c", 6: "ga3c", 10: "gorila"}


def unpack(folder: Path) -> None:
    """Extract the data folder to `data` in a folder, and the backup to `backup`."""
    with tarfile.open(ARCHIVE) as archive:
        # Python before 3.11.4 has no filters. The archive is trusted.
        archive.extraction_filter = getattr(tarfile, "data_filter", None)
        archive.extractall(folder)  # noqa: S202
