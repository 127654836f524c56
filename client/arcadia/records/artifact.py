"""The fields of artifacts, checkpoints, aliases and archives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from arcadia.names import joined_ids
from arcadia.records import Record


class ArtifactRecord(Record):
    """An artifact with its newest version."""

    id: int
    """Number of the artifact."""

    name: str
    """The name."""

    project: str
    """Name of the project."""

    kind: str
    """What it is, such as model or dataset."""

    version_count: int
    """Number of versions."""

    total_bytes: int
    """Size of all versions."""

    def __repr__(self) -> str:
        return f"<Artifact {self.name} of {self.project}: {self.version_count} versions>"


class ArtifactFile(Record):
    """A file of a version, or a reference to a file that is stored elsewhere."""

    path: str
    """Path in the version."""

    bytes: int
    """Size."""

    sha256: str | None
    """Hash of the content, or None for a reference."""

    uri: str | None
    """Address of a reference, or None for a file."""

    def __repr__(self) -> str:
        return f"<ArtifactFile {self.path}: {self.uri or f'{self.bytes:,} bytes'}>"


class ArtifactVersionRecord(Record):
    """A version of an artifact. Its contents never change."""

    name: str
    """Name of the artifact."""

    project: str
    """Name of the project."""

    kind: str
    """What the artifact is, such as model or dataset."""

    version: int
    """Number of the version, from 0."""

    @property
    def reference(self) -> str:
        """The name with the version: model:v3."""
        return f"{self.name}:v{self.version}"

    @property
    def aliases(self) -> list[str]:
        """Names of the version, such as best. The newest version has the alias latest."""
        return [str(alias) for alias in self.data["aliases"]]

    digest: str
    """Hash of the paths and contents."""

    bytes: int
    """Size of all files."""

    file_count: int
    """Number of files and references."""

    metadata: dict[str, Any]
    """Facts that the script added, such as a score."""

    created_at: datetime
    """When it was logged."""

    run_id: int | None
    """Number of the run that made it first. The run may be deleted."""

    run_name: str | None
    """Name of that run."""

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
    linked: list[Mapping[str, Any]] = list(runs)
    return {int(run["id"]): str(run["name"]) for run in linked}


class CheckpointRecord(Record):
    """The fields of a checkpoint."""

    id: int
    """Number of the checkpoint."""

    step: int
    """Agent steps of the training when it was saved."""

    frames: int
    """Emulator frames of the training when it was saved."""

    attempt: int
    """Attempt that saved it."""

    file_id: int | None
    """Number of the file. None if it was pruned."""

    bytes: int
    """Size of the file."""

    return_mean: float | None
    """Mean return of the last 100 training episodes before it was saved."""

    @property
    def is_best(self) -> bool:
        """True for the best checkpoint of the run."""
        return bool(self.data["best"])

    @property
    def is_available(self) -> bool:
        """True if the file exists. Pruning deletes files, but not the entries."""
        return bool(self.data["available"])

    @property
    def is_pinned(self) -> bool:
        """True if pruning never deletes the file."""
        return bool(self.data["pinned"])

    @property
    def aliases(self) -> list[str]:
        """Aliases that name it. Servers of earlier versions have none."""
        return list(self.data.get("aliases", ()))

    created_at: datetime
    """Time when it was saved."""

    def __repr__(self) -> str:
        notes = [word for word, said in (("best", self.is_best), ("pinned", self.is_pinned)) if said]
        notes += [] if self.is_available else ["file pruned"]
        return f"<Checkpoint of step {self.step:,}{': ' if notes else ''}{', '.join(notes)}>"


class Alias(Record):
    """A change of an alias such as pong/champion. The newest one is the current state of the alias."""

    name: str
    """The alias."""

    run_id: int | None
    """Number of the run."""

    run_name: str | None
    """Name of the run."""

    checkpoint_id: int | None
    """Number of the checkpoint. None if the alias was removed."""

    step: int | None
    """Step of the checkpoint."""

    who: str | None
    """Who changed it."""

    why: str
    """Why it was changed."""

    changed_at: datetime
    """Time of the change."""

    def __repr__(self) -> str:
        what = "removed" if self.checkpoint_id is None else f"run {self.run_id} at step {self.step or 0:,}"
        return f"<Alias {self.name}: {what}>"


FilesChoice = Literal["all", "best", "none"]
"""Files of an archive: all, none, or all without checkpoints other than each run's best and newest."""


@dataclass(frozen=True)
class ExportedItems:
    """Numbers of the items to export. A study includes its runs, and a report the items that it shows."""

    runs: Sequence[int] = ()
    studies: Sequence[int] = ()
    reports: Sequence[int] = ()

    @property
    def file_name(self) -> str:
        """Name of the archive file."""
        named = (("run", "runs", self.runs), ("study", "studies", self.studies), ("report", "reports", self.reports))
        kinds = [(one, several, ids) for one, several, ids in named if ids]
        if len(kinds) != 1:
            return "archive.arcadia"
        ((one, several, ids),) = kinds
        return f"{one}-{ids[0]}.arcadia" if len(ids) == 1 else f"{len(ids)}-{several}.arcadia"

    @property
    def parameters(self) -> dict[str, str]:
        """Parameters of the request."""
        given = {"runs": self.runs, "studies": self.studies, "reports": self.reports}
        return {kind: joined_ids(ids) for kind, ids in given.items() if ids}


class ImportResult(Record):
    """Result of an import."""

    @property
    def run_ids(self) -> list[int]:
        """Numbers of the imported runs."""
        return list(self.data["runs"])

    @property
    def existing_run_ids(self) -> list[int]:
        """Numbers of the runs that were already there."""
        return list(self.data["already"])

    @property
    def study_ids(self) -> list[int]:
        """Numbers of the imported studies."""
        return list(self.data["studies"])

    @property
    def existing_study_ids(self) -> list[int]:
        """Numbers of the studies that were already there."""
        return list(self.data["already_studies"])

    @property
    def report_ids(self) -> list[int]:
        """Numbers of the imported reports."""
        return list(self.data["reports"])

    @property
    def existing_report_ids(self) -> list[int]:
        """Numbers of the reports that were already there."""
        return list(self.data["already_reports"])

    notes: list[str]
    """Sentences about differences from the archive."""
