"""Replays, and jobs of workers: evaluations, futures, reviews, practices and others."""

from __future__ import annotations

import math
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from arcadia._async.downloads import download
from arcadia._async.transport import AsyncLinkedRecord, AsyncRefreshable
from arcadia.errors import ArcadiaError, DownloadError, JobFailedError, WaitTimeoutError
from arcadia.notebook import ProgressBar, read_picture, replay_card
from arcadia.records.job import (
    JOB_ENDED_STATES,
    CalibrationRecord,
    EvaluationRecord,
    FuturesRecord,
    JobRecord,
    RecordingRecord,
    ReplayRecord,
    StartSet,
)
from arcadia.records.review import PracticePreview, PracticeRecord, ReviewRecord

if TYPE_CHECKING:
    from typing_extensions import Self

# Length of one waiting request. Proxies often end requests after a minute.
WAIT_SECONDS = 25.0
# With a progress bar, poll the server more often.
PROGRESS_SECONDS = 1.0


class AsyncResource(AsyncRefreshable):
    """An object of the server that may be waited for."""

    @property
    def _title(self) -> str:
        """Noun and number, for messages and the progress bar."""
        raise NotImplementedError

    @property
    def _is_pending(self) -> bool:
        """True while there is something to wait for."""
        raise NotImplementedError

    @property
    def _share(self) -> float:
        """Share that is done, from 0 to 1."""
        raise NotImplementedError

    @property
    def _status(self) -> str:
        """Text next to the progress bar."""
        return str(self.data["state"])

    async def wait(self, timeout: float | None = None, *, progress: bool = True) -> Self:
        """Wait until it has ended or is paused. Raise WaitTimeoutError after `timeout` seconds.

        A terminal or a notebook shows a progress bar. While the server is unreachable, retry.
        """
        deadline = math.inf if timeout is None else time.monotonic() + timeout
        with ProgressBar(self._title, wanted=progress) as bar:
            longest = PROGRESS_SECONDS if bar.is_shown else WAIT_SECONDS
            while self._is_pending:
                seconds = min(longest, deadline - time.monotonic())
                if seconds <= 0:
                    state = self.data["state"]
                    raise WaitTimeoutError(f"{self._title} is still {state} after {timeout:g} seconds. It continues.")
                self.data = await self._transport.get_patiently(
                    self._path, deadline, wait="finished", timeout=round(seconds, 3)
                )
                bar.update(self._share, self._status)
        return self


class AsyncReplay(AsyncLinkedRecord, ReplayRecord):
    """A replay, the recording of one episode."""

    @property
    def url(self) -> str:
        """Address of the replay's page."""
        return f"{self._transport.url}/runs/{self.run_id}/replays/{self.id}"

    @property
    def _path(self) -> str:
        return f"/replays/{self.id}"

    async def download(self, path: str | os.PathLike[str] | None = None, *, progress: bool = True) -> Path:
        """Save the video, and return its path. Default: run-12-step-5000-replay-3.mp4 in the working folder."""
        return await self._download(self.file_id, path, "mp4", progress=progress)

    async def download_track(self, path: str | os.PathLike[str] | None = None, *, progress: bool = True) -> Path:
        """Save the track as NumPy arrays, and return its path. Default: the name of the video, with .npz."""
        return await self._download(self.track_file_id, path, "npz", progress=progress)

    async def track(self) -> dict[str, Any]:
        """Return what the agent computed at each decision: values, probabilities and rewards, as lists."""
        track: dict[str, Any] = await self._transport.get(f"{self._path}/track")
        return track

    async def pin(self, pinned: bool = True) -> AsyncReplay:
        """Protect the replay from pruning, or end its protection with `pinned=False`."""
        return await self._edit({"pinned": pinned})

    async def save_start_points(
        self, name: str, decision: int, *, every: int | None = None, timeout: float | None = None
    ) -> StartSet:
        """Save a decision as a start set, or with `every=k` also each k-th decision before and after it.

        Wait until a worker has repeated the episode up to the last of them.
        """
        body = {"name": name, "decision": decision, "every": every}
        data = await self._transport.post(f"{self._path}/start-points", body)
        saving = await AsyncStartPoints(self._transport, data).wait(timeout)
        return StartSet(await self._transport.get(f"/start-sets/{saving.start_set_id}"))

    async def _download(
        self, file_id: int | None, path: str | os.PathLike[str] | None, ending: str, *, progress: bool
    ) -> Path:
        if file_id is None:
            raise DownloadError(f"Replay {self.id} has no .{ending} file. It was pruned, or never made.")
        name = f"run-{self.run_id}-step-{self.step}-replay-{self.id}.{ending}"
        return await download(self._transport, file_id, path, name, progress=progress)

    def _repr_html_(self) -> str:
        """Return a picture with the return for a notebook."""
        return replay_card(self, self.url, read_picture(self._transport, self.poster_file_id))


class AsyncStartPoints(AsyncResource):
    """A job that saves start points of a replay."""

    @property
    def start_set_id(self) -> int:
        """Number of the start set. Raise JobFailedError if it was not saved."""
        if (number := self._integer("start_set_id")) is None:
            raise JobFailedError(f"{self._title} were not saved. {self.data['reason'] or ''}".rstrip())
        return number

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


class AsyncJob(AsyncResource, JobRecord):
    """A job. Its properties show the state of the last response; `refresh()` reads it again."""

    collection = ""

    async def wait(self, timeout: float | None = None, *, progress: bool = True) -> Self:
        """Wait until the job is done. Raise JobFailedError if it fails, WaitTimeoutError after `timeout` seconds."""
        await super().wait(timeout, progress=progress)
        if self.state != "done":
            raise JobFailedError(f"{self._title} of run {self.run_id} is {self.state}. {self.reason or ''}".rstrip())
        return self

    async def cancel(self) -> Self:
        """Cancel the job if it has not ended."""
        return await self._act("cancel")

    async def delete(self) -> None:
        """Permanently delete the job with its result."""
        await self._transport.delete(self._path)

    @property
    def _path(self) -> str:
        return f"/{self.collection}/{self.id}"

    @property
    def _title(self) -> str:
        return f"{self.noun} {self.id}"

    @property
    def _is_pending(self) -> bool:
        return not self.has_ended

    @property
    def _share(self) -> float:
        return self.done / self.total if self.total and not self.has_ended else float(self.has_ended)


class AsyncEvaluation(AsyncJob, EvaluationRecord):
    """An evaluation: episodes played from a checkpoint by a protocol."""

    collection = "evaluations"


class AsyncCalibration(AsyncJob, CalibrationRecord):
    """A calibration: values of a checkpoint's critic compared with the returns of simulated futures."""

    collection = "calibrations"


class AsyncFutures(AsyncJob, FuturesRecord):
    """Futures: simulated continuations of an episode from one of its decisions."""

    collection = "futures"

    async def cancel(self) -> AsyncFutures:
        """Cancel the simulation, which deletes it."""
        await self.delete()
        return self


class AsyncReview(AsyncJob, ReviewRecord):
    """A review: a job that finds the decisions of a replay at which its agent lost."""

    collection = "reviews"

    async def preview_practice(
        self,
        *,
        share: float = 0.5,
        before: int = 10,
        steps: int | None = None,
        pairs: int = 1,
        evaluations: int = 30,
    ) -> PracticePreview:
        """Return what a practice would cost, without starting it."""
        body = {"share": share, "before": before, "steps": steps, "pairs": pairs, "evaluations": evaluations}
        return PracticePreview(await self._transport.post(f"{self._path}/practices/preview", body))

    async def practice(
        self,
        *,
        share: float = 0.5,
        before: int = 10,
        steps: int | None = None,
        pairs: int = 1,
        evaluations: int = 30,
        wait: bool = False,
        timeout: float | None = None,
    ) -> AsyncPractice:
        """Train on from the mistakes, and compare that with training on without them. It may take hours.

        A practice that was stopped continues, with the same options.
        """
        body = {"share": share, "before": before, "steps": steps, "pairs": pairs, "evaluations": evaluations}
        practice = AsyncPractice(self._transport, await self._transport.post(f"{self._path}/practices", body))
        return await practice.wait(timeout) if wait else practice

    async def practices(self) -> list[AsyncPractice]:
        """Return the practices of the review: none or one."""
        listed = await self._transport.get(f"{self._path}/practices")
        return [AsyncPractice(self._transport, data) for data in listed]


class AsyncPractice(AsyncJob, PracticeRecord):
    """A practice: runs that train on from a checkpoint with and without its mistakes, and their comparison."""

    collection = "practices"

    @property
    def _status(self) -> str:
        return f"{self.state}, {self.stage}"


class AsyncRecording(AsyncJob, RecordingRecord):
    """A recording: the job that plays an episode and makes a replay of it."""

    collection = "recordings"

    async def replay(self) -> AsyncReplay:
        """Return the replay of a recording that is done."""
        for data in await self._transport.get(f"/runs/{self.run_id}/replays"):
            if data["id"] == self.replay_id:
                return AsyncReplay(self._transport, data)
        raise ArcadiaError(f"{self._title} is {self.state} and has no replay. Call wait() before replay().")
