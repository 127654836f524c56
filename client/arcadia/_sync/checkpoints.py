# Generated from arcadia/_async by client/generate_sync.py. Edit that instead.
"""Checkpoints of a run."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from arcadia._sync.downloads import download
from arcadia.errors import DownloadError
from arcadia.optional import import_optional
from arcadia.records.checkpoint import CheckpointRecord

if TYPE_CHECKING:
    from arcadia._sync.client import Client

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
