"""Models of the artifacts API, and of the events that log and use artifacts."""

import re
from datetime import datetime
from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

from arcadia_backend.errors import with_rule
from arcadia_backend.projects.schemas import MayEdit
from arcadia_workers.contract.events import Sha256
from arcadia_workers.contract.values import STORABLE, Count, Integer

MAX_ENTRIES = 10_000
MAX_PATH, MAX_URI = 500, 2_000
# The newest version, which needs no row.
LATEST = "latest"
# The kind of an artifact whose script names none.
DEFAULT_KIND = "file"
_RULE = "use up to {} letters, digits, dots, hyphens and underscores, starting with a letter or a digit"
ALIAS_PATTERN = with_rule(r"^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$", _RULE.format(100))
NAME_PATTERN = with_rule(r"^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$", _RULE.format(128))
_VERSION = re.compile(r"v\d+")

ArtifactName = Annotated[str, StringConstraints(pattern=NAME_PATTERN)]
AliasName = Annotated[
    str,
    StringConstraints(pattern=ALIAS_PATTERN),
    Field(description="Such as best. `latest` and numbers such as v3 are set automatically."),
]


def is_settable(alias: str) -> bool:
    """Return True if a user can set this alias."""
    return bool(re.fullmatch(ALIAS_PATTERN, alias)) and alias != LATEST and not _VERSION.fullmatch(alias)


def _check_path(path: str) -> str:
    """Return the path of an entry. Raise ValueError if it could leave its folder."""
    parts = path.split("/")
    if "\\" in path or "\0" in path or any(part in ("", ".", "..") for part in parts):
        raise ValueError(f"the path {path[:100]!r} must be relative, with / and without empty parts, . and ..")
    return path


class ManifestEntry(BaseModel):
    """A file of a version by its hash, or a reference by its address."""

    model_config = ConfigDict(extra="ignore")

    path: Annotated[str, Field(min_length=1, max_length=MAX_PATH), STORABLE]
    sha256: Sha256 | None = Field(default=None, description="Hash of an uploaded file.")
    uri: Annotated[str, Field(min_length=1, max_length=MAX_URI), STORABLE] | None = Field(
        default=None, description="Address of a file that is stored elsewhere."
    )
    bytes: Count = 0

    @model_validator(mode="after")
    def check(self) -> Self:
        """Raise ValueError unless the entry is a file or a reference with a usable path."""
        _check_path(self.path)
        if (self.sha256 is None) == (self.uri is None):
            raise ValueError("an entry has either a hash or an address")
        return self


class NewVersion(BaseModel):
    """Contents that a script logs under a name."""

    model_config = ConfigDict(extra="ignore")

    name: ArtifactName
    kind: Annotated[str, Field(min_length=1, max_length=50), STORABLE] = DEFAULT_KIND
    aliases: list[Annotated[str, STORABLE]] = []
    metadata: dict[str, Any] = {}
    step: Integer | None = None
    entries: Annotated[list[ManifestEntry], Field(min_length=1, max_length=MAX_ENTRIES)]

    @model_validator(mode="after")
    def check(self) -> Self:
        """Raise ValueError for a path that occurs twice, or is both a file and a folder."""
        paths = [entry.path for entry in self.entries]
        files = set(paths)
        if len(files) < len(paths):
            raise ValueError("two entries have the same path")
        folders = {path[:at] for path in paths for at, letter in enumerate(path) if letter == "/"}
        if both := files & folders:
            raise ValueError(f"{min(both)} is both a file and a folder")
        return self


class KnownFiles(BaseModel):
    """Files that a script is about to name in an artifact."""

    model_config = ConfigDict(extra="forbid")

    sha256: Annotated[list[Sha256], Field(max_length=MAX_ENTRIES)]


class MissingFiles(BaseModel):
    """The files that the server does not have."""

    missing: list[str]


class SetArtifactAlias(BaseModel):
    """The version that an alias should name."""

    model_config = ConfigDict(extra="forbid")

    version: Annotated[int, Field(ge=0, le=2**31 - 1)]


class LinkedRun(BaseModel):
    """A run that made or used a version."""

    id: int
    name: str
    state: str
    color: str
    project: str


class ArtifactVersion(BaseModel):
    """A version of an artifact, without its files."""

    id: int
    artifact_id: int
    name: str
    project: str
    kind: str
    version: int = Field(description="Number, from 0. It is written as v0.")
    aliases: list[str] = Field(description="The newest version has the alias latest.")
    digest: str = Field(description="Hash of the paths and contents. Versions with equal contents have the same.")
    bytes: int
    file_count: int
    metadata: dict[str, Any]
    step: int | None
    created_at: datetime
    run_id: int | None = Field(
        description="The run that made it first, which may be deleted. Null if you have no access to it."
    )
    run_name: str | None
    may_edit: MayEdit


class ArtifactEntry(BaseModel):
    """A file of a version, or a reference."""

    path: str
    bytes: int
    sha256: str | None
    file_id: int | None = Field(description="Its content is at /files/{file_id}.")
    uri: str | None = Field(description="Address of a reference, whose content Arcadia does not have.")


class ArtifactVersionDetails(ArtifactVersion):
    """A version with its files and the runs that made and used it."""

    entries: list[ArtifactEntry]
    made_by: list[LinkedRun]
    used_by: list[LinkedRun]


class Artifact(BaseModel):
    """An artifact with its newest version."""

    id: int
    name: str
    project: str
    kind: str
    created_at: datetime
    version_count: int
    total_bytes: int = Field(description="Sum over all versions. Equal files are stored once, so it may be less.")
    latest: ArtifactVersion


class ArtifactDetails(Artifact):
    """An artifact with all versions, newest first."""

    versions: list[ArtifactVersion]


class ArtifactPage(BaseModel):
    """Artifacts, the last changed first."""

    items: list[Artifact]
    next_cursor: int | None = Field(description="Send it as `before` to get the next page.")


class RunArtifacts(BaseModel):
    """The versions that a run made and used, oldest first."""

    made: list[ArtifactVersion]
    used: list[ArtifactVersion]
