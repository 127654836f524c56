"""Manifests of Arcadia's zip files: archives and agent files."""

from typing import Annotated

from pydantic import BaseModel, StringConstraints

from workers.contract.events import Sha256
from workers.contract.values import Count, Ordinal


class Member(BaseModel):
    """A member of a zip file with its hash and size, as the file's manifest lists it."""

    path: Annotated[str, StringConstraints(max_length=200)]
    sha256: Sha256
    bytes: Count


class ManifestHeading(BaseModel):
    """The part of a manifest that every version has."""

    format: str
    version: Ordinal
    arcadia_version: Annotated[str, StringConstraints(max_length=50)]
