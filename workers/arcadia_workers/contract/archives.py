"""Files of columns with a head, and manifests of Arcadia's zip files.

The first are NumPy .npz files without pickled objects, whose array `head` is JSON. They may come from an archive of a
stranger. So this module reads them itself: NumPy evaluates the header of an array as Python, and allocates what the
header says.
"""

import io
import re
import struct
import zipfile
import zlib
from collections.abc import Mapping
from contextlib import nullcontext
from math import prod
from pathlib import Path
from typing import Annotated, Any, BinaryIO

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, StringConstraints
from pydantic_core import from_json

from arcadia_workers.contract.events import Sha256
from arcadia_workers.contract.values import Count, Ordinal

Column = NDArray[Any]

# The saliency of 100,000 decisions has 90 MB.
MAX_UNPACKED_BYTES = 200_000_000
MAX_COLUMNS, MAX_DIRECTORY_BYTES, MAX_HEADER_BYTES = 100, 100_000, 4_096

_END, _END_BYTES, _LOCATOR_BYTES = b"PK\5\6", 22, 20
_TYPE = r"'[<>|=]?[biufU]\d{1,6}'"
_HEADER = re.compile(
    rf"\{{'descr': (?P<type>{_TYPE}|\[(?:\('\w{{1,30}}', {_TYPE}\)(?:, )?){{1,50}}\]), "
    r"'fortran_order': (?P<order>True|False), 'shape': \((?P<shape>(?:\d{1,15}(?:, |,)?){0,8})\), \}\s*"
)
_FIELD = re.compile(rf"\('(\w+)', ({_TYPE})\)")
_DAMAGED = (OSError, ValueError, KeyError, EOFError, NotImplementedError, RuntimeError, struct.error)


class ArchiveError(Exception):
    """A file is not a readable archive."""


def packed(head: BaseModel, columns: Mapping[str, Column]) -> bytes:
    """Return the bytes of the file. Equal columns give equal bytes."""
    file = io.BytesIO()
    arrays: dict[str, Any] = {"head": np.array(head.model_dump_json()), **columns}
    np.savez_compressed(file, **arrays)
    return file.getvalue()


def unpacked(file: Path | io.BytesIO, *, only_head: bool = False) -> tuple[dict[str, Any], dict[str, Column]]:
    """Read the head and the columns, or no columns."""
    try:
        with file.open("rb") if isinstance(file, Path) else nullcontext(file) as opened:
            columns = _read_columns(opened, only_head=only_head)
        head = from_json(str(columns.pop("head")).encode())
    except (*_DAMAGED, zipfile.BadZipFile, zlib.error) as error:
        raise ArchiveError(str(error)) from error
    if not isinstance(head, dict):
        raise ArchiveError("its head is not an object")
    return head, columns


def _read_columns(file: BinaryIO, *, only_head: bool) -> dict[str, Column]:
    _check_directory(file)
    with zipfile.ZipFile(file) as archive:
        members = archive.infolist()
        if len(members) > MAX_COLUMNS or sum(info.file_size for info in members) > MAX_UNPACKED_BYTES:
            raise ArchiveError(f"it has over {MAX_COLUMNS} columns, or over {MAX_UNPACKED_BYTES:,} bytes unpacked")
        if any(info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED) for info in members):
            raise ArchiveError("it is compressed in a way other than deflate")
        names = {info.filename.removesuffix(".npy"): info for info in members}
        return {name: _to_array(archive.read(info)) for name, info in names.items() if name == "head" or not only_head}


def _check_directory(file: BinaryIO) -> None:
    """Refuse a large directory of members before it is read into memory."""
    file.seek(0, 2)
    file.seek(max(0, file.tell() - _END_BYTES - _LOCATOR_BYTES - 65_535))
    tail = file.read()
    at = tail.rfind(_END)
    if at < 0 or len(tail) - at < _END_BYTES:
        raise ArchiveError("it is not a zip file, or its end is missing")
    (size,) = struct.unpack_from("<L", tail, at + 12)
    if size > MAX_DIRECTORY_BYTES or tail[max(0, at - _LOCATOR_BYTES) : at].startswith(b"PK\6\7"):
        raise ArchiveError("its directory of columns is too large")


def _to_array(content: bytes) -> Column:
    """Return the array of a NumPy file in memory."""
    file = io.BytesIO(content)
    dtype, shape, order = read_header(file)
    if file.tell() + prod(shape) * dtype.itemsize != len(content):
        raise ArchiveError("a column does not have the size that its header says")
    return np.frombuffer(content, dtype, offset=file.tell()).reshape(shape, order="F" if order else "C").copy()


def read_header(file: Any) -> tuple[np.dtype[Any], tuple[int, ...], bool]:
    """Read the header of a NumPy file: type, shape, and whether the order is Fortran's. Raise ArchiveError if wrong."""
    start = file.read(8)
    if start[:6] != b"\x93NUMPY" or len(start) < 8 or start[6] not in (1, 2, 3):
        raise ArchiveError("it is not a NumPy file")
    length = int.from_bytes(file.read(2 if start[6] == 1 else 4), "little")
    if length > MAX_HEADER_BYTES:
        raise ArchiveError(f"its header is longer than {MAX_HEADER_BYTES:,} bytes")
    match = _HEADER.fullmatch(file.read(length).decode("latin-1"))
    if match is None:
        raise ArchiveError("its header does not describe an array of numbers")
    described = match["type"]
    fields: Any = [(name, form.strip("'")) for name, form in _FIELD.findall(described)]
    try:
        dtype = np.dtype(fields if described.startswith("[") else described.strip("'"))
    except (TypeError, ValueError):
        raise ArchiveError(f"it has the unknown type {described[:80]}") from None
    return dtype, tuple(map(int, re.findall(r"\d+", match["shape"]))), match["order"] == "True"


class Member(BaseModel):
    """A member of a zip file with its hash and size, as the file's manifest lists it."""

    path: Annotated[str, StringConstraints(max_length=200)]
    sha256: Sha256
    bytes: Count


class ManifestHeading(BaseModel):
    """The part of a manifest that every version has."""

    format: str
    version: Ordinal
    arcadia_version: Annotated[str, StringConstraints(max_length=50)]
