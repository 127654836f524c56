# Generated from arcadia/_async by client/generate_sync.py. Edit that instead.
"""Jobs of workers: evaluations, calibrations, futures and recordings."""

from __future__ import annotations

from typing import TypeVar

from arcadia._sync.replays import Replay
from arcadia._sync.resource import Resource
from arcadia.errors import ArcadiaError, JobFailedError
from arcadia.records.calibration import CalibrationRecord
from arcadia.records.evaluation import EvaluationRecord
from arcadia.records.futures import FuturesRecord
from arcadia.records.job import JobRecord, RecordingRecord

SomeJob = TypeVar("SomeJob", bound="Job")


class Job(Resource, JobRecord):
    """A job. Its properties show the state of the last response; `refresh()` reads it again."""

    collection = ""

    def wait(self: SomeJob, timeout: float | None = None, *, progress: bool = True) -> SomeJob:
        """Wait until the job is done. Raise JobFailedError if it fails, WaitTimeoutError after `timeout` seconds."""
        super().wait(timeout, progress=progress)
        if self.state != "done":
            raise JobFailedError(f"{self._title} of run {self.run_id} is {self.state}. {self.reason or ''}".rstrip())
        return self

    def cancel(self: SomeJob) -> SomeJob:
        """Cancel the job if it has not ended."""
        self.data = self._client.transport.post(f"{self._path}/cancel")
        return self

    def delete(self) -> None:
        """Permanently delete the job with its result."""
        self._client.transport.delete(self._path)

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


class Evaluation(Job, EvaluationRecord):
    """An evaluation: episodes played from a checkpoint by a protocol."""

    collection = "evaluations"

    @property
    def _share(self) -> float:
        return self.episodes_done / self.episodes_total if self.episodes_total else 0.0


class Calibration(Job, CalibrationRecord):
    """A calibration: values of a checkpoint's critic compared with the returns of simulated futures."""

    collection = "calibrations"

    @property
    def _share(self) -> float:
        return self.moments_done / self.moments_total if self.moments_total else 0.0


class Futures(Job, FuturesRecord):
    """Futures: simulated continuations of an episode from one of its decisions."""

    collection = "futures"

    def cancel(self) -> Futures:
        """Cancel the simulation, which deletes it."""
        self.delete()
        return self

    @property
    def _share(self) -> float:
        return self.done / self.total if self.total else 0.0


class Recording(Job, RecordingRecord):
    """A recording: the job that plays an episode and makes a replay of it."""

    collection = "recordings"

    def replay(self) -> Replay:
        """Return the replay of a recording that is done."""
        for data in self._client.transport.get(f"/runs/{self.run_id}/replays"):
            if data["id"] == self.replay_id:
                return Replay(self._client, data)
        raise ArcadiaError(f"{self._title} is {self.state} and has no replay. Call wait() before replay().")
