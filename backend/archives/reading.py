"""Import of an archive. By default, everything is stored in one transaction, or nothing is."""

import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from sqlalchemy import select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from backend.archives.format import ArchivedItem, ArchivedRun, Kind
from backend.archives.hashing import hash_item
from backend.archives.opening import Archive, BadArchive
from backend.archives.origins import EarlierImport, find_imports, lock_imports, record_import
from backend.archives.report_reading import ReportReader
from backend.archives.run_reading import RestoredRun, RunReader
from backend.archives.schemas import ImportResult
from backend.archives.study_reading import restore_deleted_runs, restore_study
from backend.archives.verifying import verify_run, verify_study
from backend.database.engine import Database
from backend.database.tables import Installation, Run
from backend.files.service import files_root
from backend.files.storage import BLOCK_BYTES, link_or_copy, new_incoming_path, stored_path
from backend.live.notices import publish
from backend.logs.service import note
from backend.projects.lookup import resolve_or_create

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
        self._place_files(restored)

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
        if existing is None and self._is_from_here(entry):
            now = hash_item(self._session, kind, entry.id, self._archive.manifest.files)
            existing = entry.id if now == entry.content_sha256 else None
        return existing

    def _is_from_here(self, entry: ArchivedItem) -> bool:
        return self._session.scalar(select(Installation.identity)) == entry.installation

    def _link_parents(self) -> None:
        """Point forks at their parents, as far as these are in the archive."""
        for entry in self._archive.manifest.runs:
            if entry.parent is not None and (run_id := self._numbered[entry.number]) in self.result.runs:
                self._session.get_one(Run, run_id).parent_run_id = self._numbered.get(entry.parent)

    def _place_files(self, restored: RestoredRun) -> None:
        root = files_root(self._session)
        for stored, member in restored.files:
            place = stored_path(root, stored)
            self._placed.append(place)
            link_or_copy(self._contents[member], place)


def _announce_progress(done: int, total: int) -> None:
    publish("import.progress", {"done": done, "total": total})
