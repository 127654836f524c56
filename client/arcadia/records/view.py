"""The fields of a saved view."""

from __future__ import annotations

from arcadia.records.record import Record


class SavedView(Record):
    """A named view of the runs of a project: the query of the runs page."""

    @property
    def id(self) -> int:
        """Number of the view."""
        return int(self.data["id"])

    @property
    def name(self) -> str:
        """Name, which is unique in its project without regard to case."""
        return str(self.data["name"])

    @property
    def project(self) -> str:
        """Name of the project."""
        return str(self.data["project"])

    @property
    def query(self) -> str:
        """Query of the runs page: filters, columns, order, groups, baseline and charts."""
        return str(self.data["query"])

    def __repr__(self) -> str:
        return f"<SavedView {self.id} {self.name!r}>"
