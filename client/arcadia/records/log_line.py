"""A line of a run's log."""

from __future__ import annotations

from datetime import datetime

from arcadia.records.record import Record


class LogLine(Record):
    """A line of a run's log."""

    @property
    def id(self) -> int:
        """Number of the line. Later lines have higher numbers."""
        return int(self.data["id"])

    @property
    def time(self) -> datetime:
        """Time of the line."""
        return self._required_time("time")

    @property
    def attempt(self) -> int:
        """Attempt that wrote the line."""
        return int(self.data["attempt"])

    @property
    def level(self) -> str:
        """Level, such as info, warning or error."""
        return str(self.data["level"])

    @property
    def message(self) -> str:
        """Text of the line."""
        return str(self.data["message"])

    def __str__(self) -> str:
        return f"{self.time:%Y-%m-%d %H:%M:%S} {self.level:7} {self.message}"

    def __repr__(self) -> str:
        return f"<LogLine {self.level}: {self.message!r}>"
