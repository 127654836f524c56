"""Import: everything of an archive is stored in one transaction, or nothing is."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import select
from sqlalchemy.orm import Session

from backend.archives.format import ArchivedRun
from backend.archives.opening import Archive, BadArchive
from backend.archives.origins import find_imports, lock_imports, record_import
from backend.archives.run_reading import RestoredRun, RunReader
from backend.archives.run_writing import MemberSpool, spool_run
from backend.archives.schemas import ImportResult
from backend.archives.verifying import verify_readable
from backend.database.engine import Database
from backend.database.tables import Installation, Run
from backend.files.service import files_root
from backend.files.storage import BLOCK_BYTES, link_or_copy, new_incoming_path, stored_path
from backend.logs.service import note


def import_opened(database: Database, archive: Archive, tags: Sequence[str] = ()) -> ImportResult:
    """Import an archive. Raise BadArchive if it must not be imported."""
    with _unpacked(archive, database.files_dir) as contents, database.write() as session:
        lock_imports(session)
        return _Import(session, archive, contents).run(tags)


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
    """One import in one transaction."""

    def __init__(self, session: Session, archive: Archive, contents: dict[str, Path]) -> None:
        self._session, self._archive, self._contents = session, archive, contents
        self._result = ImportResult(runs=[], already=[], notes=[])
        # Runs of this database by their numbers in the archive.
        self._runs: dict[int, int] = {}

    def run(self, tags: Sequence[str]) -> ImportResult:
        """Import everything."""
        placed: list[Path] = []
        try:
            restored = [each for entry in self._archive.manifest.runs if (each := self._import_run(entry, tags))]
            self._link_parents()
            for each in restored:
                verify_readable(self._session, each.run)
                self._place_files(each, placed)
        except BaseException:
            for path in placed:
                path.unlink(missing_ok=True)
            raise
        return self._result

    def _import_run(self, entry: ArchivedRun, tags: Sequence[str]) -> RestoredRun | None:
        """Import a run, unless it is already here."""
        if entry.number in self._runs:
            raise BadArchive(f"Two runs of the archive have the number {entry.number}.")
        earlier = find_imports(self._session, entry)
        existing = next((each.run_id for each in earlier if each.content_sha256 == entry.content_sha256), None)
        existing = existing or self._find_original(entry)
        if existing is not None:
            self._runs[entry.number] = existing
            self._result.already.append(existing)
            return None
        restored = RunReader(self._session, self._archive, entry).restore(tags)
        record_import(self._session, entry, restored.run.id)
        if earlier:
            self._note(restored.run, f"An earlier state of this run was imported as run {earlier[-1].run_id}.")
        self._runs[entry.number] = restored.run.id
        self._result.runs.append(restored.run.id)
        return restored

    def _find_original(self, entry: ArchivedRun) -> int | None:
        """Return the id of the exported run itself, if it is in this installation and has not changed since."""
        original = self._session.get(Run, entry.id) if self._is_from_here(entry) else None
        if original is None:
            return None
        with Path(os.devnull).open("wb") as nowhere:
            now = spool_run(self._session, MemberSpool(nowhere), original, 1, self._archive.manifest.files)
        return original.id if now.content_sha256 == entry.content_sha256 else None

    def _is_from_here(self, entry: ArchivedRun) -> bool:
        return self._session.scalar(select(Installation.identity)) == entry.installation

    def _note(self, run: Run, sentence: str) -> None:
        note(self._session, run, sentence)
        self._result.notes.append(f"Run {run.id}: {sentence}")

    def _link_parents(self) -> None:
        """Point forks at their parents, as far as these are in the archive."""
        for entry in self._archive.manifest.runs:
            if entry.parent is not None and (run_id := self._runs[entry.number]) in self._result.runs:
                self._session.get_one(Run, run_id).parent_run_id = self._runs.get(entry.parent)

    def _place_files(self, restored: RestoredRun, placed: list[Path]) -> None:
        root = files_root(self._session)
        for stored, member in restored.files:
            place = stored_path(root, stored)
            placed.append(place)
            link_or_copy(self._contents[member], place)
