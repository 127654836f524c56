"""Tracks as JSON: the columns of the file as lists."""

from pathlib import Path

import numpy as np
from pydantic import ValidationError

from backend.database.tables import File
from backend.errors import NotFound
from backend.files.storage import stored_path
from backend.replays.schemas import Track
from workers.contract import tracks
from workers.contract.archives import Column

COLUMNS = ("picture", "action", "numbers", "value", "obtained", "reward", "score", "lives", "life_lost")
SIGNIFICANT_DIGITS = 6


def read(file: File, root: Path) -> Track:
    """Read the track of a replay, or raise NotFound."""
    try:
        track = tracks.read(stored_path(root, file.stored_path))
        columns = {name: _as_list(track.columns[name]) for name in COLUMNS}
        return Track.model_validate({"head": track.head, **columns})
    except (tracks.TrackError, ValidationError) as error:
        raise NotFound(f"The track of this replay cannot be read: {error}") from error


def _as_list(column: Column) -> object:
    """Return a column as lists, with numbers rounded to SIGNIFICANT_DIGITS significant digits."""
    if np.issubdtype(column.dtype, np.floating):
        return _short(column.astype(np.float64))
    return column.tolist()


def _short(numbers: Column) -> object:
    with np.errstate(all="ignore"):
        lengths = np.where((numbers == 0) | ~np.isfinite(numbers), 0, np.floor(np.log10(np.abs(numbers))))
        factor = 10.0 ** (SIGNIFICANT_DIGITS - 1 - lengths)
        return np.where(np.isfinite(numbers), np.round(numbers * factor) / factor, numbers).tolist()
