"""The result of an import."""

from __future__ import annotations

from typing import Literal

from arcadia.records.record import Record

FilesChoice = Literal["all", "best", "none"]
"""Files of an archive: all, none, or all without checkpoints other than each run's best and newest."""


class ImportResult(Record):
    """What an import created."""

    @property
    def run_ids(self) -> list[int]:
        """Numbers of the imported runs."""
        return list(self.data["runs"])

    @property
    def existing_run_ids(self) -> list[int]:
        """Numbers of the runs that were already there."""
        return list(self.data["already"])

    @property
    def notes(self) -> list[str]:
        """Sentences about what differs from the archive."""
        return list(self.data["notes"])
