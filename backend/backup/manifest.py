"""What a backup holds, with the hash of each part; written last, so that a folder without it is no backup."""

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
    """One file of a backup: its path in there, and what is to be found under it."""

    # A backup from elsewhere must not name a file outside its folder.
    path: RunPath
    sha256: str
    bytes: int

    def is_sound(self, folder: Path) -> bool:
        """Say whether the file below the folder is what it should be."""
        if self.is_foreign(folder):
            return False
        path = folder / self.path
        return path.is_file() and path.stat().st_size == self.bytes and hash_of(path) == self.sha256

    def is_foreign(self, folder: Path) -> bool:
        """Say whether the path is reached through a symlink. Arcadia writes none into a backup."""
        try:
            return path_inside(folder, self.path).resolve() != folder.resolve() / self.path
        except OutsideFolderError:
            return True


class Manifest(BaseModel):
    """What a backup holds."""

    format: int = FORMAT
    arcadia: str
    made_at: datetime
    database: Content
    files: list[Content]

    def write(self, folder: Path) -> None:
        """Make the folder a backup."""
        fresh = folder / f"{NAME}.new"
        fresh.write_text(self.model_dump_json(indent=1))
        fresh.replace(folder / NAME)


def read_manifest(folder: Path) -> Manifest:
    """Return what a backup holds."""
    try:
        manifest = Manifest.model_validate_json((folder / NAME).read_bytes())
    except OSError as error:
        raise RefusedError(f"{folder} holds no whole backup: {NAME} is not there ({error.strerror}).") from None
    except ValidationError:
        raise RefusedError(f"{folder / NAME} cannot be read: it is damaged, or of another version.") from None
    if manifest.format != FORMAT:
        raise RefusedError(f"{folder} was made by Arcadia {manifest.arcadia}, which this version is too old to read.")
    return manifest


def verify(folder: Path, contents: Sequence[Content]) -> tuple[list[Content], list[Content]]:
    """Divide contents into those that are sound below the folder, and the others."""
    sound: list[Content] = []
    broken: list[Content] = []
    for each in contents:
        (sound if each.is_sound(folder) else broken).append(each)
    return sound, broken


def paths(contents: Sequence[Content]) -> str:
    """Name contents in a sentence."""
    return ", ".join(each.path for each in contents)


def hash_of(path: Path) -> str:
    """Return a file's SHA-256."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
