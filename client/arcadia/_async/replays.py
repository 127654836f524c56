"""Replays of a run."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from arcadia._async.downloads import download
from arcadia.errors import DownloadError
from arcadia.notebook import replay_card
from arcadia.preview import read_picture
from arcadia.records.replay import ReplayRecord

if TYPE_CHECKING:
    from arcadia._async.client import AsyncClient


class AsyncReplay(ReplayRecord):
    """A replay, the recording of one episode."""

    def __init__(self, client: AsyncClient, data: Mapping[str, Any]) -> None:
        super().__init__(data)
        self._client = client

    @property
    def url(self) -> str:
        """Address of the replay's page."""
        return f"{self._client.url}/runs/{self.run_id}/replays/{self.id}"

    async def download(self, path: str | os.PathLike[str] | None = None, *, progress: bool = True) -> Path:
        """Save the video, and return its path. Default: run-12-step-5000-replay-3.mp4 in the working folder."""
        return await self._download(self.file_id, path, "mp4", progress=progress)

    async def download_track(self, path: str | os.PathLike[str] | None = None, *, progress: bool = True) -> Path:
        """Save the track as NumPy arrays, and return its path. Default: the name of the video, with .npz."""
        return await self._download(self.track_file_id, path, "npz", progress=progress)

    async def track(self) -> dict[str, Any]:
        """Return what the agent computed at each decision: values, probabilities and rewards, as lists."""
        found: dict[str, Any] = await self._client.transport.get(f"/replays/{self.id}/track")
        return found

    async def pin(self, pinned: bool = True) -> AsyncReplay:
        """Protect the replay from pruning, or end its protection with `pinned=False`."""
        self.data = await self._client.transport.patch(f"/replays/{self.id}", {"pinned": pinned})
        return self

    async def _download(
        self, file_id: int | None, path: str | os.PathLike[str] | None, ending: str, *, progress: bool
    ) -> Path:
        if file_id is None:
            raise DownloadError(f"Replay {self.id} has no .{ending} file. It was pruned, or never made.")
        name = f"run-{self.run_id}-step-{self.step}-replay-{self.id}.{ending}"
        return await download(self._client.transport, file_id, path, name, progress=progress)

    def _repr_html_(self) -> str:
        """Return a picture with the return for a notebook."""
        return replay_card(self, self.url, read_picture(self._client.transport, self.poster_file_id))
