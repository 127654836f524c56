"""The fields of an evaluation."""

from __future__ import annotations

from typing import Any

from arcadia.records.job import EpisodesRecord
from arcadia.records.record import parse_interval, parse_number


class EvaluationRecord(EpisodesRecord):
    """The fields of an evaluation: episodes played from a checkpoint by a protocol."""

    noun = "Evaluation"

    @property
    def mean(self) -> float | None:
        """Mean score. None until it is done."""
        return self._number("mean")

    @property
    def median(self) -> float | None:
        """Median score."""
        return self._number("median")

    @property
    def distinct(self) -> int | None:
        """Number of episodes that do not repeat another. None until it is done, and if an earlier version did it."""
        return self._integer("distinct")

    @property
    def standard_error(self) -> float | None:
        """Standard error of the mean."""
        return self._number("standard_error")

    @property
    def interval(self) -> tuple[float, float] | None:
        """95 % interval of the mean, for which repeated episodes are one."""
        return parse_interval(self.data["interval"])

    @property
    def human_normalized(self) -> float | None:
        """Human-normalized score in percent."""
        return self._number("human_normalized")

    @property
    def episodes_done(self) -> int:
        """Number of finished episodes."""
        return int(self.data["episodes_done"])

    @property
    def episodes_total(self) -> int:
        """Number of episodes."""
        return int(self.data["episodes_total"])

    @property
    def acting(self) -> dict[str, Any]:
        """How actions are chosen."""
        return dict(self.data["acting"])

    @property
    def scores(self) -> list[float | None]:
        """Score of each finished episode. Lists of evaluations leave them out."""
        return [parse_number(episode["score"]) for episode in self.data.get("episodes", [])]

    def __repr__(self) -> str:
        score = f", mean {self.mean:.4g}" if self.mean is not None else ""
        return f"<Evaluation {self.id} of run {self.run_id} at step {self.step:,}: {self.state}{score}>"
