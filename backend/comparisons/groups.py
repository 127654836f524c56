"""Runs that differ in their seed alone, or that agree in some fields.

A run that repeats another, seed and all, is no further sample of the same thing: it begins another group.
"""

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence

from backend.colors import Stroke, group_strokes
from backend.database.tables import Run
from backend.errors import FieldError, Invalid
from backend.runs.differences import alike, key_of


def groups_of(runs: Sequence[Run], by: Sequence[str] = ()) -> list[list[Run]]:
    """The runs that agree in these fields of their configurations; without fields those that differ in the seed alone.

    A method that has no such field agrees with others that have none. A fork of another checkpoint differs in more
    than its seed.
    """
    if by:
        return _grouped(runs, {run.id: _values(run, by) for run in runs})
    alike_but_seed = _numbered(runs, but=("seed",))
    return _grouped(runs, {run.id: (alike_but_seed[run.id], *_origin(run)) for run in runs})


def strokes_of(groups: Sequence[Sequence[Run]]) -> dict[int, Stroke]:
    """Return the stroke of each run, as its group is drawn."""
    return group_strokes([[run.id for run in group] for group in groups])


def groups_over_games(runs: Sequence[Run], by: Sequence[str] = ()) -> list[list[Run]]:
    """The runs that agree in these fields; without fields those that differ in seed and game alone."""
    return groups_of(runs, by) if by else _grouped(runs, _numbered(runs, but=("seed", "env")))


def fields_named(written: str, runs: Sequence[Run]) -> list[str]:
    """The fields that an address names, each once; one that no run has is refused."""
    by = list(dict.fromkeys(part.strip() for part in written.split(",") if part.strip()))
    known = sorted({name for run in runs for name in run.config})
    if unknown := [name for name in by if name not in known]:
        told = f"no run here has a field {unknown[0][:100]}; name some of {', '.join(known)}"
        raise Invalid(FieldError(field="group_by", message=told))
    return by


def _grouped(runs: Sequence[Run], keys: Mapping[int, Hashable]) -> list[list[Run]]:
    """The runs with equal keys, in the order of their first ones, but for those that repeat another."""
    configurations, times = _numbered(runs, but=()), Counter[Hashable]()
    groups: dict[Hashable, list[Run]] = {}
    for run in runs:
        repeated = (configurations[run.id], *_origin(run))
        groups.setdefault((keys[run.id], times[repeated]), []).append(run)
        times[repeated] += 1
    return list(groups.values())


def _numbered(runs: Sequence[Run], but: Sequence[str]) -> dict[int, int]:
    """A number for each configuration, by run; some fields do not count."""
    groups = alike({run.id: run.config for run in runs}, but)
    return {run_id: number for number, ids in enumerate(groups) for run_id in ids}


def _origin(run: Run) -> tuple[int | None, int | None]:
    return run.parent_run_id, run.parent_checkpoint_id


def _values(run: Run, by: Sequence[str]) -> Hashable:
    return tuple(key_of(run.config[name]) if name in run.config else None for name in by)
