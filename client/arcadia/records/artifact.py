"""Artifacts, which are named and versioned files, and the files of a version."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from arcadia.records.record import Record


class ArtifactRecord(Record):
    """An artifact with its newest version."""

    @property
    def id(self) -> int:
        """Number of the artifact."""
        return int(self.data["id"])

    @property
    def name(self) -> str:
        """The name."""
        return str(self.data["name"])

    @property
    def project(self) -> str:
        """Name of the project."""
        return str(self.data["project"])

    @property
    def kind(self) -> str:
        """What it is, such as model or dataset."""
        return str(self.data["kind"])

    @property
    def version_count(self) -> int:
        """Number of versions."""
        return int(self.data["version_count"])

    @property
    def total_bytes(self) -> int:
        """Size of all versions."""
        return int(self.data["total_bytes"])

    def __repr__(self) -> str:
        return f"<Artifact {self.name} of {self.project}: {self.version_count} versions>"


class ArtifactFile(Record):
    """A file of a version, or a reference to a file that is stored elsewhere."""

    @property
    def path(self) -> str:
        """Path in the version."""
        return str(self.data["path"])

    @property
    def bytes(self) -> int:
        """Size."""
        return int(self.data["bytes"])

    @property
    def sha256(self) -> str | None:
        """Hash of the content, or None for a reference."""
        return self._text("sha256")

    @property
    def uri(self) -> str | None:
        """Address of a reference, or None for a file."""
        return self._text("uri")

    def __repr__(self) -> str:
        return f"<ArtifactFile {self.path}: {self.uri or f'{self.bytes:,} bytes'}>"


class ArtifactVersionRecord(Record):
    """A version of an artifact. Its contents never change."""

    @property
    def name(self) -> str:
        """Name of the artifact."""
        return str(self.data["name"])

    @property
    def project(self) -> str:
        """Name of the project."""
        return str(self.data["project"])

    @property
    def kind(self) -> str:
        """What the artifact is, such as model or dataset."""
        return str(self.data["kind"])

    @property
    def version(self) -> int:
        """Number of the version, from 0."""
        return int(self.data["version"])

    @property
    def reference(self) -> str:
        """The name with the version: model:v3."""
        return f"{self.name}:v{self.version}"

    @property
    def aliases(self) -> list[str]:
        """Names of the version, such as best. The newest version has the alias latest."""
        return [str(alias) for alias in self.data["aliases"]]

    @property
    def digest(self) -> str:
        """Hash of the paths and contents."""
        return str(self.data["digest"])

    @property
    def bytes(self) -> int:
        """Size of all files."""
        return int(self.data["bytes"])

    @property
    def file_count(self) -> int:
        """Number of files and references."""
        return int(self.data["file_count"])

    @property
    def metadata(self) -> dict[str, Any]:
        """Facts that the script added, such as a score."""
        return dict(self.data["metadata"])

    @property
    def created_at(self) -> datetime:
        """When it was logged."""
        return self._required_time("created_at")

    @property
    def run_id(self) -> int | None:
        """Number of the run that made it first. The run may be deleted."""
        return self._integer("run_id")

    @property
    def run_name(self) -> str | None:
        """Name of that run."""
        return self._text("run_name")

    @property
    def files(self) -> list[ArtifactFile]:
        """Files and references by path. Empty in a list of versions."""
        return [ArtifactFile(entry) for entry in self.data.get("entries", ())]

    @property
    def made_by(self) -> dict[int, str]:
        """Names of the runs that made it, by number. Empty in a list of versions."""
        return _names(self.data.get("made_by", ()))

    @property
    def used_by(self) -> dict[int, str]:
        """Names of the runs that used it, by number. Empty in a list of versions."""
        return _names(self.data.get("used_by", ()))

    def __repr__(self) -> str:
        return f"<ArtifactVersion {self.reference} of {self.project}: {', '.join(self.aliases) or 'no alias'}>"


def _names(runs: Any) -> dict[int, str]:
    found: list[Mapping[str, Any]] = list(runs)
    return {int(run["id"]): str(run["name"]) for run in found}
