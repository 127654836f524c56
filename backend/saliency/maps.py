"""Saliencies as the page reads them."""

from pathlib import Path

from backend.errors import NotFound
from backend.models import File
from backend.saliency.schemas import SaliencyMaps
from workers.contract import saliency
from workers.contract.saliency import SaliencyError


def read(file: File, root: Path) -> SaliencyMaps:
    """Read the saliency of a replay."""
    try:
        found = saliency.read(root / file.stored_path)
    except SaliencyError as error:
        raise NotFound(f"The saliency of this replay cannot be read: {error}") from error
    columns = found.columns
    return SaliencyMaps(
        head=found.head,
        rows=columns["policy"].shape[1],
        policy=columns["policy"].tobytes(),
        value=columns["value"].tobytes(),
        policy_peak=columns["policy_peak"].tolist(),
        value_peak=columns["value_peak"].tolist(),
    )
