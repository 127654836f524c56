"""The fields of a group of runs."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from arcadia.records.record import Record


class RunGroup(Record):
    """Runs with equal values."""

    @property
    def label(self) -> str:
        """Readable name, such as A3C · Pong · lr 7e-4."""
        return str(self.data["label"])

    @property
    def values(self) -> dict[str, Any]:
        """The values that the runs share, by name."""
        return dict(self.data["values"])

    @property
    def filter(self) -> str:
        """The filter that selects the runs of the group."""
        return str(self.data["filter"])

    @property
    def runs(self) -> int:
        """Number of runs."""
        return int(self.data["runs"])

    @property
    def states(self) -> dict[str, int]:
        """Number of runs in each state."""
        return dict(self.data["states"])

    @property
    def seeds(self) -> list[Any]:
        """Different seeds, 20 at most."""
        return list(self.data["seeds"])

    @property
    def newest(self) -> datetime:
        """When the newest run was created, started or finished."""
        return self._required_time("newest")

    @property
    def statistics(self) -> dict[str, dict[str, float | None]]:
        """The mean, the standard deviation and the number n of each requested value."""
        return dict(self.data["statistics"])
