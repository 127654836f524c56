"""Runs that differ in their seed alone, or that agree in some fields."""

from collections import Counter
from collections.abc import Hashable, Sequence

from backend.errors import FieldError, Invalid
from backend.models import Run
from backend.runs.differences import alike, key_of


def groups_of(runs: Sequence[Run], by: Sequence[str] = ()) -> list[list[Run]]:
    """The runs that agree in these fields of their configurations; without fields those that differ in the seed alone.

    A method that has no such field agrees with others that have none.
    """
    if not by:
        return seed_groups(runs)
    groups: dict[Hashable, list[Run]] = {}
    for run in runs:
        values = tuple(key_of(run.config[name]) if name in run.config else None for name in by)
        groups.setdefault(values, []).append(run)
    return list(groups.values())


def groups_over_games(runs: Sequence[Run], by: Sequence[str] = ()) -> list[list[Run]]:
    """The runs that agree in these fields; without fields those that differ in seed and game alone."""
    if by:
        return groups_of(runs, by)
    every = {run.id: run for run in runs}
    configs = {run.id: run.config for run in runs}
    return [[every[run_id] for run_id in ids] for ids in alike(configs, but=("seed", "env"))]


def fields_named(written: str, runs: Sequence[Run]) -> list[str]:
    """The fields that an address names, each once; one that no run has is refused."""
    by = list(dict.fromkeys(part.strip() for part in written.split(",") if part.strip()))
    known = sorted({name for run in runs for name in run.config})
    if unknown := [name for name in by if name not in known]:
        told = f"no run here has a field {unknown[0][:100]}; name some of {', '.join(known)}"
        raise Invalid(FieldError(field="group_by", message=told))
    return by


def seed_groups(runs: Sequence[Run]) -> list[list[Run]]:
    """The runs in groups that differ in the seed alone, in the order of their first ones.

    A repeated seed begins another group, since it is no further sample; so does a fork of another checkpoint.
    """
    configuration = {run_id: n for n, ids in enumerate(alike({run.id: run.config for run in runs})) for run_id in ids}
    times: Counter[Hashable] = Counter()
    groups: dict[Hashable, list[Run]] = {}
    for run in runs:
        same = (configuration[run.id], run.parent_run_id, run.parent_checkpoint_id)
        sown = (same, run.config.get("seed"))
        groups.setdefault((same, times[sown]), []).append(run)
        times[sown] += 1
    return list(groups.values())
