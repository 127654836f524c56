"""Runs that differ in their seed alone."""

from collections import Counter
from collections.abc import Hashable, Sequence

from backend.models import Run
from backend.runs.differences import alike


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
