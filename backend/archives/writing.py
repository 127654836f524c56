"""Export: the members of an archive as a stream of bytes.

The rows are copied from one snapshot of the database before the stream begins. Stored files never change, so they are
read while it is sent.
"""

import hashlib
import tempfile
import zipfile
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
from workers.contract.members import Member

# Small archives stay in memory.
SPOOL_BYTES = 8_000_000
# The earliest time that a zip file can express: equal contents make equal archives.
_NO_TIME = (1980, 1, 1, 0, 0, 0)


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
    sink = _Sink()
    contents: list[Member] = []
    with closing(export.spool.file), zipfile.ZipFile(cast("BinaryIO", sink), "w") as archive:
        for written in export.spool.members:
            export.spool.file.seek(written.offset)
            member = Member(path=written.path, sha256=written.sha256, bytes=written.bytes)
            yield from _add(archive, sink, member.path, zipfile.ZIP_DEFLATED, _blocks(export.spool.file, member.bytes))
            contents.append(member)
        for run in export.runs:
            for sha256, (stored, _size) in run.files.items():
                yield from _add_file(archive, sink, root, file_of(run.number, sha256), stored, contents)
        manifest = export.manifest(contents).model_dump_json(indent=1).encode()
        yield from _add(archive, sink, MANIFEST, zipfile.ZIP_DEFLATED, iter([manifest]))
    yield sink.take()


class _Sink:
    """Write-only file that keeps what was not sent yet."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []

    def write(self, data: bytes) -> int:
        """Keep a part."""
        self._parts.append(bytes(data))
        return len(data)

    def flush(self) -> None:
        """Do nothing, as every part is kept until it is taken."""

    def take(self) -> bytes:
        """Return the parts since the last call."""
        taken = b"".join(self._parts)
        self._parts.clear()
        return taken


def _add(
    archive: zipfile.ZipFile, sink: _Sink, path: str, compression: int, blocks: Iterator[bytes]
) -> Iterator[bytes]:
    """Add a member block by block, and yield what the archive has written."""
    info = zipfile.ZipInfo(path, _NO_TIME)
    info.compress_type = compression
    info.external_attr = 0o644 << 16
    with archive.open(info, "w", force_zip64=True) as target:
        for block in blocks:
            target.write(block)
            yield sink.take()
    yield sink.take()


def _add_file(
    archive: zipfile.ZipFile, sink: _Sink, root: Path, path: str, stored: str, contents: list[Member]
) -> Iterator[bytes]:
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
        yield from _add(archive, sink, path, zipfile.ZIP_STORED, read())
    contents.append(Member(path=path, sha256=digest.hexdigest(), bytes=size))


def _blocks(file: BinaryIO, size: int) -> Iterator[bytes]:
    left = size
    while left:
        block = file.read(min(BLOCK_BYTES, left))
        left -= len(block)
        yield block
