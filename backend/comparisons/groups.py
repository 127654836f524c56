"""Groups of runs that differ only in their seed, or that agree in some fields.

A run that repeats another, seed included, is not an independent sample. It starts a new group.
"""

from collections import Counter
from collections.abc import Container, Hashable, Mapping, Sequence

from backend.colors import Stroke, group_strokes
from backend.comparisons.differences import group_identical, normalize_value
from backend.database.tables import Run
from backend.errors import FieldError, Invalid


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
    groups of their own.
    """
    if not by:
        groups = [[[run] for run in group] for group in group_runs(runs)]
    else:
        identities = _identities(runs)
        found: dict[Hashable, dict[Hashable, list[Run]]] = {}
        for run in runs:
            found.setdefault(_values(run, by), {}).setdefault(identities[run.id], []).append(run)
        groups = [list(group.values()) for group in found.values()]
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
