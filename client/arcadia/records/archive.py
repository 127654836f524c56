"""Content of an archive file, and the result of an import."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from arcadia.names import joined_ids
from arcadia.records.record import Record

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

    @property
    def notes(self) -> list[str]:
        """Sentences about differences from the archive."""
        return list(self.data["notes"])
