"""Saliency maps in the format that the page reads."""

import base64
from pathlib import Path

from backend.database.tables import File
from backend.errors import NotFound
from backend.files.storage import stored_path
from backend.saliency.schemas import SaliencyMaps
from workers.contract import saliency
from workers.contract.archives import Column
from workers.contract.saliency import SaliencyError


def read(file: File, root: Path) -> SaliencyMaps:
    """Read the saliency maps of a replay from its file."""
    try:
        found = saliency.read(stored_path(root, file.stored_path))
    except SaliencyError as error:
        raise NotFound(f"The saliency file of this replay cannot be read: {error}") from error
    columns = found.columns
    return SaliencyMaps(
        head=found.head,
        rows=columns["policy"].shape[1],
        policy=_base64(columns["policy"]),
        value=_base64(columns["value"]),
        policy_peak=columns["policy_peak"].tolist(),
        value_peak=columns["value_peak"].tolist(),
    )


def _base64(maps: Column) -> str:
    """Encode maps as standard base64, which browsers decode."""
    return base64.b64encode(maps.tobytes()).decode()
