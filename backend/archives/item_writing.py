"""The rows of a study or a report, written as members of an archive."""

from collections.abc import Iterable
from typing import Any

from sqlalchemy import Select, select
from sqlalchemy.orm import Session

from backend.archives import rows as tables_of
from backend.archives.block_ids import find_ids
from backend.archives.format import rows_of
from backend.archives.rows import RowTable, to_line
from backend.archives.shown import describe
from backend.archives.spool import MemberSpool, SpooledItem, content_hash, encode_lines, hash_lines
from backend.database.tables import PaperStudy, Report, Study, StudyPoint, StudyRun
from backend.database.tables.base import Base
from backend.reports.blocks import read_blocks


def spool_study(session: Session, spool: MemberSpool, study: Study, number: int) -> SpooledItem:
    """Write the rows of a study: its specification, its points and the plan of its runs."""
    first = len(spool.members)
    queries: list[tuple[RowTable, Select[Any]]] = [
        (tables_of.STUDY, select(Study).where(Study.id == study.id)),
        (tables_of.STUDY_POINTS, select(StudyPoint).filter_by(study_id=study.id).order_by(StudyPoint.number)),
        (
            tables_of.STUDY_RUNS,
            select(StudyRun).filter_by(study_id=study.id).order_by(StudyRun.point, StudyRun.seed),
        ),
        (tables_of.PAPER_STUDY, select(PaperStudy).filter_by(study_id=study.id)),
    ]
    for table, query in queries:
        _write(spool, rows_of("studies", number, table.name), table, session.scalars(query))
    hashed = content_hash(hash_lines(spool.members[first:], f"studies/{number}/"))
    return SpooledItem(number, study.id, hashed, study.project)


def spool_report(session: Session, spool: MemberSpool, report: Report, number: int) -> SpooledItem:
    """Write the row of a report, and the descriptions of what it shows."""
    first = len(spool.members)
    _write(spool, rows_of("reports", number, tables_of.REPORT.name), tables_of.REPORT, [report])
    hashed = content_hash(hash_lines(spool.members[first:], f"reports/{number}/"))
    shown = describe(session, find_ids(read_blocks(report.blocks)))
    for table, items in shown._asdict().items():
        spool.write(rows_of("reports", number, table), encode_lines(each.model_dump_json() for each in items))
    return SpooledItem(number, report.id, hashed, report.project)


def _write(spool: MemberSpool, path: str, table: RowTable, found: Iterable[Base]) -> None:
    spool.write(path, (to_line(table, row, 0, {}) for row in found))
