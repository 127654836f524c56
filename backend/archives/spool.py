"""Members of an archive in a temporary file, until they are sent."""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import BinaryIO


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
