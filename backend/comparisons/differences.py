"""Differences between the configurations of runs, and between their provenances."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from backend.comparisons.schemas import FieldDifference
from backend.provenance.facts import TITLES, StoredProvenance, comparable_values, fill_gaps, listing_order, title_of


def field_differences(configs: Mapping[int, Mapping[str, Any]], titles: Mapping[str, str]) -> list[FieldDifference]:
    """Return every field of these configurations, in the order of the titles."""
    present = dict.fromkeys(field for config in configs.values() for field in config)
    fields = dict.fromkeys([*(field for field in titles if field in present), *present])
    return [
        _compare_field(field, titles.get(field, field), {i: c[field] for i, c in configs.items() if field in c})
        for field in fields
    ]


def provenance_differences(provenances: Mapping[int, StoredProvenance]) -> list[FieldDifference]:
    """Return the facts in which the provenances of these runs differ, those that can change results first."""
    values = {run_id: comparable_values(provenance) for run_id, provenance in provenances.items()}
    fill_gaps(values)
    fields = dict.fromkeys([*TITLES, *(field for each in values.values() for field in each)])
    differences = field_differences(values, {field: title_of(field) for field in sorted(fields, key=listing_order)})
    return [difference for difference in differences if not difference.same]


def group_identical(configs: Mapping[int, Mapping[str, Any]], ignored: Collection[str] = ("seed",)) -> list[list[int]]:
    """Group run ids by identical configuration, in order of first appearance."""
    groups: dict[tuple[tuple[str, Any], ...], list[int]] = {}
    for run_id, config in configs.items():
        key = tuple(sorted((field, normalize_value(value)) for field, value in config.items() if field not in ignored))
        groups.setdefault(key, []).append(run_id)
    return list(groups.values())


def _compare_field(field: str, title: str, values: dict[int, Any]) -> FieldDifference:
    usual, _count = Counter(map(normalize_value, values.values())).most_common(1)[0]
    marked = [run_id for run_id, value in values.items() if normalize_value(value) != usual]
    return FieldDifference(field=field, title=title, values=values, same=not marked, marked=marked)


def normalize_value(value: Any) -> Any:
    """Return a hashable key that is equal for equal values. In Python 1 == True, but not in a configuration."""
    if isinstance(value, Sequence) and not isinstance(value, str):
        return tuple(map(normalize_value, value))
    return repr(value) if value is None or isinstance(value, bool | str) else f"{value!r}".removesuffix(".0")
