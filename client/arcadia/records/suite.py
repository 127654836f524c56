"""Lists of games, and the statistics of a study over its games."""

from __future__ import annotations

from typing import Any

from arcadia.records.record import Record, parse_number


class GameList(Record):
    """A named list of games, with the default settings of suites over it."""

    @property
    def name(self) -> str:
        """Name of the list, such as atari-5."""
        return str(self.data["name"])

    @property
    def title(self) -> str:
        """Title for display."""
        return str(self.data["title"])

    @property
    def games(self) -> list[str]:
        """Its environments."""
        return [str(game["env"]) for game in self.data["games"]]

    def __repr__(self) -> str:
        return f"<GameList {self.name!r}: {len(self.games)} games>"


class SuiteResult(Record):
    """The runs of one setting in all games of a study. Scores are human-normalized, in percent."""

    @property
    def label(self) -> str:
        """The setting of the runs: the method, or the values of the other axes."""
        return str(self.data["label"])

    @property
    def protocol(self) -> str:
        """Protocol of the evaluations."""
        return str(self.data["protocol"])

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
        found = self.data[statistic]
        if found is None or found["low"] is None:
            return None
        return float(found["low"]), float(found["high"])

    def __repr__(self) -> str:
        found: dict[str, Any] = {name: self._value(name) for name in ("median", "interquartile_mean", "mean")}
        shown = ", ".join(f"{name} {value:.4g}" for name, value in found.items() if value is not None)
        return f"<SuiteResult {self.label!r}: {shown or 'no scores'}>"

    def _value(self, name: str) -> float | None:
        found = self.data[name]
        return None if found is None else parse_number(found["value"])
