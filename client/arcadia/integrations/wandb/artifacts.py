"""Artifacts as wandb's scripts create and use them."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from arcadia.reporting import artifacts
from arcadia.reporting.artifacts import Snapshot, UsedArtifact
from arcadia.reporting.attached import attached_or_disabled, not_stopping, warn_once
from arcadia.reporting.layout import JournalDirectory


class Absent:
    """An object that accepts every use. It is false, and empty."""

    def __init__(self, name: str) -> None:
        object.__setattr__(self, "_name", name)

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        is_decorator = len(arguments) == 1 and not named and callable(arguments[0])
        return arguments[0] if is_decorator else self

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return type(name, (Exception,), {}) if name.endswith("Error") else self

    def __setattr__(self, name: str, value: Any) -> None:
        """Do nothing."""

    def __getitem__(self, name: Any) -> Any:
        return self

    def __setitem__(self, name: Any, value: Any) -> None:
        """Do nothing."""

    def __iter__(self) -> Iterator[Any]:
        return iter(())

    def __len__(self) -> int:
        return 0

    def __bool__(self) -> bool:
        return False

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *error: Any) -> None:
        """Do nothing."""

    def __mro_entries__(self, bases: tuple[Any, ...]) -> tuple[type, ...]:
        return (object,)

    def __repr__(self) -> str:
        return f"<{self._name} is not recorded by Arcadia>"


def absent(name: str) -> Any:
    """Return a stand-in for a name of wandb, with one warning. Exception classes can be used in `except`."""
    if name.startswith("__"):
        raise AttributeError(name)
    if name.endswith("Error"):
        return type(name, (Exception,), {})
    if name == "errors":  # its names are only used in `except`
        return Absent("wandb.errors")
    warn_once(f"wandb.{name}", f"wandb.{name} is not recorded by Arcadia and has no effect.")
    return Absent(f"wandb.{name}")


# wandb's names may have other characters.
_FOREIGN = re.compile(r"[^A-Za-z0-9._-]+")


class Artifact:
    """An artifact that a script fills. Its files are copied when they are added, as they may be temporary."""

    def __init__(
        self,
        name: str,
        type: str = "file",  # noqa: A002 - wandb's signature
        description: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        **_others: Any,
    ) -> None:
        self.name, self.type, self.description = name, type, description
        self.metadata = dict(metadata or {})
        self.aliases: list[str] = []
        target = attached_or_disabled()
        self._folder = None if target.is_disabled else JournalDirectory(target.directory).artifacts
        self._entries: dict[str, dict[str, Any]] = {}

    def add_file(self, local_path: Any, name: str | None = None, **_others: Any) -> None:
        """Add a file."""
        self._add({name or Path(local_path).name: Path(local_path)})

    def add_dir(self, local_path: Any, name: str | None = None, **_others: Any) -> None:
        """Add the files of a folder, below a name if there is one."""
        with not_stopping("A call of Artifact.add_dir"):
            files = artifacts.collect(Path(local_path))
            self._add({f"{name}/{path}" if name else path: file for path, file in files.items()})

    def add_reference(self, uri: Any, name: str | None = None, **_others: Any) -> None:
        """Add the address of a file that stays where it is."""
        self._add({name or str(uri).rstrip("/").rpartition("/")[2] or "reference": str(uri)})

    def add(self, obj: Any, name: str, **_others: Any) -> None:
        """Add an image, a video or a table of wandb as a file."""
        with not_stopping("A call of Artifact.add"):
            media = obj.to_arcadia()
            content = media.content()
            with self.new_file(name if content is not None else f"{name}.json", "wb") as file:
                file.write(json.dumps(media.data()).encode() if content is None else content)

    @contextlib.contextmanager
    def new_file(self, name: str, mode: str = "w", **_others: Any) -> Iterator[Any]:
        """Open a new file, which is added when the block ends."""
        with tempfile.TemporaryDirectory() as folder:
            place = Path(folder, "file")
            with place.open(mode) as file:
                yield file
            self._add({name: place})

    def save(self, *_unused: Any, **_named: Any) -> None:
        """Log the artifact."""
        log(self, ())

    def wait(self, *_unused: Any, **_named: Any) -> Artifact:
        """Return the artifact. Its files are copied already, so the script need not wait for the upload."""
        return self

    def download(self, root: Any = None, **_others: Any) -> str:
        """Copy the files to a folder, and return it."""
        target = Path(root) if root else Path("artifacts", self.name)
        for path, entry in self._entries.items():
            if "sha256" in entry and self._folder is not None:
                place = target / path
                place.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(self._folder / entry["sha256"], place)
        return str(target)

    def to_snapshot(self) -> Snapshot:
        """Return the files that were added."""
        return Snapshot(list(self._entries.values()))

    def __getattr__(self, name: str) -> Any:
        return absent(f"Artifact.{name}" if not name.startswith("__") else name)

    def _add(self, files: Mapping[str, Path | str]) -> None:
        with not_stopping(f"A file of the artifact {self.name}"):
            if self._folder is not None:
                self._entries |= {entry["path"]: entry for entry in artifacts.snapshot(files, self._folder).entries}


class Downloadable:
    """A version that a script uses, with the names of wandb.Artifact."""

    def __init__(self, used: UsedArtifact) -> None:
        self._used = used
        self.name, self.type, self.version = used.reference, used.kind, f"v{used.version}"
        self.metadata, self.aliases = used.metadata, used.aliases

    def download(self, root: Any = None, **_others: Any) -> str:
        """Save the files in a folder, and return it."""
        return str(self._used.download(root or Path("artifacts", self.name)))

    def file(self, root: Any = None) -> str:
        """Save the only file, and return its path."""
        self.download(root)
        return str(Path(root or Path("artifacts", self.name), self._used.file.name))

    def get_entry(self, name: str) -> _Entry:
        """Return a file of the version."""
        return _Entry(self, name)

    get_path = get_entry

    def wait(self, *_unused: Any, **_named: Any) -> Downloadable:
        """Return the artifact, which is complete."""
        return self

    def __getattr__(self, name: str) -> Any:
        return absent(f"Artifact.{name}" if not name.startswith("__") else name)


class _Entry:
    """A file of a version that a script uses."""

    def __init__(self, artifact: Downloadable, path: str) -> None:
        self._artifact, self.path = artifact, path

    def download(self, root: Any = None, **_others: Any) -> str:
        """Save the files of the version, and return the path of this one."""
        return str(Path(self._artifact.download(root), self.path))


def log(artifact: Any, aliases: Iterable[str] | None, name: str | None = None, kind: str | None = None) -> Any:
    """Log an artifact, or the artifact of a file or a folder. Return it."""
    with not_stopping(f"The artifact {getattr(artifact, 'name', artifact)}"):
        if not isinstance(artifact, Artifact):
            place = Path(artifact)
            artifact = Artifact(name or place.name, kind or "file")
            artifact.add_dir(place) if place.is_dir() else artifact.add_file(place)
        target = attached_or_disabled()
        wanted = [aliases] if isinstance(aliases, str) else list(aliases or ())
        metadata = dict(artifact.metadata)
        if artifact.description:
            metadata.setdefault("description", artifact.description)
        target.log_artifact(
            artifact.to_snapshot(),
            _to_name(name or artifact.name),
            kind=artifact.type,
            aliases=[_to_name(alias) for alias in wanted if not re.fullmatch(r"v\d+", alias)],
            metadata=metadata,
        )
    return artifact


def use(reference: Any) -> Any:
    """Return the version of a reference in the run's project. wandb's entities and projects are left out."""
    if isinstance(reference, Artifact):
        return log(reference, ())
    name, colon, alias = str(reference).rpartition("/")[2].partition(":")
    return Downloadable(attached_or_disabled().use_artifact(f"{_to_name(name)}{colon}{alias}"))


def save(pattern: str, base: Any = None) -> list[str]:
    """Log the files that match a pattern as an artifact, and return them."""
    folder = Path(base) if base else Path()
    place = Path(pattern)
    inner = place.relative_to(folder) if base and place.is_relative_to(folder) else place
    root = Path(inner.anchor) if inner.is_absolute() else folder
    relative = inner.relative_to(inner.anchor) if inner.is_absolute() else inner
    files = sorted(each for each in root.glob(str(relative)) if each.is_file())
    if files:
        name = files[0].name if len(files) == 1 else "-".join(re.findall(r"\w+", str(relative))) or "files"
        artifact = Artifact(name)
        for each in files:
            artifact.add_file(each, each.name if inner.is_absolute() else each.relative_to(root).as_posix())
        log(artifact, ())
    return [os.fspath(each) for each in files]


def _to_name(name: str) -> str:
    """Return a name or an alias without characters that Arcadia does not have."""
    cleaned = _FOREIGN.sub("-", name).lstrip("-._")[:100] or "artifact"
    if cleaned != name:
        warn_once(f"name {name}", f"The artifact or alias {name!r} of wandb is logged as {cleaned}.")
    return cleaned
