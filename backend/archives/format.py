"""Layout of an archive file, which docs/archives.md describes: names of members, and the manifest."""

from typing import Annotated, Literal

from pydantic import AwareDatetime, BaseModel, Field, StringConstraints

from workers.contract.events import Sha256
from workers.contract.values import Count, Id, Ordinal

FORMAT = "arcadia-archive"
VERSION = 1
SUFFIX = ".arcadia"
MANIFEST = "archive.json"

# Every member of an archive has a name like one of these.
MEMBER = (
    r"archive\.json"
    r"|runs/[1-9]\d{0,5}/(rows/[a-z_]{1,40}\.jsonl|points/[1-9]\d{0,5}\.npy|files/[0-9a-f]{64})"
)

MAX_RUNS = 1_000

FilesChoice = Literal["none", "best", "all"]


class Member(BaseModel):
    """A member of the archive with its hash and size."""

    path: Annotated[str, StringConstraints(max_length=200)]
    sha256: Sha256
    bytes: Count


class ArchivedRun(BaseModel):
    """A run in the archive.

    `installation` and `id` say where it was exported. The hash covers its rows, its points and the names of its files.
    `parent` is the number of the run that it is a fork of, if the archive has it.
    """

    number: Ordinal
    installation: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{32}$")]
    id: Id
    content_sha256: Sha256
    parent: Ordinal | None = None


class Heading(BaseModel):
    """The part of the manifest that every version has."""

    format: Literal["arcadia-archive"]
    version: Ordinal
    arcadia_version: Annotated[str, StringConstraints(max_length=50)]


class ArchiveManifest(Heading):
    """The manifest of an archive of this version."""

    kind: Literal["runs"]
    created_at: AwareDatetime
    files: FilesChoice
    contents: Annotated[list[Member], Field(max_length=100_000)]
    runs: Annotated[list[ArchivedRun], Field(min_length=1, max_length=MAX_RUNS)]


def rows_of(run: int, table: str) -> str:
    """Return the member with the rows of a table of a run."""
    return f"runs/{run}/rows/{table}.jsonl"


def points_of(run: int, series: int) -> str:
    """Return the member with the points of a metric of a run."""
    return f"runs/{run}/points/{series}.npy"


def file_of(run: int, sha256: str) -> str:
    """Return the member with the content of a file of a run."""
    return f"runs/{run}/files/{sha256}"
