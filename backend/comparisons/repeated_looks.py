"""Warnings about verdicts whose 5 % error is used up, because seeds were added after a verdict was possible."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from backend.comparisons.scores import GroupScores
from backend.database.tables import Run, Study, StudyRun
from workers.contract.inference.means import MIN_RUNS
from workers.contract.inference.ranks import PAIR_THRESHOLD, e_values


def describe_repeated_looks(session: Session, best: GroupScores, other: GroupScores) -> str:
    """Return a warning about a significant difference, or an empty text.

    Welch's interval is wrong for 5 % of the comparisons without a difference if it is looked at once. Each further
    look after more seeds adds to this, unless a test that allows for repeated looks also decides.
    """
    added = _count_added(session, best.runs, other.runs)
    evidence = float(e_values(best.scores, other.scores))
    if not added or evidence >= PAIR_THRESHOLD:
        return ""
    subject = "1 of these runs was" if added == 1 else f"{added} of these runs were"
    return (
        f"{subject} launched after a first verdict was possible. Repeated looks raise the 5 % chance of a false "
        f"verdict, and a test that allows for them does not confirm it (e-value {evidence:.3g} of {PAIR_THRESHOLD:g})."
    )


def _count_added(session: Session, *groups: Sequence[Run]) -> int:
    """Return how many runs were created after a verdict was possible, without those that a study planned before."""
    ends = [_first_end(group) for group in groups]
    known = [end for end in ends if end is not None]
    if len(known) < len(ends):
        return 0
    later = [run.id for group in groups for run in group if run.created_at > max(known)]
    return len({*later} - _planned_at_start(session, later))


def _first_end(group: Sequence[Run]) -> datetime | None:
    """Return when the group first had enough finished runs for a verdict."""
    ends = sorted(run.finished_at for run in group if run.state == "finished" and run.finished_at is not None)
    return ends[MIN_RUNS - 1] if len(ends) >= MIN_RUNS else None


def _planned_at_start(session: Session, run_ids: Sequence[int]) -> set[int]:
    """Return those runs whose seed is in the specification of their study."""
    query = select(StudyRun.run_id, StudyRun.seed, Study.specification).join(Study, Study.id == StudyRun.study_id)
    rows = session.execute(query.where(StudyRun.run_id.in_(run_ids)))
    return {run_id for run_id, seed, specification in rows if seed in specification["seeds"]}
