"""The saliency of a recording: how much each place of what the network saw counted, decision by decision.

It is a NumPy .npz file without pickled objects. Its array `head` is the JSON text of a `SaliencyHead`; every other
array has a row for each decision of the recording's track:

policy        how much the network's numbers depend on each place of the grid, in 255ths of the row's peak
policy_peak   the greatest of them, ½‖π(I) − π(I′)‖² of the network's numbers
value         the same of its estimate V(s)
value_peak    the greatest of them, ½‖V(I) − V(I′)‖²

The place (row i, column j) of a grid is the pixel (first + i · spacing, first + j · spacing) of what the network saw.
"""

import io
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict

from workers.contract import archives
from workers.contract.archives import ArchiveError, Column
from workers.contract.tracks import Numbers

VERSION = 1


class SaliencyError(Exception):
    """A file is no saliency that this version can read."""


class SaliencyHead(BaseModel):
    """What the saliency is of, and how it was computed."""

    model_config = ConfigDict(extra="forbid")

    format: Literal["arcadia-saliency"] = "arcadia-saliency"
    version: Literal[1] = 1
    env: str
    algorithm: str
    checkpoint_step: int
    checkpoint_sha256: str
    # What the network's numbers are: logits of a policy, action values, or the numbers of a Gaussian.
    learnt: Numbers
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
    """Return the file's bytes; equal saliencies have equal bytes."""
    return archives.packed(saliency.head, saliency.columns)


def read(file: Path | io.BytesIO) -> Saliency:
    """Read a saliency from its file."""
    try:
        head, columns = archives.unpacked(file)
    except ArchiveError as error:
        raise SaliencyError(f"this is not the file of a saliency: {error}") from error
    if head.get("version") != VERSION:
        raise SaliencyError(f"the saliency has version {head.get('version')}; this version of Arcadia reads {VERSION}")
    return Saliency(SaliencyHead.model_validate(head), columns)
