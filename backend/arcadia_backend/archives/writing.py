"""Export of an archive: the rows, points and files of its runs, and its studies and reports."""

import hashlib
import io
import json
import os
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any, BinaryIO, cast

import numpy as np
from sqlalchemy import Select, or_, select
from sqlalchemy.orm import Session, undefer

from arcadia_backend.aliases import current_changes
from arcadia_backend.archives import format as tables_of
from arcadia_backend.archives.block_ids import describe, find_ids
from arcadia_backend.archives.format import (
    ARCHIVED_JOBS,
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
    RowTable,
    file_of,
    points_of,
    rows_of,
    to_line,
)
from arcadia_backend.database import tables
from arcadia_backend.database.columns import utc_now
from arcadia_backend.database.tables import PaperStudy, Report, Run, Study, StudyPoint, StudyRun
from arcadia_backend.database.tables.base import Base
from arcadia_backend.errors import FieldError, Invalid, NotFound
from arcadia_backend.files.storage import BLOCK_BYTES, INCOMING, stored_path
from arcadia_backend.files.zip_files import ZipStream
from arcadia_backend.metrics.export import iterate_points, list_segments, list_series
from arcadia_backend.metrics.points import POINT, MetricClock
from arcadia_backend.reports.schemas import read_blocks
from arcadia_backend.reports.service import find_report
from arcadia_backend.studies.service import find_study
from arcadia_backend.web.lookup import find_run
from arcadia_workers.contract.archives import Member


@dataclass(frozen=True)
class WrittenMember:
    """A member in the temporary file, with its place there."""

    path: str
    offset: int
    bytes: int
    sha256: str


class MemberSpool:
    """Temporary file of members. The transaction that reads the rows ends before the download starts."""

    def __init__(self, file: BinaryIO) -> None:
        self.file = file
        self.members: list[WrittenMember] = []

    def write(self, path: str, blocks: Iterable[bytes]) -> int:
        """Write a member, unless it would be empty. Return its size."""
        digest, offset, size = hashlib.sha256(), self.file.tell(), 0
        for block in blocks:
            digest.update(block)
            self.file.write(block)
            size += len(block)
        if size:
            self.members.append(WrittenMember(path, offset, size, digest.hexdigest()))
        return size


@dataclass
class SpooledItem:
    """A run, study or report in the spool, with its id here, its number in the archive and its project."""

    number: int
    id: int
    content_sha256: str = ""
    project: str | None = None


def hash_lines(members: Sequence[WrittenMember], folder: str) -> list[str]:
    """Return the lines of a content hash for members, which do not depend on the number in their folder's name."""
    return sorted(f"{each.path.removeprefix(folder)} {each.sha256}" for each in members)


def content_hash(lines: Iterable[str]) -> str:
    """Return the content hash of lines."""
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def encode_lines(lines: Iterable[str]) -> Iterator[bytes]:
    """Yield lines of JSON as bytes."""
    return (f"{line}\n".encode() for line in lines)


BATCH = 500


@dataclass
class SpooledRun(SpooledItem):
    """A run in the spool, and the files to add: their stored paths and sizes by hash."""

    parent_id: int | None = None
    files: dict[str, tuple[str, int]] = field(default_factory=dict)
    # Numbers in the archive by id, by table.
    numbers: dict[str, dict[int, int]] = field(default_factory=dict)


def spool_run(session: Session, spool: MemberSpool, run: tables.Run, number: int, files: FilesChoice) -> SpooledRun:
    """Write the rows and points of a run. Return what else its archive needs."""
    first = len(spool.members)
    spooled = SpooledRun(number, run.id, project=run.project, parent_id=run.parent_run_id)
    writer = _RowWriter(session, spool, spooled)
    for table, query in _queries(run.id, files):
        writer.write(table, query)
    for file in session.scalars(_files(run.id, files)):
        spooled.files[file.sha256] = (file.stored_path, file.bytes)
    writer.write(tables_of.RUN, select(tables.Run).where(tables.Run.id == run.id))
    _spool_points(session, spool, run.id, number)
    lines = hash_lines(spool.members[first:], f"runs/{number}/")
    spooled.content_sha256 = content_hash([*lines, *sorted(file_of(0, sha256) for sha256 in spooled.files)])
    return spooled


def _queries(run_id: int, files: FilesChoice) -> list[tuple[RowTable, Select[Any]]]:
    """Return the rows of each table of a run. Tables come after those that they refer to."""
    attempt, change, evaluation, line = tables.Attempt, tables.RunChange, tables.Evaluation, tables.LogLine
    document, episode, start_set = tables.ProvenanceDocument, tables.EvaluationEpisode, tables.StartSet
    of_run = select(evaluation.id).where(evaluation.run_id == run_id)
    used_sets = select(evaluation.start_set_id).where(evaluation.run_id == run_id)
    used = [select(column).where(attempt.run_id == run_id) for column in (attempt.packages_sha256, attempt.diff_sha256)]
    is_used = or_(*(document.sha256.in_(each) for each in used))
    return [
        (tables_of.TAGS, select(tables.RunTag).where(tables.RunTag.run_id == run_id).order_by(tables.RunTag.tag)),
        (tables_of.DOCUMENTS, select(document).where(is_used).order_by(document.sha256)),
        (tables_of.ATTEMPTS, select(attempt).where(attempt.run_id == run_id).order_by(attempt.attempt)),
        (tables_of.CHANGES, select(change).where(change.run_id == run_id).order_by(change.number)),
        (tables_of.CLOCKS, select(MetricClock).where(MetricClock.run_id == run_id).order_by(MetricClock.attempt)),
        (
            tables_of.START_SETS,
            select(start_set)
            .where(start_set.id.in_(used_sets))
            .order_by(start_set.id)
            .options(undefer(start_set.content)),
        ),
        # Jobs refer to checkpoints, so these are numbered first.
        (tables_of.FILES, _files(run_id, files)),
        (tables_of.CHECKPOINTS, _of(tables.Checkpoint, run_id)),
        (tables_of.JOBS, _jobs(run_id)),
        (tables_of.ALIASES, _aliases(run_id)),
        (tables_of.REPLAYS, _of(tables.Replay, run_id)),
        (tables_of.FUTURES, _of_replays(tables.Futures, run_id).where(tables.Futures.job_id.in_(_job_ids(run_id)))),
        (tables_of.REVIEWS, _of_replays(tables.Review, run_id)),
        (tables_of.PRACTICES, _of_replays(tables.Practice, run_id)),
        (tables_of.EVALUATIONS, _of(evaluation, run_id)),
        (
            tables_of.EPISODES,
            select(episode).where(episode.evaluation_id.in_(of_run)).order_by(episode.evaluation_id, episode.number),
        ),
        (tables_of.CALIBRATIONS, _of(tables.Calibration, run_id)),
        (tables_of.MEDIA, _of(tables.Media, run_id)),
        (tables_of.LOG_LINES, _of(line, run_id)),
    ]


def _of(model: Any, run_id: int) -> Select[Any]:
    return select(model).where(model.run_id == run_id).order_by(model.id)


def _jobs(run_id: int) -> Select[Any]:
    """Return the jobs to include. In futures of a replay of another run, the agent of this run only acted."""
    others = select(tables.Futures.job_id).join(tables.Replay).where(tables.Replay.run_id != run_id)
    return _of(tables.Job, run_id).where(tables.Job.kind.in_(ARCHIVED_JOBS), tables.Job.id.not_in(others))


def _job_ids(run_id: int) -> Select[Any]:
    return _jobs(run_id).with_only_columns(tables.Job.id).order_by(None)


def _of_replays(model: type[tables.Futures | tables.Review | tables.Practice], run_id: int) -> Select[Any]:
    of_run = select(tables.Replay.id).where(tables.Replay.run_id == run_id)
    return select(model).where(model.replay_id.in_(of_run)).order_by(model.id)


def _files(run_id: int, choice: FilesChoice) -> Select[Any]:
    """Return the files to include. `best` leaves out the checkpoints except the best one and the newest one."""
    file, checkpoint = tables.File, tables.Checkpoint
    query = _of(file, run_id).where(or_(file.job_id.is_(None), file.job_id.in_(_job_ids(run_id))))
    if choice == "none":
        return query.where(file.id < 0)
    if choice == "all":
        return query
    of_run = select(checkpoint.file_id).where(checkpoint.run_id == run_id, checkpoint.file_id.is_not(None))
    newest = of_run.order_by(checkpoint.attempt.desc(), checkpoint.step.desc()).limit(1)
    wanted = or_(file.id.in_(of_run.where(checkpoint.best)), file.id.in_(newest.scalar_subquery()))
    return query.where(or_(file.kind != "checkpoint", wanted))


class _RowWriter:
    """Writes tables of one run, and numbers their rows."""

    def __init__(self, session: Session, spool: MemberSpool, run: SpooledRun) -> None:
        self._session, self._spool, self._run = session, spool, run

    def write(self, table: RowTable, query: Select[Any]) -> None:
        """Write the rows of a query."""
        if table is tables_of.FILES:
            # Files and jobs refer to each other's tables, so number the jobs first.
            jobs = self._session.scalars(_jobs(self._run.id))
            self._run.numbers["jobs"] = {job.id: index for index, job in enumerate(jobs, 1)}
        numbers = self._run.numbers.setdefault(table.name, {})
        self._spool.write(rows_of("runs", self._run.number, table.name), self._lines(table, query, numbers))

    def _lines(self, table: RowTable, query: Select[Any], numbers: dict[int, int]) -> Iterator[bytes]:
        items = self._session.scalars(query.execution_options(yield_per=BATCH))
        for index, row in enumerate(items, 1):
            if table.numbered:
                numbers[row.id] = index
            yield to_line(table, row, index, self._run.numbers)


def _aliases(run_id: int) -> Select[tables.AliasChange]:
    """Return the history, within the run, of the aliases that name a checkpoint of it now."""
    change = tables.AliasChange
    names = current_changes().where(change.run_id == run_id).with_only_columns(change.name)
    return select(change).where(change.run_id == run_id, change.name.in_(names)).order_by(change.id)


def _spool_points(session: Session, spool: MemberSpool, run_id: int, number: int) -> None:
    series = list_series(session, run_id)
    listed = [(each, list_segments(session, each)) for each in series]
    lines = (
        json.dumps({"archive_number": index, "name": each.name, "segments": segments})
        for index, (each, segments) in enumerate(listed, 1)
    )
    spool.write(rows_of("runs", number, "series"), encode_lines(lines))
    for index, (each, segments) in enumerate(listed, 1):
        spool.write(points_of(number, index), _array(session, each, sum(count for _attempt, count in segments)))


def _array(session: Session, series: Any, count: int) -> Iterator[bytes]:
    """Yield the points of a series as a NumPy file."""
    header = io.BytesIO()
    described = {"descr": np.lib.format.dtype_to_descr(POINT), "fortran_order": False, "shape": (count,)}
    np.lib.format.write_array_header_1_0(header, described)
    yield header.getvalue()
    yield from iterate_points(session, series)


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
