"""The runs, studies and reports of an export, with all that they refer to."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sqlalchemy import select
from sqlalchemy.orm import Session

from backend.archives.block_ids import BlockIds, find_ids
from backend.archives.format import MAX_RUNS
from backend.archives.shown import describe
from backend.database.tables import Report, Run, Study, StudyRun
from backend.errors import FieldError, Invalid
from backend.reports.blocks import read_blocks
from backend.reports.service import find_report
from backend.studies.service import find_study
from backend.web.lookup import find_run


@dataclass(frozen=True)
class Wanted:
    """Ids of what a user wants to export."""

    runs: Sequence[int] = ()
    studies: Sequence[int] = ()
    reports: Sequence[int] = ()


@dataclass(frozen=True)
class Selection:
    """What an archive will contain."""

    runs: Sequence[Run]
    studies: Sequence[Study]
    reports: Sequence[Report]


def select_items(session: Session, wanted: Wanted) -> Selection:
    """Return what to export: a study with its runs, and a report with all that its blocks are about.

    Raise NotFound if one of the wanted items does not exist, and Invalid if there would be too many runs.
    """
    reports = [find_report(session, each) for each in wanted.reports]
    studies = [find_study(session, each) for each in wanted.studies]
    runs = [find_run(session, each) for each in wanted.runs]
    ids = [find_ids(read_blocks(each.blocks)) for each in reports]
    studies += session.scalars(select(Study).where(Study.id.in_(_join(each.studies for each in ids))))
    studies = list(dict.fromkeys(studies))
    in_study = StudyRun.study_id.in_([each.id for each in studies])
    of_studies = select(StudyRun.run_id).where(in_study, StudyRun.run_id.is_not(None))
    runs += session.scalars(select(Run).where(Run.id.in_(of_studies)).order_by(Run.id))
    runs += session.scalars(select(Run).where(Run.id.in_(_shown_runs(session, ids))).order_by(Run.id))
    runs = list(dict.fromkeys(runs))
    if len(runs) > MAX_RUNS:
        message = f"the archive would have {len(runs):,} runs; it may have {MAX_RUNS:,}. Export fewer at once"
        raise Invalid(FieldError(field="studies" if studies else "runs", message=message))
    return Selection(runs, studies, reports)


def _shown_runs(session: Session, ids: Sequence[BlockIds]) -> set[int]:
    shown = _join(describe(session, each).runs for each in ids)
    return shown | _join(each.runs for each in ids)


def _join(ids: Iterable[Iterable[int]]) -> set[int]:
    return {each for some in ids for each in some}
