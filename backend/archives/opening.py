"""Opening of an archive file: everything about it is checked before anything of it is used."""

import hashlib
import re
import stat
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path
from typing import Any, BinaryIO, cast

from pydantic import ValidationError
from pydantic_core import from_json

from backend.archives.format import MANIFEST, MEMBER, VERSION, ArchiveManifest, Heading, Member
from backend.errors import Problem
from backend.files.storage import BLOCK_BYTES

MAX_MEMBERS = 100_000
MAX_DIRECTORY_BYTES = 30_000_000
MAX_MANIFEST_BYTES = 30_000_000
# A line of JSON: the largest are lists of packages, changes to code, and start points.
MAX_LINE_BYTES = 60_000_000
# Points of constant values and texts shrink less than this. Zip bombs shrink more.
MAX_RATIO, FREE_BYTES = 100, 100_000_000

_END, _END_64, _LOCATOR = struct.Struct("<4s4H2LH"), struct.Struct("<4sQ2H2L4Q"), struct.Struct("<4sLQL")
_ENCRYPTED = 0x1
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_DAMAGED = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, struct.error, ValueError)


class BadArchive(Problem):
    """The file is not an archive, or one that must not be imported. Nothing was changed."""

    status = 422
    kind = "bad-archive"
    title = "Archive cannot be imported"


@dataclass(frozen=True)
class Archive:
    """An open archive whose members were all checked."""

    file: zipfile.ZipFile
    manifest: ArchiveManifest
    members: dict[str, Member]

    @contextmanager
    def open(self, path: str) -> Iterator[BufferedReader]:
        """Open a member for reading."""
        with self.file.open(path) as raw, BufferedReader(cast("Any", raw), BLOCK_BYTES) as member:
            yield member

    def lines(self, path: str) -> Iterator[Any]:
        """Yield each line of a member as an object of JSON. A missing member has no lines."""
        if path not in self.members:
            return
        with self.open(path) as member:
            number = 0
            while line := member.readline(MAX_LINE_BYTES + 1):
                number += 1
                if len(line) > MAX_LINE_BYTES:
                    raise BadArchive(f"Line {number} of {path} is longer than {MAX_LINE_BYTES:,} bytes.")
                yield parse_json(line, f"Line {number} of {path}")


@contextmanager
def open_archive(path: Path, max_file_bytes: int) -> Iterator[Archive]:
    """Open an archive and check it completely. Raise BadArchive with the reason if it must not be imported."""
    with ExitStack() as stack:
        try:
            file = stack.enter_context(path.open("rb"))
            _check_directory(file)
            opened = stack.enter_context(zipfile.ZipFile(file))
            members = _check_members(opened, path.stat().st_size)
            manifest = _read_manifest(opened, members)
            contents = _check_contents(manifest, members, max_file_bytes)
            _check_hashes(opened, contents)
        except _DAMAGED as error:
            raise BadArchive(f"The file is not an Arcadia archive, or is damaged: {error}.") from error
        yield Archive(opened, manifest, contents)


def _check_directory(file: BinaryIO) -> None:
    """Refuse a huge directory of members before it is read into memory."""
    file.seek(0, 2)
    size = file.tell()
    file.seek(max(0, size - _END.size - 65_535))
    tail = file.read()
    at = tail.rfind(b"PK\5\6")
    if at < 0 or len(tail) - at < _END.size:
        raise BadArchive("The file is not an Arcadia archive: it is no zip file, or its end is missing.")
    _mark, _disk, _start, _here, members, directory, _offset, _comment = _END.unpack_from(tail, at)
    end = size - len(tail) + at
    if end >= _LOCATOR.size:
        file.seek(end - _LOCATOR.size)
        mark, _disks, offset, _count = _LOCATOR.unpack(file.read(_LOCATOR.size))
        if mark == b"PK\6\7":
            file.seek(min(offset, size))
            record = file.read(_END_64.size)
            if len(record) < _END_64.size or record[:4] != b"PK\6\6" or offset + _END_64.size != end - _LOCATOR.size:
                raise BadArchive("The file is damaged: its directory of members is not where it should be.")
            members, directory = _END_64.unpack(record)[7:9]
    if members > MAX_MEMBERS or directory > MAX_DIRECTORY_BYTES:
        raise BadArchive(f"The archive has more than the {MAX_MEMBERS:,} members allowed.")


def _check_members(opened: zipfile.ZipFile, size: int) -> dict[str, zipfile.ZipInfo]:
    """Check the names, types and declared sizes of all members."""
    found: dict[str, zipfile.ZipInfo] = {}
    for info in opened.infolist():
        name = info.orig_filename
        if stat.S_ISLNK(info.external_attr >> 16):
            raise BadArchive(f"{name[:200]!r} is a symbolic link, which an archive cannot contain.")
        if not re.fullmatch(MEMBER, name):
            raise BadArchive(f"{name[:200]!r} is not a name that a member of an archive can have.")
        if name in found:
            raise BadArchive(f"The archive contains {name} twice.")
        if info.flag_bits & _ENCRYPTED or info.compress_type not in _METHODS:
            raise BadArchive(f"{name} is encrypted, or compressed in a way other than deflate.")
        found[name] = info
    total = sum(info.file_size for info in found.values())
    if total > FREE_BYTES + MAX_RATIO * size:
        raise BadArchive(
            f"The archive would unpack to {total:,} bytes, more than {MAX_RATIO} times its size. Such files are made "
            "to fill disks."
        )
    return found


def _read_manifest(opened: zipfile.ZipFile, members: dict[str, zipfile.ZipInfo]) -> ArchiveManifest:
    if MANIFEST not in members:
        raise BadArchive(f"The file is not an Arcadia archive: {MANIFEST} is missing.")
    if members[MANIFEST].file_size > MAX_MANIFEST_BYTES:
        raise BadArchive(f"{MANIFEST} is larger than {MAX_MANIFEST_BYTES:,} bytes.")
    content = parse_json(opened.read(MANIFEST), MANIFEST)
    try:
        heading = Heading.model_validate(content)
        if heading.version > VERSION:
            raise BadArchive(
                f"The archive was made by a newer Arcadia ({heading.arcadia_version}, format {heading.version}). This "
                f"one reads format {VERSION}. Update Arcadia, then import it again."
            )
        return ArchiveManifest.model_validate(content)
    except ValidationError as error:
        raise invalid(MANIFEST, error) from None


def _check_contents(
    manifest: ArchiveManifest, members: dict[str, zipfile.ZipInfo], max_file_bytes: int
) -> dict[str, Member]:
    """Check that the manifest lists exactly the members, each with its size."""
    listed = {member.path: member for member in manifest.contents}
    if len(listed) < len(manifest.contents):
        raise BadArchive(f"{MANIFEST} lists a member twice.")
    if unlisted := members.keys() - listed.keys() - {MANIFEST}:
        raise BadArchive(f"The archive contains {min(unlisted)}, which {MANIFEST} does not list.")
    if missing := listed.keys() - members.keys():
        raise BadArchive(f"The archive is incomplete: {min(missing)[:200]} is missing.")
    for path, member in listed.items():
        if members[path].file_size != member.bytes:
            raise BadArchive(f"{path} has {members[path].file_size:,} bytes, but {MANIFEST} says {member.bytes:,}.")
        if "/files/" in path and member.bytes > max_file_bytes:
            raise BadArchive(f"{path} is larger than the {max_file_bytes:,} bytes allowed (ARCADIA_MAX_FILE_BYTES).")
    return listed


def _check_hashes(opened: zipfile.ZipFile, contents: dict[str, Member]) -> None:
    for path, member in contents.items():
        digest, size = hashlib.sha256(), 0
        with opened.open(path) as file:
            while block := file.read(BLOCK_BYTES):
                digest.update(block)
                size += len(block)
        if size != member.bytes or digest.hexdigest() != member.sha256:
            raise BadArchive(f"{path} was changed or damaged: it does not have the hash in {MANIFEST}.")


def parse_json(content: bytes, place: str) -> Any:
    """Parse JSON. Raise BadArchive for NaN, for deep nesting, and for anything that is no JSON."""
    try:
        return from_json(content, allow_inf_nan=False)
    except ValueError as error:
        raise BadArchive(f"{place} is not JSON that can be read: {str(error)[:200]}.") from None


def invalid(place: str, error: ValidationError) -> BadArchive:
    """Return the problem of a document or a row that does not have the expected fields."""
    found = error.errors(include_url=False, include_input=False)[0]
    field = ".".join(map(str, found["loc"]))
    return BadArchive(f"{place} is not valid: {f'{field}: ' if field else ''}{found['msg']}.")
