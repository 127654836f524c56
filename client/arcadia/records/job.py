"""The fields that jobs share."""

from __future__ import annotations

from datetime import datetime

from arcadia.records.record import Record

JOB_ENDED_STATES = frozenset({"done", "failed", "cancelled"})


class JobRecord(Record):
    """The fields of a job: a short task of a worker in addition to training."""

    noun = "Job"

    @property
    def id(self) -> int:
        """Number of the job's result."""
        return int(self.data["id"])

    @property
    def run_id(self) -> int:
        """Number of the run."""
        return int(self.data["run_id"])

    @property
    def state(self) -> str:
        """One of queued, running, done, failed and cancelled."""
        return str(self.data["state"])

    @property
    def reason(self) -> str | None:
        """Sentence that says why it waits or has failed."""
        return self._text("reason")

    @property
    def traceback(self) -> str | None:
        """Traceback of an unexpected failure."""
        return self._text("traceback")

    @property
    def has_ended(self) -> bool:
        """True if the job is done, failed or cancelled."""
        return self.state in JOB_ENDED_STATES

    @property
    def created_at(self) -> datetime:
        """Time of the request."""
        return self._required_time("created_at")

    @property
    def finished_at(self) -> datetime | None:
        """Time when it ended."""
        return self._time("finished_at")


class EpisodesRecord(JobRecord):
    """The fields of a job that plays episodes of a checkpoint."""

    @property
    def checkpoint_id(self) -> int:
        """Number of the checkpoint."""
        return int(self.data["checkpoint_id"])

    @property
    def step(self) -> int:
        """Step of the checkpoint."""
        return int(self.data["step"])

    @property
    def protocol(self) -> str:
        """Rules of the episodes, such as no-op-5min."""
        return str(self.data["protocol"])

    @property
    def seed(self) -> int:
        """Seed of the episodes."""
        return int(self.data["seed"])

    @property
    def worker(self) -> str | None:
        """Name of the worker."""
        return self._text("worker")

    def __repr__(self) -> str:
        return f"<{self.noun} {self.id} of run {self.run_id} at step {self.step:,}: {self.state}>"


class RecordingRecord(EpisodesRecord):
    """The fields of a recording, the job that makes a replay."""

    noun = "Recording"

    @property
    def replay_id(self) -> int | None:
        """Number of the replay. None until it is done."""
        return self._integer("replay_id")

    @property
    def episode(self) -> int:
        """Index of the episode in an evaluation with this seed, from 0."""
        return int(self.data["episode"])
