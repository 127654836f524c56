"""Groups of runs that differ only in their seed, or that agree in some fields; their labels, and runs side by side.

A run that repeats another, seed included, is not an independent sample. It starts a new group.
"""

from collections import Counter
from collections.abc import Container, Hashable, Mapping, Sequence
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from arcadia_backend.colors import Stroke, group_strokes
from arcadia_backend.comparisons.schemas import (
    ComparedRun,
    Comparison,
    MetricSummary,
    RunSummary,
    field_differences,
    group_identical,
    normalize_value,
    provenance_differences,
)
from arcadia_backend.database.tables import Run
from arcadia_backend.errors import FieldError, Invalid
from arcadia_backend.metrics.points import MetricSeries, training_seconds
from arcadia_backend.provenance import latest_provenances
from arcadia_backend.runs.names import (
    MAX_FIELDS,
    OMITTED_FIELDS,
    field_titles,
    field_values,
    first_fields,
    has_automatic_name,
    short_title,
)
from arcadia_backend.runs.queries import to_schemas
from arcadia_workers.contract.config.problems import title_of
from arcadia_workers.contract.games import env_title


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


def group_runs(runs: Sequence[Run], by: Sequence[str] = ()) -> list[list[Run]]:
    """Group runs that agree in these fields. Without fields, group runs that differ only in their seed.

    Methods that lack a field agree in it. Forks of different checkpoints differ in more than their seed.
    """
    if by:
        return _group(runs, {run.id: _values(run, by) for run in runs})
    without_seed = _config_numbers(runs, ignored=("seed",))
    return _group(runs, {run.id: (without_seed[run.id], *_origin(run)) for run in runs})


def group_samples(runs: Sequence[Run], by: Sequence[str], known: Container[int]) -> list[list[list[Run]]]:
    """Group the runs in `known` for a chart, and list the runs of each group by sample.

    With fields, runs that repeat each other, seed included, are one sample of their group. Without fields, they start
    separate groups.
    """
    if not by:
        groups = [[[run] for run in group] for group in group_runs(runs)]
    else:
        identities = _identities(runs)
        by_key: dict[Hashable, dict[Hashable, list[Run]]] = {}
        for run in runs:
            by_key.setdefault(_values(run, by), {}).setdefault(identities[run.id], []).append(run)
        groups = [list(group.values()) for group in by_key.values()]
    kept = [[[run for run in sample if run.id in known] for sample in group] for group in groups]
    return [samples for group in kept if (samples := [sample for sample in group if sample])]


def strokes_by_run(groups: Sequence[Sequence[Run]]) -> dict[int, Stroke]:
    """Return the stroke of each run: the one of its group."""
    return group_strokes([[run.id for run in group] for group in groups])


def group_runs_over_games(runs: Sequence[Run], by: Sequence[str] = ()) -> list[list[Run]]:
    """Group runs that agree in these fields. Without fields, group runs that differ only in seed and environment."""
    return group_runs(runs, by) if by else _group(runs, _config_numbers(runs, ignored=("seed", "env")))


def parse_group_fields(text: str, runs: Sequence[Run]) -> list[str]:
    """Return the unique field names in a comma-separated list. Raise Invalid if no run has one of them."""
    by = list(dict.fromkeys(part.strip() for part in text.split(",") if part.strip()))
    known = sorted({name for run in runs for name in run.comparable_config})
    if unknown := [name for name in by if name not in known]:
        message = f"no run here has a field {unknown[0][:100]}; use some of {', '.join(known)}"
        raise Invalid(FieldError(field="group_by", message=message))
    return by


def _group(runs: Sequence[Run], keys: Mapping[int, Hashable]) -> list[list[Run]]:
    """Group runs by key, in order of first appearance. A repeated run starts a new group."""
    identities, repeats = _identities(runs), Counter[Hashable]()
    groups: dict[Hashable, list[Run]] = {}
    for run in runs:
        identity = identities[run.id]
        groups.setdefault((keys[run.id], repeats[identity]), []).append(run)
        repeats[identity] += 1
    return list(groups.values())


def _identities(runs: Sequence[Run]) -> dict[int, Hashable]:
    """Return a key of each run that is equal for runs that repeat each other."""
    configs = _config_numbers(runs, ignored=())
    return {run.id: (configs[run.id], *_origin(run), *_unknown_seed(run)) for run in runs}


def _config_numbers(runs: Sequence[Run], ignored: Sequence[str]) -> dict[int, int]:
    """Return the number of each run's configuration. Equal configurations have equal numbers."""
    groups = group_identical({run.id: run.comparable_config for run in runs}, ignored)
    return {run_id: number for number, ids in enumerate(groups) for run_id in ids}


def _origin(run: Run) -> tuple[int | None, int | None]:
    return run.parent_run_id, run.parent_checkpoint_id


def _unknown_seed(run: Run) -> tuple[int, ...]:
    """Return a key that tells runs apart whose scripts report no seed, since most programs then draw a random one."""
    return () if run.origin == "trained" or "seed" in run.config else (run.id,)


def _values(run: Run, by: Sequence[str]) -> Hashable:
    config = run.comparable_config
    return tuple(normalize_value(config[name]) if name in config else None for name in by)


def compare(
    session: Session, runs: Sequence[Run], groups: Sequence[Sequence[Run]], *, color_groups: bool
) -> Comparison:
    """Return the runs with their differences and results."""
    strokes = strokes_by_run(groups if color_groups else [[run] for run in runs])
    labels = run_labels(runs)
    return Comparison(
        runs=[
            ComparedRun.model_validate(
                run.model_dump()
                | {"label": labels[run.id], "color": strokes[run.id].color, "dash": strokes[run.id].dash}
            )
            for run in to_schemas(session, runs)
        ],
        differences=field_differences({run.id: run.comparable_config for run in runs}, field_titles()),
        provenance=provenance_differences(latest_provenances(session, [run.id for run in runs])),
        groups=[[run.id for run in group] for group in groups],
        summary=_summarize(session, runs),
    )


def _summarize(session: Session, runs: Sequence[Run]) -> list[RunSummary]:
    ids = [run.id for run in runs]
    columns = (
        MetricSeries.run_id,
        MetricSeries.name,
        MetricSeries.last,
        MetricSeries.max,
        MetricSeries.recent_mean,
    )
    metrics: dict[int, dict[str, MetricSummary]] = {run_id: {} for run_id in ids}
    for run_id, name, last, largest, mean in session.execute(
        select(*columns).where(MetricSeries.run_id.in_(ids)).order_by(MetricSeries.name)
    ):
        metrics[run_id][name] = MetricSummary(last=last, max=largest, mean_last_100=mean)
    seconds = training_seconds(session, ids)
    return [
        RunSummary(run_id=run.id, metrics=metrics[run.id], episodes=run.episodes, wall_seconds=seconds[run.id])
        for run in runs
    ]
