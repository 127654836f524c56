"""The fields of a change of a run's configuration."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from arcadia.records.record import Record


class Change(Record):
    """A change of fields of a run's configuration."""

    @property
    def number(self) -> int:
        """Number of the change within its run."""
        return int(self.data["number"])

    @property
    def fields(self) -> dict[str, Any]:
        """The new values."""
        return dict(self.data["fields"])

    @property
    def previous(self) -> dict[str, Any]:
        """The previous values."""
        return dict(self.data["previous"])

    @property
    def requested_at(self) -> datetime:
        """Time of the request."""
        return self._required_time("requested_at")

    @property
    def requested_by(self) -> str | None:
        """Name of the user, if the server knows it."""
        return self._text("requested_by")

    @property
    def is_applied(self) -> bool:
        """True if the run uses the new values."""
        return self.data["applied_at"] is not None

    @property
    def applied_at(self) -> datetime | None:
        """Time when the trainer applied it. None while it waits."""
        return self._time("applied_at")

    @property
    def applied_step(self) -> int | None:
        """Updates after this step use the new values. None while it waits."""
        return self._integer("applied_step")

    def __repr__(self) -> str:
        state = f"applied at step {self.applied_step:,}" if self.is_applied else "waiting"
        return f"<Change {self.number}: {', '.join(f'{name}={value}' for name, value in self.fields.items())}, {state}>"
