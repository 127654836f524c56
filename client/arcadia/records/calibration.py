"""The fields of a calibration."""

from __future__ import annotations

from typing import Any

from arcadia.records.job import EpisodesRecord
from arcadia.records.record import parse_interval, parse_number


class CalibrationRecord(EpisodesRecord):
    """The fields of a calibration: values of a checkpoint's critic compared with the returns of futures."""

    noun = "Calibration"

    @property
    def bias(self) -> float | None:
        """Mean of value minus mean return: positive if the critic overestimates. None until it is done."""
        return self._error("bias")

    @property
    def bias_interval(self) -> tuple[float, float] | None:
        """95 % t-interval of the bias."""
        return parse_interval((self.data["errors"] or {}).get("bias_interval"))

    @property
    def rmse(self) -> float | None:
        """Root mean square error of the values, corrected for the noise of the mean returns."""
        return self._error("rmse")

    @property
    def correlation(self) -> float | None:
        """Correlation of values and mean returns. None if one of them is constant."""
        return self._error("correlation")

    @property
    def skill(self) -> float | None:
        """1 if all values are right, 0 if they are no better than always predicting the mean return."""
        return self._error("skill")

    @property
    def bootstrap_weight(self) -> float | None:
        """Mean weight of the critic's own values in the returns, which hide that share of a bias."""
        return self._error("bootstrap_weight")

    @property
    def regret_interval(self) -> tuple[float, float] | None:
        """95 % interval of the mean return that the chosen action loses against the best one.

        None if it was not measured, or for a single episode.
        """
        regret = (self.data["errors"] or {}).get("regret")
        return None if regret is None else parse_interval(regret["interval"])

    @property
    def moments_done(self) -> int:
        """Number of judged decisions."""
        return int(self.data["moments_done"])

    @property
    def moments_total(self) -> int:
        """Number of decisions to judge. 0 until the episodes have been played."""
        return int(self.data["moments_total"])

    @property
    def bins(self) -> list[dict[str, Any]]:
        """Groups of decisions with similar values. Lists of calibrations leave them out."""
        return list((self.data.get("document") or {}).get("bins", []))

    @property
    def worst(self) -> list[dict[str, Any]]:
        """The decisions with the largest errors. Lists of calibrations leave them out."""
        return list((self.data.get("document") or {}).get("worst", []))

    @property
    def moments(self) -> list[dict[str, Any]]:
        """All judged decisions. Lists of calibrations leave them out."""
        return list((self.data.get("document") or {}).get("moments", []))

    def _error(self, name: str) -> float | None:
        errors = self.data["errors"]
        return None if errors is None else parse_number(errors[name])

    def __repr__(self) -> str:
        found = f", bias {self.bias:.4g}" if self.bias is not None else ""
        return f"<Calibration {self.id} of run {self.run_id} at step {self.step:,}: {self.state}{found}>"
