"""Artifacts and checkpoints."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from arcadia._async.downloads import download, hash_of, make_folder
from arcadia._async.transport import AsyncLinkedRecord, AsyncRefreshable, AsyncRequests, AsyncTransport
from arcadia.errors import DownloadError
from arcadia.records.artifact import Alias, ArtifactRecord, ArtifactVersionRecord, CheckpointRecord
from arcadia.settings import resolve_project
from arcadia.tables import import_optional

if TYPE_CHECKING:
    from collections.abc import Mapping

Framework = Literal["numpy", "torch"]


class AsyncArtifact(AsyncLinkedRecord, ArtifactRecord):
    """An artifact: the versions of one name in a project."""

    @property
    def latest(self) -> AsyncArtifactVersion:
        """The newest version, without its files."""
        return AsyncArtifactVersion(self._transport, self.data["latest"])

    async def versions(self) -> list[AsyncArtifactVersion]:
        """List the versions, newest first, without their files."""
        artifact = await self._transport.get(self._path)
        return [AsyncArtifactVersion(self._transport, data) for data in artifact["versions"]]

    async def delete(self) -> None:
        """Permanently delete all versions, and the files that no other artifact has."""
        await self._transport.delete(self._path)

    @property
    def _path(self) -> str:
        return f"/artifacts/{self.id}"


class AsyncArtifactVersion(AsyncRefreshable, ArtifactVersionRecord):
    """A version of an artifact."""

    async def download(self, folder: str | os.PathLike[str] | None = None, *, progress: bool = True) -> Path:
        """Save all files in a folder, and return it. Default: model-v3 in the working folder.

        Files that the folder has already are not downloaded again. References are left out.
        """
        if "entries" not in self.data:
            await self.refresh()
        target = Path(folder) if folder is not None else Path(f"{self.name}-v{self.version}")
        make_folder(target)
        for file in self.files:
            if file.sha256 is None:
                continue
            path = _place(target, file.path)
            if not (path.is_file() and path.stat().st_size == file.bytes and hash_of(path) == file.sha256):
                make_folder(path.parent)
                await download(self._transport, file.data["file_id"], path, path.name, progress=progress)
        return target

    async def set_alias(self, alias: str) -> AsyncArtifactVersion:
        """Give this version an alias, such as best. The version that had it loses it."""
        path = f"/artifacts/{self.data['artifact_id']}/aliases/{alias}"
        await self._transport.call("PUT", path, body={"version": self.version})
        return await self.refresh()

    async def remove_alias(self, alias: str) -> AsyncArtifactVersion:
        """Remove an alias from this version."""
        await self._transport.delete(f"/artifacts/{self.data['artifact_id']}/aliases/{alias}")
        return await self.refresh()

    async def delete(self) -> None:
        """Permanently delete the version, and the files that no other version has."""
        await self._transport.delete(self._path)

    @property
    def _path(self) -> str:
        return f"/artifacts/{self.data['artifact_id']}/versions/{self.version}"


def _place(folder: Path, path: str) -> Path:
    """Return where a file is saved. Raise DownloadError if its path leaves the folder."""
    place = folder.joinpath(path)
    if not place.resolve().is_relative_to(folder.resolve()):
        raise DownloadError(f"The file {path!r} is not saved, because its path leaves the folder {folder}.")
    return place


class AsyncCheckpoint(AsyncLinkedRecord, CheckpointRecord):
    """A checkpoint, the saved state of a training."""

    def __init__(self, transport: AsyncTransport, run_id: int, data: Mapping[str, Any]) -> None:
        super().__init__(transport, data)
        self.run_id = run_id

    async def download(self, path: str | os.PathLike[str] | None = None, *, progress: bool = True) -> Path:
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
        return await download(self._transport, self.file_id, path, name, progress=progress)

    async def load(self, framework: Framework = "numpy") -> dict[str, Any]:
        """Return the tensors by name, as NumPy arrays or as tensors of torch. docs/client/checkpoints.md lists them."""
        import_optional(framework, "Checkpoint.load")
        loader = import_optional(f"safetensors.{framework}", "Checkpoint.load")
        with tempfile.TemporaryDirectory() as folder:
            path = await self.download(folder)
            tensors: dict[str, Any] = loader.load_file(str(path))
        return tensors

    async def pin(self, pinned: bool = True) -> AsyncCheckpoint:
        """Protect the file from pruning, or end its protection with `pinned=False`."""
        return await self._edit({"pinned": pinned})

    @property
    def _path(self) -> str:
        return f"/runs/{self.run_id}/checkpoints/{self.id}"


class AsyncArtifactRequests(AsyncRequests):
    """Methods of the client for artifacts and aliases of checkpoints."""

    async def aliases(self) -> list[Alias]:
        """List the aliases of checkpoints by name."""
        return [Alias(data) for data in await self.transport.get("/aliases")]

    async def alias_history(self, name: str) -> list[Alias]:
        """Return the history of an alias, newest first."""
        return [Alias(data) for data in await self.transport.get("/aliases/history", name=name)]

    async def set_alias(
        self, name: str, checkpoint: AsyncCheckpoint, *, why: str = "", who: str | None = None
    ) -> Alias:
        """Point an alias such as pong/champion to a checkpoint."""
        body = {"name": name, "checkpoint_id": checkpoint.id, "why": why, "who": who}
        return Alias((await self.transport.call("PUT", "/aliases", body=body))[0])

    async def remove_alias(self, name: str, *, why: str = "", who: str | None = None) -> None:
        """Remove an alias. Its history and its checkpoint stay."""
        params = {"name": name, "why": why, "who": who}
        given = {key: value for key, value in params.items() if value}
        await self.transport.call("DELETE", "/aliases", params=given)

    async def artifacts(
        self,
        *,
        project: str | Sequence[str] | None = None,
        kind: str | None = None,
        search: str | None = None,
        limit: int | None = None,
    ) -> list[AsyncArtifact]:
        """List the artifacts with their newest versions, the last changed first."""
        artifacts = await self.transport.pages(
            "/artifacts", limit=limit, cursor_name="before", project=project, kind=kind, search=search
        )
        return [AsyncArtifact(self.transport, data) for data in artifacts]

    async def artifact(self, reference: str, *, project: str | None = None) -> AsyncArtifactVersion:
        """Return the version that a reference names: "model", "model:best", "model:v3" or "Maze/model:best".

        Without an alias it is the newest version. The default project is ARCADIA_PROJECT, or Main.
        """
        project = resolve_project(project)
        version = await self.transport.get("/artifacts/resolve", reference=reference, project=project)
        return AsyncArtifactVersion(self.transport, version)
