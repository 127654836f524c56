# Generated from arcadia/_async by client/generate_sync.py. Edit that instead.
"""Artifacts and checkpoints."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from arcadia._sync.downloads import download, hash_of, make_folder
from arcadia._sync.transport import Transport
from arcadia.errors import DownloadError
from arcadia.records.artifact import ArtifactRecord, ArtifactVersionRecord

if TYPE_CHECKING:
    from arcadia._sync.client import Client
import tempfile
from typing import TYPE_CHECKING, Literal

from arcadia.records.artifact import CheckpointRecord
from arcadia.tables import import_optional


class Artifact(ArtifactRecord):
    """An artifact: the versions of one name in a project."""

    def __init__(self, client: Client, data: Mapping[str, Any]) -> None:
        super().__init__(data)
        self._client = client

    @property
    def latest(self) -> ArtifactVersion:
        """The newest version, without its files."""
        return ArtifactVersion(self._client, self.data["latest"])

    def versions(self) -> list[ArtifactVersion]:
        """List the versions, newest first, without their files."""
        found = self._client.transport.get(f"/artifacts/{self.id}")
        return [ArtifactVersion(self._client, data) for data in found["versions"]]

    def delete(self) -> None:
        """Permanently delete all versions, and the files that no other artifact has."""
        self._client.transport.delete(f"/artifacts/{self.id}")


class ArtifactVersion(ArtifactVersionRecord):
    """A version of an artifact."""

    def __init__(self, client: Client, data: Mapping[str, Any]) -> None:
        super().__init__(data)
        self._client = client

    def refresh(self) -> ArtifactVersion:
        """Read the version with its files and runs."""
        self.data = self._client.transport.get(self._path)
        return self

    def download(self, folder: str | os.PathLike[str] | None = None, *, progress: bool = True) -> Path:
        """Save all files in a folder, and return it. Default: model-v3 in the working folder.

        Files that the folder has already are not downloaded again. References are left out.
        """
        if "entries" not in self.data:
            self.refresh()
        target = Path(folder) if folder is not None else Path(f"{self.name}-v{self.version}")
        make_folder(target)
        for file in self.files:
            if file.sha256 is None:
                continue
            path = _place(target, file.path)
            if not (path.is_file() and path.stat().st_size == file.bytes and hash_of(path) == file.sha256):
                make_folder(path.parent)
                download(self._client.transport, file.data["file_id"], path, path.name, progress=progress)
        return target

    def set_alias(self, alias: str) -> ArtifactVersion:
        """Give this version an alias, such as best. The version that had it loses it."""
        path = f"/artifacts/{self.data['artifact_id']}/aliases/{alias}"
        self._client.transport.call("PUT", path, body={"version": self.version})
        return self.refresh()

    def remove_alias(self, alias: str) -> ArtifactVersion:
        """Remove an alias from this version."""
        self._client.transport.delete(f"/artifacts/{self.data['artifact_id']}/aliases/{alias}")
        return self.refresh()

    def delete(self) -> None:
        """Permanently delete the version, and the files that no other version has."""
        self._client.transport.delete(self._path)

    @property
    def _path(self) -> str:
        return f"/artifacts/{self.data['artifact_id']}/versions/{self.version}"


def find_version(transport: Transport, reference: str, project: str | None) -> dict[str, Any]:
    """Return the version that a reference names, with its files."""
    found: dict[str, Any] = transport.get("/artifacts/resolve", reference=reference, project=project)
    return found


def _place(folder: Path, path: str) -> Path:
    """Return where a file is saved. Raise DownloadError if its path leaves the folder."""
    place = folder.joinpath(path)
    if not place.resolve().is_relative_to(folder.resolve()):
        raise DownloadError(f"The file {path!r} is not saved, because its path leaves the folder {folder}.")
    return place


Framework = Literal["numpy", "torch"]


class Checkpoint(CheckpointRecord):
    """A checkpoint, the saved state of a training."""

    def __init__(self, client: Client, run_id: int, data: Mapping[str, Any]) -> None:
        super().__init__(data)
        self._client, self.run_id = client, run_id

    def download(self, path: str | os.PathLike[str] | None = None, *, progress: bool = True) -> Path:
        """Save the file, and return its path. Default: run-12-step-5000.safetensors in the working folder.

        The file appears only when it is complete and its hash is right. An interrupted download continues.
        A terminal or a notebook shows a progress bar.
        """
        if self.file_id is None:
            raise DownloadError(
                f"The checkpoint of run {self.run_id} at step {self.step:,} was pruned. "
                "Choose one whose is_available is true."
            )
        name = f"run-{self.run_id}-step-{self.step}.safetensors"
        return download(self._client.transport, self.file_id, path, name, progress=progress)

    def load(self, framework: Framework = "numpy") -> dict[str, Any]:
        """Return the tensors by name, as NumPy arrays or as tensors of torch. docs/client/checkpoints.md lists them."""
        import_optional(framework, "Checkpoint.load")
        loader = import_optional(f"safetensors.{framework}", "Checkpoint.load")
        with tempfile.TemporaryDirectory() as folder:
            path = self.download(folder)
            tensors: dict[str, Any] = loader.load_file(str(path))
        return tensors

    def pin(self, pinned: bool = True) -> Checkpoint:
        """Protect the file from pruning, or end its protection with `pinned=False`."""
        path = f"/runs/{self.run_id}/checkpoints/{self.id}"
        self.data = self._client.transport.patch(path, {"pinned": pinned})
        return self
