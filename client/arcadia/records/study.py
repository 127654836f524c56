"""The fields of studies, of their points, and of suites."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from arcadia.records import Record, parse_number

STUDY_ENDED_STATES = frozenset({"finished", "stopped"})
Axes = Mapping[str, Sequence[Any]] | Sequence[Mapping[str, Any]]


class StudyPoint(Record):
    """A point of a study: one combination of values, and its runs."""

    number: int
    """Number of the point, from 0."""

    values: dict[str, Any]
    """Values of the varied fields."""

    @property
    def run_ids(self) -> list[int]:
        """Numbers of the runs that exist."""
        return [run["run_id"] for run in self.data["runs"] if run["run_id"] is not None]

    n: int
    """Number of finished runs, which the mean is over."""

    failed: int
    """Number of failed runs, which the mean leaves out."""

    mean: float | None
    """Mean return of the finished runs."""

    @property
    def interval(self) -> tuple[float, float] | None:
        """95 % interval of the mean. None below three runs."""
        low, high = self._number("low"), self._number("high")
        return None if low is None or high is None else (low, high)

    @property
    def decision(self) -> str | None:
        """One of undecided, decided and limit_reached. None unless the study adds seeds until certain."""
        decision = self.data.get("decision")
        return None if decision is None else str(decision["state"])

    @property
    def beaten_by(self) -> int | None:
        """Number of a point that is proven better, or None."""
        decision = self.data.get("decision")
        return None if decision is None or decision["beaten_by"] is None else int(decision["beaten_by"])

    def __repr__(self) -> str:
        mean = "none" if self.mean is None else f"{self.mean:.4g}"
        failed = f", {self.failed} failed" if self.failed else ""
        return f"<StudyPoint {self.number} {self.data['label']!r}: mean {mean} of {self.n}{failed}>"


class StudyPreview(Record):
    """Size and cost of a study before it starts."""

    runs: int
    """Number of runs."""

    steps: int
    """Steps of all runs."""

    seconds: float | None
    """Estimated duration. None if it cannot be estimated."""

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

    id: int
    """Number of the study."""

    name: str
    """Name of the study."""

    project: str
    """Name of the project."""

    state: str
    """One of running, paused, finished and stopped."""

    state_reason: str | None
    """Sentence that says why it was paused automatically."""

    @property
    def has_ended(self) -> bool:
        """True if the study is finished or stopped."""
        return self.state in STUDY_ENDED_STATES

    @property
    def question(self) -> str:
        """The question that it answers, as Markdown. Lists of studies leave it out."""
        return str(self.data.get("question", ""))

    verdict: str | None
    """Which points are best or undecided, if seeds are added until certain. Lists of studies leave it out."""

    @property
    def run_counts(self) -> dict[str, int]:
        """Number of runs by state."""
        return dict(self.data["runs"])

    @property
    def best_mean(self) -> float | None:
        """Best mean return of a point, over its finished runs."""
        return self._number("best")

    created_at: datetime
    """Time when it was created."""

    finished_at: datetime | None
    """Time when it ended."""

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


class GameList(Record):
    """A named list of games, with the default settings of suites over it."""

    name: str
    """Name of the list, such as atari-5."""

    title: str
    """Title for display."""

    @property
    def games(self) -> list[str]:
        """Its environments."""
        return [str(game["env"]) for game in self.data["games"]]

    def __repr__(self) -> str:
        return f"<GameList {self.name!r}: {len(self.games)} games>"


class SuiteResult(Record):
    """The runs of one setting in all games of a study. Scores are human-normalized, in percent."""

    label: str
    """The setting of the runs: the method, or the values of the other axes."""

    protocol: str
    """Protocol of the evaluations."""

    @property
    def games(self) -> dict[str, float | None]:
        """Mean normalized score of each environment. None without one."""
        return {str(game["env"]): parse_number(game["percent"]) for game in self.data["games"]}

    @property
    def median(self) -> float | None:
        """Median over games of the mean over runs."""
        return self._value("median")

    @property
    def interquartile_mean(self) -> float | None:
        """Mean of the middle half of all runs."""
        return self._value("interquartile_mean")

    @property
    def mean(self) -> float | None:
        """Mean over games of the mean over runs."""
        return self._value("mean")

    @property
    def optimality_gap(self) -> float | None:
        """Mean amount by which runs miss the human score."""
        return self._value("optimality_gap")

    @property
    def estimated_median(self) -> float | None:
        """Median over 57 games, estimated from Atari-5. None without a score in each of its games."""
        return self._value("estimated_median")

    def interval(self, statistic: str) -> tuple[float, float] | None:
        """Return the 95 % interval of a statistic, such as median. None below three seeds per game."""
        bounds = self.data[statistic]
        if bounds is None or bounds["low"] is None:
            return None
        return float(bounds["low"]), float(bounds["high"])

    def __repr__(self) -> str:
        values: dict[str, Any] = {name: self._value(name) for name in ("median", "interquartile_mean", "mean")}
        shown = ", ".join(f"{name} {value:.4g}" for name, value in values.items() if value is not None)
        return f"<SuiteResult {self.label!r}: {shown or 'no scores'}>"

    def _value(self, name: str) -> float | None:
        value = self.data[name]
        return None if value is None else parse_number(value["value"])
