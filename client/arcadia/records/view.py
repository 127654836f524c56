"""The fields of a saved view."""

from __future__ import annotations

import csv
from typing import Any
from urllib.parse import parse_qs

from arcadia.records.record import Record

_LISTS = ("state", "tag", "env", "algorithm", "origin")
_TEXTS = ("text", "filter", "sort")


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

    @property
    def run_query(self) -> dict[str, Any]:
        """Filters and order, as `Client.runs` takes them: `client.runs(**view.run_query)`."""
        given = parse_qs(self.query)
        found: dict[str, Any] = {name: given[name] for name in _LISTS if name in given}
        found |= {name: given[name][0] for name in _TEXTS if name in given}
        return found | ({"archived": True} if given.get("archived") == ["true"] else {})

    @property
    def group_by(self) -> list[str]:
        """Columns and fields that the runs are grouped by, outermost first."""
        return self._listed("by")

    @property
    def columns(self) -> list[str]:
        """Columns of the table, such as config.learning_rate. Empty for those of the browser."""
        # A width and a pin may follow: config.learning_rate~120!
        return [column.removesuffix("!").partition("~")[0] for column in self._listed("columns")]

    def _listed(self, name: str) -> list[str]:
        return next(csv.reader(parse_qs(self.query).get(name, [])), [])

    def __repr__(self) -> str:
        return f"<SavedView {self.id} {self.name!r}>"
