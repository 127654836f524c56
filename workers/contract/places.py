"""Places on the disk, which depend on whether this is a checkout or an installed wheel."""

import os
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
# The build of a wheel moves the packages to this folder.
IS_WHEEL = ROOT.name == "application" and ROOT.parent.name == "arcadia_server"


def default_data_dir(is_wheel: bool = IS_WHEEL) -> Path:
    """Return the data folder: `data` in a checkout, and one in the user's home for an installed wheel."""
    if not is_wheel:
        return Path("data")
    if given := os.environ.get("XDG_DATA_HOME"):
        return Path(given) / "arcadia"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support" / "arcadia"
    return Path.home() / ".local" / "share" / "arcadia"
