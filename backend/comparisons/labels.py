"""Labels that distinguish runs, or groups of runs, in a comparison."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from backend.comparisons.differences import field_differences
from backend.database.tables import Run
from backend.runs.names import (
    MAX_FIELDS,
    OMITTED_FIELDS,
    field_titles,
    field_values,
    first_fields,
    has_automatic_name,
    short_title,
)
from workers.contract.config.problems import title_of
from workers.contract.games import env_title


def run_labels(runs: Sequence[Run]) -> dict[int, str]:
    """Return a unique label for each run. A single run keeps its name."""
    if len(runs) == 1:
        return {runs[0].id: runs[0].name}
    described = _describe({run.id: run.comparable_config for run in runs}, runs)
    return {run.id: f"{label} #{run.id}" for run, label in zip(runs, described, strict=True)}


def group_labels(groups: Sequence[Sequence[Sequence[Run]]], by: Sequence[str] = ()) -> list[str]:
    """Return the name of each group with its number of samples, and of runs if some repeat others."""
    members = [[run for sample in group for run in sample] for group in groups]
    return [
        f"{name} (n = {len(group)}{f' from {len(runs)} runs' if len(runs) > len(group) else ''})"
        for name, group, runs in zip(group_names(members, by), groups, members, strict=True)
    ]


def group_names(groups: Sequence[Sequence[Run]], by: Sequence[str] = ()) -> list[str]:
    """Return a unique name for each group.

    The runs of a group agree in the fields `by`. Without fields, they agree in everything but the seed.
    """
    described = [_describe_shared(runs, by) for runs in groups] if by else _describe_without_seed(groups)
    count = Counter(described)
    return [
        name if count[name] == 1 else f"{name} from #{runs[0].id}" for name, runs in zip(described, groups, strict=True)
    ]


def group_names_over_games(groups: Sequence[Sequence[Run]]) -> list[str]:
    """Return a unique name for each group whose runs differ only in seed and environment."""
    if len({runs[0].algorithm for runs in groups}) == len(groups):
        return group_names(groups, ["algorithm"])
    configs = {runs[0].id: runs[0].comparable_config for runs in groups}
    differing = [row.field for row in field_differences(configs, field_titles()) if not row.same]
    named = [field for field in differing if field not in (*OMITTED_FIELDS, "seed")][:MAX_FIELDS]
    return group_names(groups, named or ["algorithm"])


def _describe_shared(runs: Sequence[Run], by: Sequence[str]) -> str:
    """Return the method and the environment if all runs share them, and the fields that the runs are grouped by."""
    methods, games = {title_of(run.algorithm) for run in runs}, {env_title(run.env) for run in runs}
    shared = [name for names in (methods, games) if len(names) == 1 for name in names]
    fields = [name for name in by if name not in ("algorithm", "env")]
    lacking = [f"no {short_title(name)}" for name in fields if name not in runs[0].comparable_config]
    return " · ".join([*filter(None, shared), *field_values(runs[0], fields), *lacking]) or "All runs"


def _describe_without_seed(groups: Sequence[Sequence[Run]]) -> list[str]:
    firsts = [runs[0] for runs in groups]
    configs = {
        run.id: {name: value for name, value in run.comparable_config.items() if name != "seed"} for run in firsts
    }
    same_name = [len({run.name for run in runs}) == 1 for runs in groups]
    return _describe(configs, firsts, same_name)


def _describe(
    configs: Mapping[int, Mapping[str, Any]], runs: Sequence[Run], use_name: Sequence[bool] | None = None
) -> list[str]:
    """Return each run's name with the fields that differ. Without `use_name`, begin with method and environment.

    Method and environment suffice if no two runs share both.
    """
    rows = [row for row in field_differences(configs, field_titles()) if not row.same]
    differing = {row.field for row in rows}
    are_distinct = len({(run.algorithm, run.env) for run in runs}) == len(runs)
    fields = [] if are_distinct else first_fields([row.field for row in rows if row.field not in OMITTED_FIELDS])
    return [
        " · ".join([*_prefix(run, differing, by_name), *field_values(run, fields)])
        for run, by_name in zip(runs, use_name or [True] * len(runs), strict=True)
    ]


def _prefix(run: Run, differing: set[str], by_name: bool) -> list[str]:
    method, env = title_of(run.algorithm), env_title(run.env)
    if has_automatic_name(run) or (not by_name and method):
        return [part for part in (method, env) if part]
    parts = [run.name]
    if "algorithm" in differing and method:
        parts.append(method)
    if "env" in differing and env:
        parts.append(env)
    return parts
