"""Import of an archive. By default, everything is stored in one transaction, or nothing is."""

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from sqlalchemy import select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from arcadia_backend.archives import format as tables_of
from arcadia_backend.archives.block_ids import find_shown, replace_ids
from arcadia_backend.archives.format import (
    GUARDS,
    Archive,
    ArchivedItem,
    ArchivedRun,
    BadArchive,
    EarlierImport,
    ImportResult,
    Kind,
    RowTable,
    find_imports,
    lock_imports,
    read_row,
    read_rows,
    record_import,
    rows_of,
    verify_run,
    verify_study,
)
from arcadia_backend.archives.run_reading import RunReader
from arcadia_backend.archives.writing import hash_item
from arcadia_backend.database.columns import utc_now
from arcadia_backend.database.engine import Database
from arcadia_backend.database.tables import Installation, PaperStudy, Report, Run, Study, StudyPoint, StudyRun
from arcadia_backend.files.service import files_root
from arcadia_backend.files.storage import BLOCK_BYTES, link_or_copy, new_incoming_path, stored_path
from arcadia_backend.live.notices import publish
from arcadia_backend.logs import note
from arcadia_backend.projects.service import resolve_or_create
from arcadia_backend.reports import service
from arcadia_backend.reports.schemas import CreateReport
from arcadia_backend.studies.points import read_specification
from arcadia_backend.studies.service import announce_study
from arcadia_backend.studies.specification import MAX_SEED, find_errors
from arcadia_workers.contract.values import LARGEST_SMALL
from arcadia_workers.contract.worker_api import WORKERS

MAX_ROWS = 100_000


def restore_study(session: Session, archive: Archive, entry: ArchivedItem, runs: Mapping[int, int]) -> Study:
    """Store a study with its points and plan. A running one is stopped, since nobody requested its runs here."""
    values = read_row(archive, tables_of.STUDY, rows_of("studies", entry.number, "study"))
    if values["state"] == "running":
        values |= {"state": "stopped", "state_reason": None, "finished_at": utc_now()}
    study = Study(**values)
    session.add(study)
    session.flush()
    of_study = {"study_id": study.id}
    points = [StudyPoint(**each, **of_study) for each in _rows(archive, entry, tables_of.STUDY_POINTS)]
    plan = [StudyRun(**each, **of_study) for each in _rows(archive, entry, tables_of.STUDY_RUNS)]
    _check_plan(study, points, plan)
    _relocate(study, runs)
    for planned in plan:
        if planned.run_id is not None:
            # A run that was purged before the export gets an id that no run here has.
            planned.run_id = runs.get(planned.run_id, -abs(planned.run_id))
    session.add_all([*points, *plan])
    session.add_all(PaperStudy(**each, **of_study) for each in _rows(archive, entry, tables_of.PAPER_STUDY))
    session.flush()
    announce_study(session, study)
    return study


def restore_deleted_runs(
    session: Session, archive: Archive, entry: ArchivedItem, study_id: int, runs: Mapping[int, int]
) -> bool:
    """Put imported runs in the places of runs of a study that were deleted here. Return True if there are any."""
    changed = False
    for values in _rows(archive, entry, tables_of.STUDY_RUNS):
        planned = session.get(StudyRun, (study_id, values["point"], values["seed"]))
        run_id = runs.get(values["run_id"])
        if planned is None or planned.run_id is None or run_id is None or planned.run_id == run_id:
            continue
        if session.scalar(select(Run.id).where(Run.id == planned.run_id)) is None:
            planned.run_id = run_id
            changed = True
    if changed:
        announce_study(session, session.get_one(Study, study_id))
    return changed


def _rows(archive: Archive, entry: ArchivedItem, table: RowTable) -> list[dict[str, Any]]:
    """Return the rows of a table of the study."""
    path = rows_of("studies", entry.number, table.name)
    rows = list(islice(read_rows(archive, table, path), MAX_ROWS + 1))
    if len(rows) > MAX_ROWS:
        raise BadArchive(f"{path} has more than the {MAX_ROWS:,} lines allowed.")
    return rows


def _check_plan(study: Study, points: list[StudyPoint], plan: list[StudyRun]) -> None:
    """Raise BadArchive unless each point has runs, as a study needs that is extended later."""
    try:
        errors = find_errors(read_specification(study))
    except ValidationError as error:
        raise GUARDS.invalid(f"The study {study.name[:100]!r}", error) from None
    if errors:
        raise BadArchive(f"The study {study.name[:100]!r} is not valid: {errors[0][0]}: {errors[0][1]}.")
    numbers = [point.number for point in points]
    planned = {(each.point, each.seed) for each in plan}
    has_its_runs = {each.point for each in plan} == set(numbers) and len(planned) == len(plan)
    if sorted(numbers) != list(range(len(numbers))) or not has_its_runs:
        raise BadArchive(
            f"The study {study.name[:100]!r} must have numbered points, each with runs of different seeds."
        )
    if not all(0 <= each.seed <= MAX_SEED for each in plan):
        raise BadArchive(f"The study {study.name[:100]!r} has a seed that is not between 0 and {MAX_SEED:,}.")


def _relocate(study: Study, runs: Mapping[int, int]) -> None:
    """Refer to the imported run whose fix the study tests, if the archive has it. Further runs train on workers."""
    diagnosed = read_specification(study).diagnosis
    if study.specification.get("executor") not in (None, WORKERS):
        study.specification = {**study.specification, "executor": WORKERS, "job_options": []}
    if diagnosed is None:
        return
    run_id = runs.get(diagnosed.run_id)
    local = None if run_id is None else {"run_id": run_id, "rule": diagnosed.rule}
    study.specification = {**study.specification, "diagnosis": local}


class ReportReader:
    """Reads one report of an archive. The maps have the ids here of its runs and studies."""

    def __init__(
        self,
        session: Session,
        archive: Archive,
        entry: ArchivedItem,
        runs: Mapping[int, int],
        studies: Mapping[int, int],
    ) -> None:
        self._session, self._archive, self._entry = session, archive, entry
        self._runs, self._studies = runs, studies
        self._path = rows_of("reports", entry.number, tables_of.REPORT.name)
        self._values: dict[str, Any] = read_row(archive, tables_of.REPORT, self._path)

    def restore(self) -> Report:
        """Store the report. Its blocks get the ids of this installation."""
        report = service.create(self._session, self._content())
        report.created_at, report.updated_at = self._values["created_at"], self._values["updated_at"]
        report.version = min(max(1, self._values["version"]), LARGEST_SMALL)
        self._session.flush()
        return report

    def refresh(self, report_id: int) -> bool:
        """Show imported runs instead of those that were deleted here, unless the report was edited here."""
        report = self._session.get_one(Report, report_id)
        blocks = [block.model_dump(mode="json") for block in self._content().blocks]
        if report.version != self._values["version"] or report.blocks == blocks:
            return False
        report.blocks = blocks
        return True

    def _content(self) -> CreateReport:
        """Return the title and the blocks with the ids of this installation."""
        new = find_shown(self._session, self._archive, self._entry.number, self._runs, self._studies)
        title = self._values["title"]
        try:
            blocks = CreateReport.model_validate({"title": title, "blocks": self._values["blocks"]}).blocks
            dumped = [block.model_dump() for block in replace_ids(blocks, new)]
            # Validate again, because new ids may make a text or an address too long.
            return CreateReport.model_validate({"title": title, "blocks": dumped})
        except ValidationError as error:
            raise GUARDS.invalid(self._path, error) from None


# The time between two transactions of an import in which others can write.
TURN_SECONDS = 0.1


def import_opened(
    database: Database,
    archive: Archive,
    tags: Sequence[str] = (),
    project: str | None = None,
    *,
    all_or_nothing: bool = True,
) -> ImportResult:
    """Import an archive. Raise BadArchive if it must not be imported.

    If not all or nothing, each item has a transaction, so that workers and users can write between two of them. After a
    failure, the next import of the archive continues.
    """
    try:
        with _unpacked(archive, database.files_dir) as contents:
            work = _Import(archive, contents, tags, project)
            if all_or_nothing:
                with work.transaction(database):
                    for step in work.steps():
                        step()
            else:
                for step in work.steps():
                    with work.transaction(database):
                        step()
                    # Otherwise this thread takes the only writer of SQLite again before those that wait for it wake up.
                    time.sleep(TURN_SECONDS)
            return work.result
    except IntegrityError as error:
        reason = str(error.orig).partition("\n")[0][:300]
        raise BadArchive(f"Rows of the archive contradict each other, or refer to missing ones: {reason}.") from error


@contextmanager
def _unpacked(archive: Archive, root: Path) -> Iterator[dict[str, Path]]:
    """Copy the files of an archive to the disk of the files folder, before the transaction. Remove them at the end."""
    contents: dict[str, Path] = {}
    try:
        for path in archive.members:
            if "/files/" in path:
                contents[path] = new_incoming_path(root)
                with archive.open(path) as source, contents[path].open("xb") as target:
                    while block := source.read(BLOCK_BYTES):
                        target.write(block)
                    target.flush()
                    os.fsync(target.fileno())
        yield contents
    finally:
        for place in contents.values():
            place.unlink(missing_ok=True)


class _Import:
    """One import. Its steps run inside transactions."""

    def __init__(self, archive: Archive, contents: dict[str, Path], tags: Sequence[str], project: str | None) -> None:
        self._archive, self._contents, self._tags, self._project = archive, contents, tags, project
        self.result = ImportResult.model_validate({name: [] for name in ImportResult.model_fields})
        # Runs of this database by their numbers in the archive, and runs and studies by their ids at the export.
        self._numbered: dict[int, int] = {}
        self._runs: dict[int, int] = {}
        self._studies: dict[int, int] = {}
        self._session: Session
        # Files that the current transaction has put in their places.
        self._placed: list[Path] = []

    @contextmanager
    def transaction(self, database: Database) -> Iterator[None]:
        """Open a transaction for steps. Remove the files that they have placed if it fails."""
        self._placed = []
        try:
            with database.write() as self._session:
                lock_imports(self._session)
                yield
        except BaseException:
            for path in self._placed:
                path.unlink(missing_ok=True)
            raise

    def steps(self) -> Iterator[Callable[[], None]]:
        """Yield the steps in order. Pages show how many runs are done."""
        manifest = self._archive.manifest
        for place, entry in enumerate(manifest.runs):
            _announce_progress(place, len(manifest.runs))
            yield partial(self._import_run, entry)
        _announce_progress(len(manifest.runs), len(manifest.runs))
        yield self._link_parents
        for study in manifest.studies:
            yield partial(self._import_study, study)
        for report in manifest.reports:
            yield partial(self._import_report, report)

    def _import_run(self, entry: ArchivedRun) -> None:
        """Import a run, unless it is already here."""
        earlier = find_imports(self._session, "runs", entry)
        existing = self._find_existing("runs", entry, earlier)
        if existing is not None:
            self._numbered[entry.number] = self._runs[entry.id] = existing
            self.result.already.append(existing)
            return
        restored = RunReader(self._session, self._archive, entry).restore(self._tags, self._project)
        record_import(self._session, "runs", entry, restored.run.id)
        if earlier:
            sentence = f"An earlier state of this run was imported as run {earlier[-1].id}."
            note(self._session, restored.run, sentence)
            self.result.notes.append(f"Run {restored.run.id}: {sentence}")
        self._numbered[entry.number] = self._runs[entry.id] = restored.run.id
        self.result.runs.append(restored.run.id)
        verify_run(self._session, restored.run)
        root = files_root(self._session)
        for stored, member in restored.files:
            place = stored_path(root, stored)
            self._placed.append(place)
            link_or_copy(self._contents[member], place)

    def _import_study(self, entry: ArchivedItem) -> None:
        """Import a study, unless it is already here."""
        session, earlier = self._session, find_imports(self._session, "studies", entry)
        existing = self._find_existing("studies", entry, earlier)
        if existing is not None:
            if restore_deleted_runs(session, self._archive, entry, existing, self._runs):
                record_import(session, "studies", entry, existing)
            self._studies[entry.id] = existing
            self.result.already_studies.append(existing)
            return
        study = restore_study(session, self._archive, entry, self._runs)
        study.project_id = self._project_of(entry)
        session.flush()
        verify_study(session, study)
        record_import(session, "studies", entry, study.id)
        if earlier:
            sentence = f"An earlier state of this study was imported as study {earlier[-1].id}."
            self.result.notes.append(f"Study {study.id}: {sentence}")
        self._studies[entry.id] = study.id
        self.result.studies.append(study.id)

    def _import_report(self, entry: ArchivedItem) -> None:
        """Import a report, unless it is already here."""
        session, earlier = self._session, find_imports(self._session, "reports", entry)
        existing = self._find_existing("reports", entry, earlier)
        reader = ReportReader(session, self._archive, entry, self._runs, self._studies)
        if existing is not None:
            # It may show runs that were deleted here, and that this archive has restored.
            if self.result.runs and reader.refresh(existing):
                record_import(session, "reports", entry, existing)
            self.result.already_reports.append(existing)
            return
        report = reader.restore()
        report.project_id = self._project_of(entry)
        record_import(session, "reports", entry, report.id)
        if earlier:
            sentence = f"An earlier state of this report was imported as report {earlier[-1].id}."
            self.result.notes.append(f"Report {report.id}: {sentence}")
        self.result.reports.append(report.id)

    def _project_of(self, entry: ArchivedItem) -> int:
        return resolve_or_create(self._session, self._project or entry.project)

    def _find_existing(self, kind: Kind, entry: ArchivedItem, earlier: Sequence[EarlierImport]) -> int | None:
        """Return the id of an earlier import of the same content, or of the exported item itself if it is unchanged."""
        existing = next((each.id for each in earlier if each.content_sha256 == entry.content_sha256), None)
        if existing is None and self._session.scalar(select(Installation.identity)) == entry.installation:
            now = hash_item(self._session, kind, entry.id, self._archive.manifest.files)
            existing = entry.id if now == entry.content_sha256 else None
        return existing

    def _link_parents(self) -> None:
        """Point forks at their parents, as far as these are in the archive."""
        for entry in self._archive.manifest.runs:
            if entry.parent is not None and (run_id := self._numbered[entry.number]) in self.result.runs:
                self._session.get_one(Run, run_id).parent_run_id = self._numbered.get(entry.parent)


def _announce_progress(done: int, total: int) -> None:
    publish("import.progress", {"done": done, "total": total})
