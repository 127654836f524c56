"""The fields of futures."""

from __future__ import annotations

from typing import Any

from arcadia.records.job import JobRecord
from arcadia.records.record import parse_interval, parse_number


class FuturesRecord(JobRecord):
    """The fields of futures: simulated continuations of an episode from one of its decisions."""

    noun = "Futures"

    @property
    def replay_id(self) -> int:
        """Number of the replay."""
        return int(self.data["replay_id"])

    @property
    def decision(self) -> int:
        """The decision that they continue from, counted from 0."""
        return int(self.data["decision"])

    @property
    def agent_run_id(self) -> int:
        """Number of the run whose agent acts."""
        return int(self.data["agent_run_id"])

    @property
    def agent_step(self) -> int:
        """Step of the checkpoint that acts."""
        return int(self.data["agent_step"])

    @property
    def value(self) -> float | None:
        """V(s), or the highest Q(s, a), at the decision. None until they are done."""
        return self._number("value")

    @property
    def mean(self) -> float | None:
        """Mean discounted return. None until they are done."""
        return self._number("mean")

    @property
    def interval(self) -> tuple[float, float] | None:
        """95 % t-interval of the mean."""
        return parse_interval(self.data["interval"])

    @property
    def returns(self) -> list[float | None]:
        """Discounted return of each future. Lists of futures leave them out."""
        return [parse_number(each) for each in self.document.get("returns", [])]

    @property
    def actions(self) -> list[dict[str, Any]]:
        """Mean return of each first action, if requested. Lists of futures leave them out."""
        return list(self.document.get("actions", []))

    @property
    def document(self) -> dict[str, Any]:
        """The whole result, as `arcadia futures --json` prints it. Empty until they are done."""
        return dict(self.data.get("document") or {})

    @property
    def done(self) -> int:
        """Progress in decisions."""
        return int(self.data["done"])

    @property
    def total(self) -> int:
        """Decisions of all simulations."""
        return int(self.data["total"])

    def __repr__(self) -> str:
        found = f", value {self.value:.4g}, mean {self.mean:.4g}" if None not in (self.value, self.mean) else ""
        return f"<Futures {self.id} of replay {self.replay_id} at decision {self.decision:,}: {self.state}{found}>"
