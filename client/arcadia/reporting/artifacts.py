"""Artifacts of a script: snapshots of the files that it logs, and versions that it uses."""

from __future__ import annotations

import hashlib
import json
import os
import re
import tempfile
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeGuard

from arcadia.errors import ArcadiaError
from arcadia.reporting.layout import WriterFiles
from arcadia.reporting.values import quoted, storable

if TYPE_CHECKING:
    from arcadia._sync.artifacts import ArtifactVersion

Place = str | os.PathLike[str]
Source = Place | Sequence[Place] | Mapping[str, Place]

MAX_FILES, MAX_PATH = 10_000, 500
# The server takes events up to 4 MB.
MAX_EVENT_BYTES = 3_500_000
BLOCK_BYTES = 1 << 20
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")
_ALIAS = re.compile(r"(?!v\d+$)[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


def collect(source: Source) -> dict[str, Path | str]:
    """Return the files of an artifact by their paths in it: those of a file, a folder, an address, a list or a mapping.

    Texts are addresses such as s3://bucket/data, whose content stays where it is.
    """
    if isinstance(source, list | tuple | set | frozenset):
        source = _by_names(source)
    if isinstance(source, Mapping):
        files: dict[str, Path | str] = {}
        for name, each in source.items():
            inner = collect(each)
            is_single = _is_place(each) and ("://" in str(each) or Path(each).is_file())
            files |= {str(name) if is_single else f"{name}/{path}": file for path, file in inner.items()}
    elif not _is_place(source):
        raise ArcadiaError(
            f"{quoted(source)} cannot be logged as an artifact. "
            "Use a file, a folder, a list of files, or a mapping from names to files."
        )
    elif isinstance(source, str) and "://" in source:
        files = {_name_of(source): source}
    elif (place := Path(source)).is_dir():
        files = dict(_walk(place))
    elif place.is_file():
        files = {place.name: place}
    else:
        raise ArcadiaError(f"{place} does not exist, so it cannot be logged as an artifact. Save the file first.")
    if not files:
        raise ArcadiaError(f"{source} has no files, so it cannot be logged as an artifact.")
    return files


def default_name(source: Source) -> str:
    """Return a name for an artifact of a file, a folder or a list. Raise ArcadiaError for a mapping, which has none."""
    if isinstance(source, Mapping):
        raise ArcadiaError("An artifact of several files needs a name: run.log_artifact({…}, name='model').")
    last = _name_of(source) if _is_place(source) else "files"
    return re.sub(r"[^A-Za-z0-9._-]+", "-", last).strip("-._")[:128] or "artifact"


def _is_place(source: Any) -> TypeGuard[Place]:
    return isinstance(source, str | os.PathLike)


def _name_of(place: Place) -> str:
    """Return the last part of a path or an address."""
    text = os.fspath(place)
    return text.rstrip("/").rpartition("/")[2] or "data" if "://" in text else Path(text).resolve().name


def _by_names(places: Iterable[Any]) -> dict[str, Place]:
    """Return the files of a list by their names. Raise ArcadiaError if two have the same."""
    by_name: dict[str, Place] = {}
    for place in places:
        name = _name_of(place) if _is_place(place) else ""
        if not name or name in by_name:
            problem = f"{quoted(place)} is not a path" if not name else f"Two files have the name {name}"
            raise ArcadiaError(f"{problem}. Use a mapping: run.log_artifact({{'a/model.pt': path}}, name='model').")
        by_name[name] = place
    return by_name


def check(name: str, aliases: Iterable[str], paths: Collection[str]) -> None:
    """Raise ArcadiaError for a name, an alias or files that the server would reject."""
    if not _NAME.fullmatch(name):
        raise ArcadiaError(
            f"{name!r} cannot be the name of an artifact. Use 1 to 128 letters, digits, dots, dashes and underscores, "
            "beginning with a letter or a digit."
        )
    for alias in aliases:
        if not _ALIAS.fullmatch(alias):
            raise ArcadiaError(
                f"{alias!r} cannot be an alias. Use letters, digits, dots, dashes and underscores. "
                "Versions such as v3 are numbered automatically."
            )
    if not paths:
        raise ArcadiaError(f"The artifact {name} has no files.")
    if len(paths) > MAX_FILES:
        raise ArcadiaError(f"{name} has {len(paths):,} files. An artifact has at most {MAX_FILES:,}; pack them first.")
    for path in paths:
        if len(path) > MAX_PATH or any(part in ("", ".", "..") for part in path.split("/")) or "\\" in path:
            raise ArcadiaError(f"{path[:100]!r} cannot be a path in an artifact. Use a short relative path with /.")


@dataclass(frozen=True)
class Snapshot:
    """Copied files: the entries of an artifact."""

    entries: list[dict[str, Any]]


def snapshot(files: Mapping[str, Path | str], folder: Path) -> Snapshot:
    """Copy files into a folder under their hashes.

    A hard link would be faster. But a script that writes into the same file again would change what was logged.
    """
    folder.mkdir(exist_ok=True)
    return Snapshot(
        [
            {"path": path, "uri": source} if isinstance(source, str) else {"path": path, **_copy(source, folder)}
            for path, source in sorted(files.items())
        ]
    )


def to_event(
    name: str, kind: str, files: Snapshot, aliases: Iterable[str], metadata: Mapping[str, Any], step: int
) -> dict[str, Any]:
    """Return the event of an artifact. Raise ArcadiaError if it is too large."""
    artifact: dict[str, Any] = {
        "name": name,
        "kind": str(kind or "file")[:50],
        "aliases": [str(alias) for alias in aliases],
        "metadata": storable(metadata),
        "entries": files.entries,
    }
    if step >= 0:
        artifact["step"] = step
    if len(json.dumps(artifact)) > MAX_EVENT_BYTES:
        raise ArcadiaError(f"The paths and the metadata of {name} are too long. Pack the files, or log less metadata.")
    return {"kind": "artifact", "artifact": artifact}


def project_of(files: WriterFiles) -> str | None:
    """Return the project that a writer's script has named, or None for the server's default."""
    try:
        project = json.loads(files.description.read_text())["registration"].get("project")
    except FileNotFoundError:
        return None
    return None if project is None else str(project)


class UsedArtifact:
    """A version that a run uses. Its files are downloaded when they are needed."""

    def __init__(self, version: ArtifactVersion) -> None:
        self._version = version
        self.name, self.version, self.kind = version.name, version.version, version.kind
        self.aliases, self.metadata = version.aliases, version.metadata
        # The paths of its files.
        self.files = [file.path for file in version.files]

    @property
    def reference(self) -> str:
        """The name with the version: model:v3."""
        return self._version.reference

    @property
    def path(self) -> Path:
        """A folder with its files, which other runs of this user share. Change a copy, not these files."""
        return self.download(_cache() / self._version.digest[:16])

    @property
    def file(self) -> Path:
        """Its only file. Raise ArcadiaError if it has several."""
        if len(self.files) != 1:
            raise ArcadiaError(f"{self.reference} has {len(self.files)} files. Use `path`, which is their folder.")
        return self.path / self.files[0]

    def download(self, folder: str | os.PathLike[str] | None = None) -> Path:
        """Save its files in a folder, and return it. Default: model-v3 in the working folder."""
        return self._version.download(folder, progress=False)

    def __repr__(self) -> str:
        return f"<UsedArtifact {self.reference}>"


def _walk(folder: Path) -> Iterable[tuple[str, Path]]:
    """Yield the files of a folder and of those in it. Links to other folders are an error, since they would be lost."""
    for root, folders, names in os.walk(folder):
        for each in folders:
            if Path(root, each).is_symlink():
                raise ArcadiaError(
                    f"{Path(root, each)} is a link to a folder. Log that folder itself, or remove the link."
                )
        for each in names:
            place = Path(root, each)
            if place.is_file():
                yield place.relative_to(folder).as_posix(), place


def _copy(source: Path, folder: Path) -> dict[str, Any]:
    """Copy a file to its hash, and return the hash and its size."""
    digest, size = hashlib.sha256(), 0
    descriptor, name = tempfile.mkstemp(dir=folder, prefix=".")
    new = Path(name)
    try:
        with source.open("rb") as reading, os.fdopen(descriptor, "wb") as writing:
            while block := reading.read(BLOCK_BYTES):
                digest.update(block)
                writing.write(block)
                size += len(block)
        # It appears complete, because the script may be killed at any time.
        new.replace(folder / digest.hexdigest())
    except BaseException:
        new.unlink(missing_ok=True)
        raise
    return {"sha256": digest.hexdigest(), "bytes": size}


def _cache() -> Path:
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base).absolute() / "arcadia" / "artifacts"
