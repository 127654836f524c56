"""The fields of a checkpoint."""

from __future__ import annotations

from datetime import datetime

from arcadia.records.record import Record


class CheckpointRecord(Record):
    """The fields of a checkpoint."""

    @property
    def id(self) -> int:
        """Number of the checkpoint."""
        return int(self.data["id"])

    @property
    def step(self) -> int:
        """Agent steps of the training when it was saved."""
        return int(self.data["step"])

    @property
    def frames(self) -> int:
        """Emulator frames of the training when it was saved."""
        return int(self.data["frames"])

    @property
    def attempt(self) -> int:
        """Attempt that saved it."""
        return int(self.data["attempt"])

    @property
    def file_id(self) -> int | None:
        """Number of the file. None if it was pruned."""
        return self._integer("file_id")

    @property
    def bytes(self) -> int:
        """Size of the file."""
        return int(self.data["bytes"])

    @property
    def return_mean(self) -> float | None:
        """Mean return of the last 100 training episodes before it was saved."""
        return self._number("return_mean")

    @property
    def is_best(self) -> bool:
        """True for the best checkpoint of the run."""
        return bool(self.data["best"])

    @property
    def is_available(self) -> bool:
        """True if the file exists. Pruning deletes files, but not the entries."""
        return bool(self.data["available"])

    @property
    def is_pinned(self) -> bool:
        """True if pruning never deletes the file."""
        return bool(self.data["pinned"])

    @property
    def aliases(self) -> list[str]:
        """Aliases that name it. Servers of earlier versions have none."""
        return list(self.data.get("aliases", ()))

    @property
    def created_at(self) -> datetime:
        """Time when it was saved."""
        return self._required_time("created_at")

    def __repr__(self) -> str:
        notes = [word for word, said in (("best", self.is_best), ("pinned", self.is_pinned)) if said]
        notes += [] if self.is_available else ["file pruned"]
        return f"<Checkpoint of step {self.step:,}{': ' if notes else ''}{', '.join(notes)}>"
