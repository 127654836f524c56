"""Layout of an archive file, which docs/archives.md describes: names of members, and the manifest."""

from typing import Annotated, Literal, Self

from pydantic import AwareDatetime, BaseModel, Field, StringConstraints, model_validator

from workers.contract.events import Sha256
from workers.contract.members import ManifestHeading, Member
from workers.contract.values import STORABLE, Id, Ordinal

FORMAT = "arcadia-archive"
VERSION = 2
# The version of an archive without studies and reports, which an Arcadia of that version can import.
RUNS_VERSION = 1
SUFFIX = ".arcadia"
MANIFEST = "archive.json"

# Every member of an archive has a name like one of these.
MEMBER = (
    r"archive\.json"
    r"|(runs|studies|reports)/[1-9]\d{0,5}/rows/[a-z_]{1,40}\.jsonl"
    r"|runs/[1-9]\d{0,5}/(points/[1-9]\d{0,5}\.npy|files/[0-9a-f]{64})"
)

MAX_RUNS = 1_000
MAX_STUDIES = MAX_REPORTS = 100

FilesChoice = Literal["none", "best", "all"]
Kind = Literal["runs", "studies", "reports"]


class ArchivedItem(BaseModel):
    """A study or a report in the archive.

    `installation` and `id` say where it was exported. The hash covers its rows. `project` is the name of its project,
    which archives of earlier versions do not have.
    """

    number: Ordinal
    installation: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{32}$")]
    id: Id
    content_sha256: Sha256
    project: Annotated[str, StringConstraints(strip_whitespace=True, max_length=100), STORABLE] | None = None


class ArchivedRun(ArchivedItem):
    """A run in the archive.

    The hash covers its rows, its points and the names of its files. `parent` is the number of the run that it is a fork
    of, if the archive has it.
    """

    parent: Ordinal | None = None


class Heading(ManifestHeading):
    """The part of the manifest that every version has."""

    format: Literal["arcadia-archive"]


class ArchiveManifest(Heading):
    """The manifest of an archive of this version, or of an earlier one."""

    kind: Literal["runs"]
    created_at: AwareDatetime
    files: FilesChoice
    contents: Annotated[list[Member], Field(max_length=100_000)]
    runs: Annotated[list[ArchivedRun], Field(max_length=MAX_RUNS)]
    studies: list[ArchivedItem] = Field(default_factory=list, max_length=MAX_STUDIES)
    reports: list[ArchivedItem] = Field(default_factory=list, max_length=MAX_REPORTS)

    @model_validator(mode="after")
    def _check_items(self) -> Self:
        items = (self.runs, self.studies, self.reports)
        if not any(items):
            raise ValueError("the archive has no runs, studies or reports")
        if any(len({item.number for item in each}) < len(each) for each in items):
            raise ValueError("two runs, studies or reports of the archive have the same number")
        return self


def rows_of(kind: Kind, number: int, table: str) -> str:
    """Return the member with the rows of a table of a run, study or report."""
    return f"{kind}/{number}/rows/{table}.jsonl"


def points_of(run: int, series: int) -> str:
    """Return the member with the points of a metric of a run."""
    return f"runs/{run}/points/{series}.npy"


def file_of(run: int, sha256: str) -> str:
    """Return the member with the content of a file of a run."""
    return f"runs/{run}/files/{sha256}"
