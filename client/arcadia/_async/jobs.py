"""Jobs of workers: evaluations, calibrations, futures and recordings."""

from __future__ import annotations

from typing import TypeVar

from arcadia._async.replays import AsyncReplay
from arcadia._async.resource import AsyncResource
from arcadia.errors import ArcadiaError, JobFailedError
from arcadia.records.calibration import CalibrationRecord
from arcadia.records.evaluation import EvaluationRecord
from arcadia.records.futures import FuturesRecord
from arcadia.records.job import JobRecord, RecordingRecord

SomeJob = TypeVar("SomeJob", bound="AsyncJob")


class AsyncJob(AsyncResource, JobRecord):
    """A job. Its properties show the state of the last response; `refresh()` reads it again."""

    collection = ""

    async def wait(self: SomeJob, timeout: float | None = None, *, progress: bool = True) -> SomeJob:
        """Wait until the job is done. Raise JobFailedError if it fails, WaitTimeoutError after `timeout` seconds."""
        await super().wait(timeout, progress=progress)
        if self.state != "done":
            raise JobFailedError(f"{self._title} of run {self.run_id} is {self.state}. {self.reason or ''}".rstrip())
        return self

    async def cancel(self: SomeJob) -> SomeJob:
        """Cancel the job if it has not ended."""
        self.data = await self._client.transport.post(f"{self._path}/cancel")
        return self

    async def delete(self) -> None:
        """Permanently delete the job with its result."""
        await self._client.transport.delete(self._path)

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
        return float(self.has_ended)


class AsyncEvaluation(AsyncJob, EvaluationRecord):
    """An evaluation: episodes played from a checkpoint by a protocol."""

    collection = "evaluations"

    @property
    def _share(self) -> float:
        return self.episodes_done / self.episodes_total if self.episodes_total else 0.0


class AsyncCalibration(AsyncJob, CalibrationRecord):
    """A calibration: values of a checkpoint's critic compared with the returns of simulated futures."""

    collection = "calibrations"

    @property
    def _share(self) -> float:
        return self.moments_done / self.moments_total if self.moments_total else 0.0


class AsyncFutures(AsyncJob, FuturesRecord):
    """Futures: simulated continuations of an episode from one of its decisions."""

    collection = "futures"

    async def cancel(self) -> AsyncFutures:
        """Cancel the simulation, which deletes it."""
        await self.delete()
        return self

    @property
    def _share(self) -> float:
        return self.done / self.total if self.total else 0.0


class AsyncRecording(AsyncJob, RecordingRecord):
    """A recording: the job that plays an episode and makes a replay of it."""

    collection = "recordings"

    async def replay(self) -> AsyncReplay:
        """Return the replay of a recording that is done."""
        for data in await self._client.transport.get(f"/runs/{self.run_id}/replays"):
            if data["id"] == self.replay_id:
                return AsyncReplay(self._client, data)
        raise ArcadiaError(f"{self._title} is {self.state} and has no replay. Call wait() before replay().")
