"""Export: the members of an archive as a stream of bytes.

The rows are copied from one snapshot of the database before the stream begins. Stored files never change, so they are
read while it is sent.
"""

import hashlib
import os
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, BinaryIO, cast

from sqlalchemy import Select, select
from sqlalchemy.orm import Session

from arcadia_backend.archives import rows as tables_of
from arcadia_backend.archives.block_ids import describe, find_ids
from arcadia_backend.archives.format import (
    FORMAT,
    MANIFEST,
    MAX_RUNS,
    RUNS_VERSION,
    VERSION,
    ArchivedItem,
    ArchivedRun,
    ArchiveManifest,
    FilesChoice,
    Kind,
    file_of,
    rows_of,
)
from arcadia_backend.archives.rows import RowTable, to_line
from arcadia_backend.archives.run_writing import (
    MemberSpool,
    SpooledItem,
    SpooledRun,
    content_hash,
    encode_lines,
    hash_lines,
    spool_run,
)
from arcadia_backend.database.columns import utc_now
from arcadia_backend.database.tables import PaperStudy, Report, Run, Study, StudyPoint, StudyRun
from arcadia_backend.database.tables.base import Base
from arcadia_backend.errors import FieldError, Invalid, NotFound
from arcadia_backend.files.storage import BLOCK_BYTES, INCOMING, stored_path
from arcadia_backend.files.zip_files import ZipStream
from arcadia_backend.reports.schemas import read_blocks
from arcadia_backend.reports.service import find_report
from arcadia_backend.studies.service import find_study
from arcadia_backend.web.lookup import find_run
from arcadia_workers.contract.archives import Member


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


def _write(spool: MemberSpool, path: str, table: RowTable, items: Iterable[Base]) -> None:
    spool.write(path, (to_line(table, row, 0, {}) for row in items))


def hash_item(session: Session, kind: Kind, item_id: int, files: FilesChoice) -> str | None:
    """Return the content hash of an item, or None if it does not exist."""
    with Path(os.devnull).open("wb") as nowhere:
        spool = MemberSpool(nowhere)
        if kind == "runs":
            run = session.get(Run, item_id)
            return spool_run(session, spool, run, 1, files).content_sha256 if run else None
        if kind == "studies":
            study = session.get(Study, item_id)
            return spool_study(session, spool, study, 1).content_sha256 if study else None
        report = session.get(Report, item_id)
        return spool_report(session, spool, report, 1).content_sha256 if report else None


@dataclass(frozen=True)
class Wanted:
    """Ids of what a user wants to export."""

    runs: Sequence[int] = ()
    studies: Sequence[int] = ()
    reports: Sequence[int] = ()


@dataclass(frozen=True)
class Selection:
    """The runs, studies and reports of an archive."""

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
    shown = _join(each.runs for each in ids) | _join(describe(session, each).runs for each in ids)
    runs += session.scalars(select(Run).where(Run.id.in_(shown)).order_by(Run.id))
    runs = list(dict.fromkeys(runs))
    if len(runs) > MAX_RUNS:
        message = f"the archive would have {len(runs):,} runs; it may have {MAX_RUNS:,}. Export fewer at once"
        raise Invalid(FieldError(field="studies" if studies else "runs", message=message))
    return Selection(runs, studies, reports)


def _join(ids: Iterable[Iterable[int]]) -> set[int]:
    return {each for some in ids for each in some}


# Small archives stay in memory.
SPOOL_BYTES = 8_000_000


@dataclass
class Export:
    """The content of an archive, ready to be sent."""

    installation: str
    files: FilesChoice
    spool: MemberSpool
    runs: list[SpooledRun]
    studies: list[SpooledItem]
    reports: list[SpooledItem]

    @property
    def unpacked_bytes(self) -> int:
        """Size of all members. The archive is smaller, by as much as JSON and points compress."""
        files = (size for run in self.runs for _stored, size in run.files.values())
        return sum(member.bytes for member in self.spool.members) + sum(files)

    def manifest(self, contents: list[Member]) -> ArchiveManifest:
        """Return the manifest."""
        numbers = {run.id: run.number for run in self.runs}
        return ArchiveManifest(
            format=FORMAT,
            version=VERSION if self.studies or self.reports else RUNS_VERSION,
            arcadia_version=version("arcadia"),
            kind="runs",
            files=self.files,
            created_at=utc_now(),
            contents=contents,
            runs=[
                ArchivedRun(**self._entry(run), parent=numbers.get(run.parent_id) if run.parent_id else None)
                for run in self.runs
            ],
            studies=[ArchivedItem(**self._entry(study)) for study in self.studies],
            reports=[ArchivedItem(**self._entry(report)) for report in self.reports],
        )

    def _entry(self, item: SpooledItem) -> dict[str, Any]:
        return {
            "number": item.number,
            "installation": self.installation,
            "id": item.id,
            "content_sha256": item.content_sha256,
            "project": item.project,
        }


def new_spool(root: Path) -> MemberSpool:
    """Return an empty spool. A large one is on the disk of the files folder."""
    (root / INCOMING).mkdir(parents=True, exist_ok=True)
    file = tempfile.SpooledTemporaryFile(SPOOL_BYTES, dir=str(root / INCOMING))  # noqa: SIM115 - the stream closes it
    return MemberSpool(cast("BinaryIO", file))


def stream(export: Export, root: Path) -> Iterator[bytes]:
    """Yield the archive. The manifest is last, because it has the hash of every member."""
    archive = ZipStream()
    contents: list[Member] = []
    with closing(export.spool.file):
        for written in export.spool.members:
            export.spool.file.seek(written.offset)
            member = Member(path=written.path, sha256=written.sha256, bytes=written.bytes)
            yield from archive.add(member.path, _blocks(export.spool.file, member.bytes), compress=True)
            contents.append(member)
        for run in export.runs:
            for sha256, (stored, _size) in run.files.items():
                yield from _add_file(archive, root, file_of(run.number, sha256), stored, contents)
        manifest = export.manifest(contents).model_dump_json(indent=1).encode()
        yield from archive.add(MANIFEST, iter([manifest]), compress=True)
        yield from archive.close()


def _add_file(archive: ZipStream, root: Path, path: str, stored: str, contents: list[Member]) -> Iterator[bytes]:
    """Add a stored file. Leave it out if it was deleted after the snapshot, as an import then treats it."""
    try:
        file = stored_path(root, stored).open("rb")
    except (FileNotFoundError, NotFound):
        return
    digest, size = hashlib.sha256(), 0

    def read() -> Iterator[bytes]:
        nonlocal size
        while block := file.read(BLOCK_BYTES):
            digest.update(block)
            size += len(block)
            yield block

    with file:
        yield from archive.add(path, read(), compress=False)
    contents.append(Member(path=path, sha256=digest.hexdigest(), bytes=size))


def _blocks(file: BinaryIO, size: int) -> Iterator[bytes]:
    left = size
    while left:
        block = file.read(min(BLOCK_BYTES, left))
        left -= len(block)
        yield block
