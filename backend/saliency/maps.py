"""Saliencies as the page reads them."""

import base64
from pathlib import Path

from backend.database.tables import File
from backend.errors import NotFound
from backend.files.storage import place_of
from backend.saliency.schemas import SaliencyMaps
from workers.contract import saliency
from workers.contract.archives import Column
from workers.contract.saliency import SaliencyError


def read(file: File, root: Path) -> SaliencyMaps:
    """Read the saliency of a replay."""
    try:
        found = saliency.read(place_of(root, file.stored_path))
    except SaliencyError as error:
        raise NotFound(f"The saliency of this replay cannot be read: {error}") from error
    columns = found.columns
    return SaliencyMaps(
        head=found.head,
        rows=columns["policy"].shape[1],
        policy=_written(columns["policy"]),
        value=_written(columns["value"]),
        policy_peak=columns["policy_peak"].tolist(),
        value_peak=columns["value_peak"].tolist(),
    )


def _written(maps: Column) -> str:
    """Write bytes in the base64 that browsers read, which is not the one for addresses."""
    return base64.b64encode(maps.tobytes()).decode()
