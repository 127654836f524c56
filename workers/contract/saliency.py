"""The saliency of a recording: how much each part of the network's input changes its output, per decision.

A NumPy .npz file without pickled objects. Its array `head` is the JSON text of a `SaliencyHead`. Every other array
has one row per decision of the recording's track:

policy        effect of each place of the grid on the network's numbers, in 255ths of the row's peak
policy_peak   the peak, ½‖π(I) − π(I′)‖² of the network's numbers
value         the same for its estimate V(s)
value_peak    the peak, ½‖V(I) − V(I′)‖²

The place (row i, column j) of a grid is the pixel (first + i · spacing, first + j · spacing) of the input.
"""

import io
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from workers.contract import archives
from workers.contract.archives import ArchiveError, Column
from workers.contract.earlier_names import with_current_names
from workers.contract.tracks import Numbers

VERSION = 1
# The columns, with their numbers of dimensions.
_DIMENSIONS = {"policy": 3, "policy_peak": 1, "value": 3, "value_peak": 1}


class SaliencyError(Exception):
    """A file is not a saliency that this version can read."""


class SaliencyHead(BaseModel):
    """The recording of a saliency, and how the saliency was computed."""

    model_config = ConfigDict(extra="forbid")

    format: Literal["arcadia-saliency"] = "arcadia-saliency"
    version: Literal[1] = 1
    env: str
    algorithm: str
    checkpoint_step: int
    checkpoint_sha256: str
    # The network's numbers: logits of a policy, action values, or the numbers of a Gaussian.
    numbers_kind: Numbers
    side: int
    first: int
    spacing: int
    sigma: float
    blur_sigma: float


@dataclass(frozen=True)
class Saliency:
    """A saliency in memory."""

    head: SaliencyHead
    columns: dict[str, Column]

    def __len__(self) -> int:
        return len(self.columns["policy"])


def packed(saliency: Saliency) -> bytes:
    """Return the bytes of the file. Equal saliencies give equal bytes."""
    return archives.packed(saliency.head, saliency.columns)


def read(file: Path | io.BytesIO) -> Saliency:
    """Read a saliency from its file."""
    try:
        head, columns = archives.unpacked(file)
    except ArchiveError as error:
        raise SaliencyError(f"this is not a saliency file: {error}") from error
    if head.get("version") != VERSION:
        raise SaliencyError(f"the saliency has version {head.get('version')}; this version of Arcadia reads {VERSION}")
    try:
        validated = SaliencyHead.model_validate(with_current_names(head))
    except ValidationError as error:
        raise SaliencyError(f"its head is not valid: {error.errors()[0]['msg']}") from error
    for name, dimensions in _DIMENSIONS.items():
        if name not in columns or columns[name].ndim != dimensions or columns[name].dtype.kind not in "biuf":
            raise SaliencyError(f"its column {name} is missing, or is not a list of numbers")
    if len({len(columns[name]) for name in _DIMENSIONS}) != 1:
        raise SaliencyError("its columns do not have the same length")
    return Saliency(validated, columns)
