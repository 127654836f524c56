"""The fields of a replay."""

from __future__ import annotations

from datetime import datetime

from arcadia.records.record import Record


class ReplayRecord(Record):
    """The fields of a replay, the recording of one episode."""

    @property
    def id(self) -> int:
        """Number of the replay."""
        return int(self.data["id"])

    @property
    def run_id(self) -> int:
        """Number of the run."""
        return int(self.data["run_id"])

    @property
    def step(self) -> int:
        """Step of the checkpoint that played."""
        return int(self.data["step"])

    @property
    def file_id(self) -> int | None:
        """Number of the video's file. None if it was pruned."""
        return self._integer("file_id")

    @property
    def poster_file_id(self) -> int | None:
        """Number of the picture's file."""
        return self._integer("poster_file_id")

    @property
    def track_file_id(self) -> int | None:
        """Number of the track's file."""
        return self._integer("track_file_id")

    @property
    def episode_return(self) -> float:
        """Return of the episode."""
        return float(self.data["episode_return"])

    @property
    def length(self) -> int:
        """Number of decisions in the episode."""
        return int(self.data["length"])

    @property
    def seconds(self) -> float:
        """Length of the video in seconds."""
        return float(self.data["seconds"])

    @property
    def is_pinned(self) -> bool:
        """True if pruning never deletes the replay."""
        return bool(self.data["pinned"])

    @property
    def created_at(self) -> datetime:
        """Time when it was recorded."""
        return self._required_time("created_at")

    def __repr__(self) -> str:
        return f"<Replay {self.id} of run {self.run_id} at step {self.step:,}: return {self.episode_return:g}>"
