"""The manifest: the content of a backup with hashes. It is written last, so an incomplete backup has none."""

import hashlib
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from pydantic import BaseModel, ValidationError

from backend.refusals import RefusedError
from workers.contract.paths import OutsideFolderError, path_inside
from workers.contract.worker_api import RunPath

NAME = "backup.json"
FORMAT = 1
DATABASE = "database.db"
FILES = "files"


class Content(BaseModel):
    """A file of a backup: its path, hash and size."""

    # A backup from elsewhere must not contain a path outside its folder.
    path: RunPath
    sha256: str
    bytes: int

    def is_sound(self, folder: Path) -> bool:
        """Return True if the file exists with the right size and hash."""
        if self.is_foreign(folder):
            return False
        path = folder / self.path
        return path.is_file() and path.stat().st_size == self.bytes and hash_of(path) == self.sha256

    def is_foreign(self, folder: Path) -> bool:
        """Return True if the path leads through a symlink. Arcadia writes none into a backup."""
        try:
            return path_inside(folder, self.path).resolve() != folder.resolve() / self.path
        except OutsideFolderError:
            return True


class Manifest(BaseModel):
    """The content of a backup."""

    format: int = FORMAT
    arcadia: str
    made_at: datetime
    database: Content
    files: list[Content]

    def write(self, folder: Path) -> None:
        """Write the manifest, which completes the backup."""
        fresh = folder / f"{NAME}.new"
        fresh.write_text(self.model_dump_json(indent=1))
        fresh.replace(folder / NAME)


def read_manifest(folder: Path) -> Manifest:
    """Return the manifest of a backup. Raise RefusedError if it is missing or invalid."""
    try:
        manifest = Manifest.model_validate_json((folder / NAME).read_bytes())
    except OSError as error:
        raise RefusedError(f"{folder} is not a complete backup: {NAME} is missing ({error.strerror}).") from None
    except ValidationError:
        raise RefusedError(f"{folder / NAME} cannot be read. It is damaged, or from another version.") from None
    if manifest.format != FORMAT:
        raise RefusedError(f"{folder} was made by Arcadia {manifest.arcadia}, which is too new for this version.")
    return manifest


def verify(folder: Path, contents: Sequence[Content]) -> tuple[list[Content], list[Content]]:
    """Split contents into sound files and damaged ones."""
    sound: list[Content] = []
    damaged: list[Content] = []
    for each in contents:
        (sound if each.is_sound(folder) else damaged).append(each)
    return sound, damaged


def paths(contents: Sequence[Content]) -> str:
    """Return the paths, separated by commas."""
    return ", ".join(each.path for each in contents)


def hash_of(path: Path) -> str:
    """Return the SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
