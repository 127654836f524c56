"""The fields of a study, and of its points."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from arcadia.records.record import Record

STUDY_ENDED_STATES = frozenset({"finished", "stopped"})
Axes = Mapping[str, Sequence[Any]] | Sequence[Mapping[str, Any]]


class StudyPoint(Record):
    """A point of a study: one combination of values, and its runs."""

    @property
    def number(self) -> int:
        """Number of the point, from 0."""
        return int(self.data["number"])

    @property
    def values(self) -> dict[str, Any]:
        """Values of the varied fields."""
        return dict(self.data["values"])

    @property
    def run_ids(self) -> list[int]:
        """Numbers of the runs that exist."""
        return [run["run_id"] for run in self.data["runs"] if run["run_id"] is not None]

    @property
    def n(self) -> int:
        """Number of finished runs, which the mean is over."""
        return int(self.data["n"])

    @property
    def mean(self) -> float | None:
        """Mean return of the finished runs."""
        return self._number("mean")

    @property
    def interval(self) -> tuple[float, float] | None:
        """95 % interval of the mean. None below three runs."""
        low, high = self._number("low"), self._number("high")
        return None if low is None or high is None else (low, high)

    @property
    def decision(self) -> str | None:
        """One of undecided, decided and limit_reached. None unless the study adds seeds until certain."""
        found = self.data.get("decision")
        return None if found is None else str(found["state"])

    @property
    def beaten_by(self) -> int | None:
        """Number of a point that is proven better, or None."""
        found = self.data.get("decision")
        return None if found is None or found["beaten_by"] is None else int(found["beaten_by"])

    def __repr__(self) -> str:
        mean = "none" if self.mean is None else f"{self.mean:.4g}"
        return f"<StudyPoint {self.number} {self.data['label']!r}: mean {mean} of {self.n}>"


class StudyPreview(Record):
    """Size and cost of a study before it starts."""

    @property
    def runs(self) -> int:
        """Number of runs."""
        return int(self.data["runs"])

    @property
    def steps(self) -> int:
        """Steps of all runs."""
        return int(self.data["steps"])

    @property
    def seconds(self) -> float | None:
        """Estimated duration. None if it cannot be estimated."""
        return self._number("seconds")

    @property
    def needs_confirmation(self) -> str | None:
        """Sentence that says why the study needs `confirm=True`."""
        return self._text("confirm")

    @property
    def rejection(self) -> str | None:
        """Sentence that says why the study is too large."""
        return self._text("refused")

    def __repr__(self) -> str:
        return f"<StudyPreview: {self.runs} runs, {self.steps:,} steps>"


class StudyRecord(Record):
    """The fields of a study."""

    @property
    def id(self) -> int:
        """Number of the study."""
        return int(self.data["id"])

    @property
    def name(self) -> str:
        """Name of the study."""
        return str(self.data["name"])

    @property
    def project(self) -> str:
        """Name of the project."""
        return str(self.data["project"])

    @property
    def state(self) -> str:
        """One of running, paused, finished and stopped."""
        return str(self.data["state"])

    @property
    def state_reason(self) -> str | None:
        """Sentence that says why it was paused automatically."""
        return self._text("state_reason")

    @property
    def has_ended(self) -> bool:
        """True if the study is finished or stopped."""
        return self.state in STUDY_ENDED_STATES

    @property
    def question(self) -> str:
        """The question that it answers, as Markdown. Lists of studies leave it out."""
        return str(self.data.get("question", ""))

    @property
    def verdict(self) -> str | None:
        """Which points are best or undecided, if seeds are added until certain. Lists of studies leave it out."""
        return self._text("verdict")

    @property
    def run_counts(self) -> dict[str, int]:
        """Number of runs by state."""
        return dict(self.data["runs"])

    @property
    def best_mean(self) -> float | None:
        """Best mean return of a point."""
        return self._number("best")

    @property
    def created_at(self) -> datetime:
        """Time when it was created."""
        return self._required_time("created_at")

    @property
    def finished_at(self) -> datetime | None:
        """Time when it ended."""
        return self._time("finished_at")

    @property
    def progress(self) -> float:
        """Share of the runs that have ended, from 0 to 1."""
        counts = self.run_counts
        ended = sum(counts[state] for state in ("finished", "failed", "stopped", "removed"))
        total = sum(counts.values())
        return ended / total if total else 0.0

    def __repr__(self) -> str:
        return f"<Study {self.id} {self.name!r}: {self.state}, {self.progress:.0%} of its runs>"


def build_specification(name: str, axes: Axes, fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the specification of a study. A mapping of axes is a short form of their list."""
    if isinstance(axes, Mapping):
        axes = [{"field": field, "values": list(values)} for field, values in axes.items()]
    return {"name": name, "axes": [dict(axis) for axis in axes], **fields}
