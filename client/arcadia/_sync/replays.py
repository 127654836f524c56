# Generated from arcadia/_async by client/generate_sync.py. Edit that instead.
"""Replays of a run."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from arcadia._sync.downloads import download
from arcadia._sync.resource import Resource
from arcadia.errors import DownloadError, JobFailedError
from arcadia.notebook import replay_card
from arcadia.preview import read_picture
from arcadia.records.job import JOB_ENDED_STATES
from arcadia.records.replay import ReplayRecord
from arcadia.records.start_set import StartSet

if TYPE_CHECKING:
    from arcadia._sync.client import Client


class Replay(ReplayRecord):
    """A replay, the recording of one episode."""

    def __init__(self, client: Client, data: Mapping[str, Any]) -> None:
        super().__init__(data)
        self._client = client

    @property
    def url(self) -> str:
        """Address of the replay's page."""
        return f"{self._client.url}/runs/{self.run_id}/replays/{self.id}"

    def download(self, path: str | os.PathLike[str] | None = None, *, progress: bool = True) -> Path:
        """Save the video, and return its path. Default: run-12-step-5000-replay-3.mp4 in the working folder."""
        return self._download(self.file_id, path, "mp4", progress=progress)

    def download_track(self, path: str | os.PathLike[str] | None = None, *, progress: bool = True) -> Path:
        """Save the track as NumPy arrays, and return its path. Default: the name of the video, with .npz."""
        return self._download(self.track_file_id, path, "npz", progress=progress)

    def track(self) -> dict[str, Any]:
        """Return what the agent computed at each decision: values, probabilities and rewards, as lists."""
        found: dict[str, Any] = self._client.transport.get(f"/replays/{self.id}/track")
        return found

    def pin(self, pinned: bool = True) -> Replay:
        """Protect the replay from pruning, or end its protection with `pinned=False`."""
        self.data = self._client.transport.patch(f"/replays/{self.id}", {"pinned": pinned})
        return self

    def save_start_points(
        self, name: str, decision: int, *, every: int | None = None, timeout: float | None = None
    ) -> StartSet:
        """Save a decision as a start set, or with `every=k` also each k-th decision before and after it.

        Wait until a worker has repeated the episode up to the last of them.
        """
        body = {"name": name, "decision": decision, "every": every}
        data = self._client.transport.post(f"/replays/{self.id}/start-points", body)
        saving = StartPoints(self._client, data).wait(timeout)
        return StartSet(self._client.transport.get(f"/start-sets/{saving.start_set_id}"))

    def _download(
        self, file_id: int | None, path: str | os.PathLike[str] | None, ending: str, *, progress: bool
    ) -> Path:
        if file_id is None:
            raise DownloadError(f"Replay {self.id} has no .{ending} file. It was pruned, or never made.")
        name = f"run-{self.run_id}-step-{self.step}-replay-{self.id}.{ending}"
        return download(self._client.transport, file_id, path, name, progress=progress)

    def _repr_html_(self) -> str:
        """Return a picture with the return for a notebook."""
        return replay_card(self, self.url, read_picture(self._client.transport, self.poster_file_id))


class StartPoints(Resource):
    """A job that saves start points of a replay."""

    @property
    def start_set_id(self) -> int:
        """Number of the start set. Raise JobFailedError if it was not saved."""
        if (found := self._integer("start_set_id")) is None:
            raise JobFailedError(f"{self._title} were not saved. {self.data['reason'] or ''}".rstrip())
        return found

    @property
    def _path(self) -> str:
        return f"/replays/{self.data['replay_id']}/start-points/{self.data['id']}"

    @property
    def _title(self) -> str:
        return f"Start points {self.data['name']}"

    @property
    def _is_pending(self) -> bool:
        return self.data["state"] not in JOB_ENDED_STATES

    @property
    def _share(self) -> float:
        return self.data["done"] / self.data["total"] if self.data["total"] else 0.0
