"""The comparison of groups of runs."""

from __future__ import annotations

import html
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from arcadia.records.record import parse_number
from arcadia.tables import Columns, Kind, to_pandas, to_polars

if TYPE_CHECKING:
    import pandas
    import polars


class Comparison:
    """Groups of runs that differ only in their seeds, ranked by mean return, with the verdict on their differences."""

    def __init__(self, compared: Mapping[str, Any], judged: Mapping[str, Any]) -> None:
        self.data: dict[str, Any] = dict(compared)
        self.verdict_data: dict[str, Any] = dict(judged)

    @property
    def verdict(self) -> str:
        """The conclusion in sentences: which group is best, or why that is undecided."""
        sentences = [f"{pair['text']} {pair.get('warning', '')}".strip() for pair in self.verdict_data["pairs"]]
        return "\n".join(sentences) or str(self.verdict_data["message"])

    @property
    def quantity(self) -> str:
        """Sentence about the compared quantity."""
        return str(self.verdict_data["quantity"])

    @property
    def is_significant(self) -> bool:
        """True if the best group differs from every other group."""
        pairs = self.verdict_data["pairs"]
        return bool(pairs) and all(pair["significant"] for pair in pairs)

    @property
    def table(self) -> list[dict[str, Any]]:
        """A row for each group, the best first: group, runs, n, mean, low, high."""
        return [
            {
                "group": standing["name"],
                "runs": standing["run_ids"],
                "n": standing["n"],
                **{part: parse_number((standing["mean"] or {}).get(key)) for part, key in _ESTIMATE},
            }
            for standing in self.verdict_data["standings"]
        ]

    @property
    def differences(self) -> dict[str, dict[int, Any]]:
        """Settings that differ, each with its value by run."""
        return {
            each["field"]: {int(run_id): value for run_id, value in each["values"].items()}
            for each in self.data["differences"]
            if not each["same"]
        }

    def to_pandas(self) -> pandas.DataFrame:
        """Return the table of groups."""
        return to_pandas(self._columns(), "Comparison.to_pandas")

    def to_polars(self) -> polars.DataFrame:
        """Return the table of groups."""
        return to_polars(self._columns(), "Comparison.to_polars")

    def _columns(self) -> Columns:
        return {name: (kind, [row[name] for row in self.table]) for name, kind in _COLUMNS.items()}

    def __repr__(self) -> str:
        return f"<Comparison of {len(self.table)} groups: {self.verdict}>"

    def _repr_html_(self) -> str:
        """Return the table and the verdict for a notebook."""
        columns = ("group", "n", "mean", "low", "high")
        head = "".join(f"<th>{column}</th>" for column in columns)
        body = "".join(
            f"<tr>{''.join(f'<td>{_cell(row[column])}</td>' for column in columns)}</tr>" for row in self.table
        )
        verdict = "<br>".join(html.escape(sentence) for sentence in self.verdict.splitlines())
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table><p>{verdict}</p>"


_COLUMNS: dict[str, Kind] = {
    "group": "text",
    "runs": "integers",
    "n": "integer",
    "mean": "float",
    "low": "float",
    "high": "float",
}
_ESTIMATE = (("mean", "value"), ("low", "low"), ("high", "high"))


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:.4g}" if isinstance(value, float) else html.escape(str(value))
