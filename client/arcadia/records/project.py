"""The fields of a project, and of the items moved into one."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from arcadia.records.record import Record


class ProjectRecord(Record):
    """The fields of a project. A list leaves out the text, the pinned report and the best agents."""

    @property
    def id(self) -> int:
        """Number of the project."""
        return int(self.data["id"])

    @property
    def name(self) -> str:
        """Name, which is unique without regard to case."""
        return str(self.data["name"])

    @property
    def run_count(self) -> int:
        """Number of runs that are not archived."""
        return int(self.data["runs"])

    @property
    def active_run_count(self) -> int:
        """Number of runs that train now."""
        return int(self.data["active_runs"])

    @property
    def study_count(self) -> int:
        """Number of studies."""
        return int(self.data["studies"])

    @property
    def report_count(self) -> int:
        """Number of reports."""
        return int(self.data["reports"])

    @property
    def last_activity(self) -> datetime:
        """When a run, study or report of it last started, ended or changed."""
        return self._required_time("last_activity")

    @property
    def text(self) -> str | None:
        """Text of its page, as Markdown. None in a list."""
        return self._text("text") if "text" in self.data else None

    @property
    def best_agents(self) -> list[dict[str, Any]]:
        """The best run of each environment. Empty in a list."""
        return list(self.data.get("best_agents", []))

    def __repr__(self) -> str:
        return f"<Project {self.id} {self.name!r}: {self.run_count} runs>"


class MovedItems(Record):
    """Items that were moved into a project. Items that do not exist are left out."""

    @property
    def run_ids(self) -> list[int]:
        """Numbers of the runs, including those of moved studies."""
        return list(self.data["runs"])

    @property
    def study_ids(self) -> list[int]:
        """Numbers of the studies."""
        return list(self.data["studies"])

    @property
    def report_ids(self) -> list[int]:
        """Numbers of the reports."""
        return list(self.data["reports"])
