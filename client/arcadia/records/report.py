"""The fields of a report."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from arcadia.records.record import Record


class ReportRecord(Record):
    """The fields of a report: a page of text, figures, tables and replays."""

    @property
    def id(self) -> int:
        """Number of the report."""
        return int(self.data["id"])

    @property
    def title(self) -> str:
        """Title."""
        return str(self.data["title"])

    @property
    def project(self) -> str:
        """Name of the project."""
        return str(self.data["project"])

    @property
    def blocks(self) -> list[dict[str, Any]]:
        """Blocks. Lists of reports leave them out."""
        blocks = self.data["blocks"]
        return [dict(block) for block in blocks] if isinstance(blocks, list) else []

    @property
    def share_token(self) -> str | None:
        """Token of the read-only link."""
        return self._text("share_token")

    @property
    def updated_at(self) -> datetime:
        """Time of the last change."""
        return self._required_time("updated_at")

    def __repr__(self) -> str:
        return f"<Report {self.id} {self.title!r}>"
