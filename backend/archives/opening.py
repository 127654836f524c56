"""Opening of an archive file. It is checked completely before any of it is used."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path
from typing import Any, cast
from zipfile import ZipFile

from backend.archives.format import MANIFEST, MEMBER, VERSION, ArchiveManifest, Heading
from backend.errors import Problem
from backend.files.storage import BLOCK_BYTES
from backend.files.zip_guards import ZipGuards
from workers.contract.members import Member

# A line of JSON: the largest are lists of packages, changes to code, and start points.
MAX_LINE_BYTES = 60_000_000


class BadArchive(Problem):
    """The file is not an archive, or it is unsafe to import. Nothing was changed."""

    status = 422
    kind = "bad-archive"
    title = "Archive cannot be imported"


GUARDS = ZipGuards("Arcadia archive", MEMBER, BadArchive)


@dataclass(frozen=True)
class Archive:
    """An open archive whose members were all checked."""

    file: ZipFile
    manifest: ArchiveManifest
    members: dict[str, Member]

    @contextmanager
    def open(self, path: str) -> Iterator[BufferedReader]:
        """Open a member for reading."""
        with self.file.open(path) as raw, BufferedReader(cast("Any", raw), BLOCK_BYTES) as member:
            yield member

    def lines(self, path: str) -> Iterator[Any]:
        """Yield each line of a member as parsed JSON. A missing member has no lines."""
        if path not in self.members:
            return
        with self.open(path) as member:
            number = 0
            while line := member.readline(MAX_LINE_BYTES + 1):
                number += 1
                if len(line) > MAX_LINE_BYTES:
                    raise BadArchive(f"Line {number} of {path} is longer than {MAX_LINE_BYTES:,} bytes.")
                yield GUARDS.parse_json(line, f"Line {number} of {path}")


@contextmanager
def open_archive(path: Path, max_file_bytes: int) -> Iterator[Archive]:
    """Open an archive and check it completely. Raise BadArchive with the reason if it must not be imported."""
    with ExitStack() as stack:
        with GUARDS.checking():
            opened, members = GUARDS.open(stack, stack.enter_context(path.open("rb")))
            GUARDS.check_sizes((info for name, info in members.items() if "/files/" in name), max_file_bytes)
            content = GUARDS.read_manifest(opened, members, MANIFEST)
            GUARDS.check_version(GUARDS.validate(Heading, content, MANIFEST), VERSION)
            manifest = GUARDS.validate(ArchiveManifest, content, MANIFEST)
            contents = GUARDS.check_contents(opened, members, manifest.contents, MANIFEST)
        yield Archive(opened, manifest, contents)
