"""Aliases of checkpoints."""

from __future__ import annotations

from datetime import datetime

from arcadia.records.record import Record


class Alias(Record):
    """A change of an alias such as pong/champion. The newest one is the current state of the alias."""

    @property
    def name(self) -> str:
        """The alias."""
        return str(self.data["name"])

    @property
    def run_id(self) -> int | None:
        """Number of the run."""
        return self._integer("run_id")

    @property
    def run_name(self) -> str | None:
        """Name of the run."""
        return self._text("run_name")

    @property
    def checkpoint_id(self) -> int | None:
        """Number of the checkpoint. None if the alias was removed."""
        return self._integer("checkpoint_id")

    @property
    def step(self) -> int | None:
        """Step of the checkpoint."""
        return self._integer("step")

    @property
    def who(self) -> str | None:
        """Who changed it."""
        return self._text("who")

    @property
    def why(self) -> str:
        """Why it was changed."""
        return str(self.data["why"])

    @property
    def changed_at(self) -> datetime:
        """Time of the change."""
        return self._required_time("changed_at")

    def __repr__(self) -> str:
        what = "removed" if self.checkpoint_id is None else f"run {self.run_id} at step {self.step or 0:,}"
        return f"<Alias {self.name}: {what}>"
