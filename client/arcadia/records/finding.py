"""The fields of a finding of a run's diagnosis."""

from __future__ import annotations

from typing import Any

from arcadia.records.record import Record


class Finding(Record):
    """A fault of a run, with its cause, its evidence and the settings that may fix it."""

    @property
    def rule(self) -> str:
        """Name of the rule that found it."""
        return str(self.data["rule"])

    @property
    def title(self) -> str:
        """Title such as "Return stalled"."""
        return str(self.data["title"])

    @property
    def cause(self) -> str:
        """Why it happens."""
        return str(self.data["cause"])

    @property
    def detail(self) -> str:
        """Numbers of this run."""
        return str(self.data["detail"])

    @property
    def metric(self) -> str:
        """Metric that shows it."""
        return str(self.data["evidence"]["metric"])

    @property
    def steps(self) -> tuple[int, int]:
        """First and last step that show it."""
        evidence = self.data["evidence"]
        return int(evidence["first_step"]), int(evidence["last_step"])

    @property
    def settings(self) -> dict[str, Any]:
        """Suggested values by field. Empty if no setting fixes it."""
        return {each["field"]: each["suggested"] for each in self.data["settings"]}

    @property
    def current_settings(self) -> dict[str, Any]:
        """Current values of the same fields."""
        return {each["field"]: each["current"] for each in self.data["settings"]}

    @property
    def test(self) -> dict[str, Any] | None:
        """Study that tests the settings, for `client.launch_study(**test)`. None if there is nothing to test."""
        found: dict[str, Any] | None = self.data["test"]
        return found

    @property
    def verdicts(self) -> dict[int, str | None]:
        """Verdict of each study that tests it, by study number. None until a study has finished."""
        return {each["study_id"]: each["verdict"] for each in self.data["tests"]}

    def __repr__(self) -> str:
        return f"<Finding {self.rule!r}: {self.settings or 'no settings'}>"
