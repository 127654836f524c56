"""Export: the members of an archive as a stream of bytes.

The rows are copied from one snapshot of the database before the stream begins. Stored files never change, so they are
read while it is sent.
"""

import hashlib
import tempfile
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, BinaryIO, cast

from backend.archives.format import (
    FORMAT,
    MANIFEST,
    RUNS_VERSION,
    VERSION,
    ArchivedItem,
    ArchivedRun,
    ArchiveManifest,
    FilesChoice,
    file_of,
)
from backend.archives.run_writing import SpooledRun
from backend.archives.spool import MemberSpool, SpooledItem
from backend.database.columns import utc_now
from backend.errors import NotFound
from backend.files.storage import BLOCK_BYTES, INCOMING, stored_path
from backend.files.zip_stream import ZipStream
from workers.contract.members import Member

# Small archives stay in memory.
SPOOL_BYTES = 8_000_000


@dataclass
class Export:
    """What an archive will contain."""

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
