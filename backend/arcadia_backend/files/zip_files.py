"""Zip files: complete checks of uploaded ones before any use, and streams of new ones."""

import errno
import hashlib
import re
import stat
import struct
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any, BinaryIO, TypeVar, cast

from pydantic import BaseModel, ValidationError
from pydantic_core import from_json

from arcadia_backend.errors import Problem
from arcadia_backend.files.storage import BLOCK_BYTES
from arcadia_workers.contract.archives import ManifestHeading, Member

MAX_MEMBERS = 100_000
MAX_DIRECTORY_BYTES = 30_000_000
MAX_MANIFEST_BYTES = 30_000_000
# Points of constant values and texts shrink less than this. Zip bombs shrink more.
MAX_RATIO, FREE_BYTES = 100, 100_000_000

_END, _END_64, _LOCATOR = struct.Struct("<4s4H2LH"), struct.Struct("<4sQ2H2L4Q"), struct.Struct("<4sLQL")
_ENCRYPTED = 0x1
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_DAMAGED = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, struct.error, ValueError)

Members = dict[str, zipfile.ZipInfo]
Document = TypeVar("Document", bound=BaseModel)


@dataclass(frozen=True)
class ZipGuards:
    """The checks of one kind of zip file: its name in messages, the names of its members, and the error to raise."""

    noun: str
    member: str
    problem: type[Problem]

    @contextmanager
    def checking(self) -> Iterator[None]:
        """Raise the problem if a damaged file makes the block fail."""
        try:
            yield
        except _DAMAGED as error:
            raise self.problem(f"The file is not an {self.noun}, or is damaged: {error}.") from error
        except OSError as error:
            # A member at a negative position. Other errors are of the disk.
            if error.errno != errno.EINVAL:
                raise
            raise self.problem(f"The file is not an {self.noun}, or is damaged: a member is outside of it.") from error

    def open(self, stack: ExitStack, file: BinaryIO) -> tuple[zipfile.ZipFile, Members]:
        """Open a zip file until the stack ends, and check its members. Raise the problem if it is unsafe."""
        size = self._check_directory(file)
        opened = stack.enter_context(zipfile.ZipFile(file))
        return opened, self._check_members(opened, size)

    def check_sizes(self, members: Iterable[zipfile.ZipInfo], max_file_bytes: int) -> None:
        """Raise the problem if a member would be larger than a stored file may be."""
        for info in members:
            if info.file_size > max_file_bytes:
                raise self.problem(
                    f"{info.filename} is larger than the {max_file_bytes:,} bytes allowed (ARCADIA_MAX_FILE_BYTES)."
                )

    def check_contents(
        self, opened: zipfile.ZipFile, members: Members, contents: Sequence[Member], manifest: str
    ) -> dict[str, Member]:
        """Check that the manifest lists exactly the members, each with its size and hash. Return them by name."""
        listed = {member.path: member for member in contents}
        if len(listed) < len(contents):
            raise self.problem(f"{manifest} lists a member twice.")
        if unlisted := members.keys() - listed.keys() - {manifest}:
            raise self.problem(f"The {self._short} contains {min(unlisted)}, which {manifest} does not list.")
        if missing := listed.keys() - members.keys():
            raise self.problem(f"The {self._short} is incomplete: {min(missing)[:200]} is missing.")
        for path, member in listed.items():
            if members[path].file_size != member.bytes:
                raise self.problem(
                    f"{path} has {members[path].file_size:,} bytes, but {manifest} says {member.bytes:,}."
                )
        self._check_hashes(opened, listed, manifest)
        return listed

    def read_manifest(self, opened: zipfile.ZipFile, members: Members, manifest: str) -> Any:
        """Return the JSON of the manifest."""
        if manifest not in members:
            raise self.problem(f"The file is not an {self.noun}: {manifest} is missing.")
        if members[manifest].file_size > MAX_MANIFEST_BYTES:
            raise self.problem(f"{manifest} is larger than {MAX_MANIFEST_BYTES:,} bytes.")
        return self.parse_json(opened.read(manifest), manifest)

    def check_version(self, heading: ManifestHeading, version: int) -> None:
        """Raise the problem if the file has a newer format than this version."""
        if heading.version > version:
            raise self.problem(
                f"The {self._short} was made by a newer Arcadia ({heading.arcadia_version}, format {heading.version}). "
                f"This one reads format {version}. Update Arcadia, then import it again."
            )

    def validate(self, model: type[Document], content: Any, place: str) -> Document:
        """Return a document of this model. Raise the problem if a field is missing or invalid."""
        try:
            return model.model_validate(content)
        except ValidationError as error:
            raise self.invalid(place, error) from None

    def parse_json(self, content: bytes, place: str) -> Any:
        """Parse JSON. Raise the problem for NaN, for deep nesting, and for anything that is not JSON."""
        try:
            return from_json(content, allow_inf_nan=False)
        except ValueError as error:
            raise self.problem(f"{place} is not JSON that can be read: {str(error)[:200]}.") from None

    def invalid(self, place: str, error: ValidationError) -> Problem:
        """Return the problem of a document or a row that does not have the expected fields."""
        problem = error.errors(include_url=False, include_input=False)[0]
        field = ".".join(map(str, problem["loc"]))
        return self.problem(f"{place} is not valid: {f'{field}: ' if field else ''}{problem['msg']}.")

    @property
    def _short(self) -> str:
        return self.noun.removeprefix("Arcadia ")

    def _check_directory(self, file: BinaryIO) -> int:
        """Refuse a huge directory of members before it is read into memory. Return the size of the file."""
        file.seek(0, 2)
        size = file.tell()
        file.seek(max(0, size - _END.size - 65_535))
        tail = file.read()
        at = tail.rfind(b"PK\5\6")
        if at < 0 or len(tail) - at < _END.size:
            raise self.problem(f"The file is not an {self.noun}: it is not a zip file, or its end is missing.")
        _mark, _disk, _start, _here, members, directory, _offset, _comment = _END.unpack_from(tail, at)
        end = size - len(tail) + at
        if end >= _LOCATOR.size:
            file.seek(end - _LOCATOR.size)
            mark, _disks, offset, _count = _LOCATOR.unpack(file.read(_LOCATOR.size))
            if mark == b"PK\6\7":
                file.seek(min(offset, size))
                record = file.read(_END_64.size)
                if (
                    len(record) < _END_64.size
                    or record[:4] != b"PK\6\6"
                    or offset + _END_64.size != end - _LOCATOR.size
                ):
                    raise self.problem("The file is damaged: its directory of members is not where it should be.")
                members, directory = _END_64.unpack(record)[7:9]
        if members > MAX_MEMBERS or directory > MAX_DIRECTORY_BYTES:
            raise self.problem(f"The {self._short} has more than the {MAX_MEMBERS:,} members allowed.")
        return size

    def _check_members(self, opened: zipfile.ZipFile, size: int) -> Members:
        """Check the names, types and declared sizes of all members."""
        members: Members = {}
        for info in opened.infolist():
            name = info.orig_filename
            if stat.S_ISLNK(info.external_attr >> 16):
                raise self.problem(f"{name[:200]!r} is a symbolic link, which an {self._short} cannot contain.")
            if not re.fullmatch(self.member, name):
                raise self.problem(f"{name[:200]!r} is not a name that a member of an {self._short} can have.")
            if name in members:
                raise self.problem(f"The {self._short} contains {name} twice.")
            if info.flag_bits & _ENCRYPTED or info.compress_type not in _METHODS:
                raise self.problem(f"{name} is encrypted, or compressed in a way other than deflate.")
            members[name] = info
        total = sum(info.file_size for info in members.values())
        if total > FREE_BYTES + MAX_RATIO * size:
            raise self.problem(
                f"The {self._short} would unpack to {total:,} bytes, more than {MAX_RATIO} times its size. Such files "
                "are made to fill disks."
            )
        return members

    def _check_hashes(self, opened: zipfile.ZipFile, contents: Mapping[str, Member], manifest: str) -> None:
        for path, member in contents.items():
            digest, size = hashlib.sha256(), 0
            with opened.open(path) as file:
                while block := file.read(BLOCK_BYTES):
                    digest.update(block)
                    size += len(block)
            if size != member.bytes or digest.hexdigest() != member.sha256:
                raise self.problem(f"{path} was changed or damaged: it does not have the hash in {manifest}.")


# The earliest time that a zip file can express: equal contents make equal files.
_NO_TIME = (1980, 1, 1, 0, 0, 0)


class ZipStream:
    """Writer of a zip file. Each method yields what it has written."""

    def __init__(self) -> None:
        self._sink = _Sink()
        self._file = zipfile.ZipFile(cast("BinaryIO", self._sink), "w")

    def add(self, path: str, blocks: Iterator[bytes], *, compress: bool) -> Iterator[bytes]:
        """Add a member block by block."""
        info = zipfile.ZipInfo(path, _NO_TIME)
        info.compress_type = zipfile.ZIP_DEFLATED if compress else zipfile.ZIP_STORED
        info.external_attr = 0o644 << 16
        with self._file.open(info, "w", force_zip64=True) as target:
            for block in blocks:
                target.write(block)
                yield self._sink.take()
        yield self._sink.take()

    def close(self) -> Iterator[bytes]:
        """Write the end of the file."""
        self._file.close()
        yield self._sink.take()


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


def read_blocks(file: BinaryIO, size: int) -> Iterator[bytes]:
    """Yield a file in blocks of this size."""
    while block := file.read(size):
        yield block
