"""The fields of a run."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from arcadia.records.record import Record

ENDED_STATES = frozenset({"finished", "failed", "stopped"})
ACTIVE_STATES = frozenset({"starting", "running"})


class RunRecord(Record):
    """The fields of a run, as of the last response. A list leaves out details such as the configuration."""

    def _load_details(self) -> None:
        """Read all fields."""
        raise NotImplementedError

    def _detail(self, name: str) -> Any:
        """Return a field that lists leave out."""
        if name not in self.data:
            self._load_details()
        return self.data[name]

    @property
    def id(self) -> int:
        """Number of the run."""
        return int(self.data["id"])

    @property
    def name(self) -> str:
        """Name of the run."""
        return str(self.data["name"])

    @property
    def state(self) -> str:
        """One of queued, starting, running, paused, finished, failed and stopped."""
        return str(self.data["state"])

    @property
    def state_reason(self) -> str | None:
        """Sentence that explains the state."""
        return self._text("state_reason")

    @property
    def has_ended(self) -> bool:
        """True if the run is finished, failed or stopped."""
        return self.state in ENDED_STATES

    @property
    def is_active(self) -> bool:
        """True if a worker is training the run."""
        return self.state in ACTIVE_STATES

    @property
    def is_archived(self) -> bool:
        """True if the run is hidden from the lists."""
        return self.data["archived_at"] is not None

    @property
    def algorithm(self) -> str:
        """Method of the run, such as paac."""
        return str(self.data["algorithm"])

    @property
    def env(self) -> str:
        """Environment, such as ALE/Pong-v5."""
        return str(self.data["env"])

    @property
    def config(self) -> dict[str, Any]:
        """All settings of the run."""
        return dict(self._detail("config"))

    @property
    def seed(self) -> int | None:
        """Seed of the run."""
        seed = self.config.get("seed")
        return None if seed is None else int(seed)

    @property
    def tags(self) -> list[str]:
        """Tags of the run."""
        return list(self.data["tags"])

    @property
    def notes(self) -> str:
        """Notes, as Markdown."""
        return str(self._detail("notes"))

    @property
    def queue(self) -> str | None:
        """The queue, cpu or gpu. None for a reported run."""
        return self._text("queue")

    @property
    def origin(self) -> str:
        """Where the run comes from: trained by Arcadia, reported by a script, or imported."""
        return str(self.data["origin"])

    @property
    def project(self) -> str:
        """Name of the project."""
        return str(self.data["project"])

    @property
    def priority(self) -> int:
        """Priority in the queue."""
        return int(self.data["priority"])

    @property
    def attempt(self) -> int:
        """Number of times that a worker has claimed the run."""
        return int(self.data["attempt"])

    @property
    def worker(self) -> str | None:
        """Name of the worker that trains or trained the run."""
        return self._text("worker")

    @property
    def step(self) -> int:
        """Agent steps so far."""
        return int(self.data["step"])

    @property
    def frames(self) -> int:
        """Emulator frames so far. Atari agents see four frames per step."""
        return int(self.data["frames"])

    @property
    def total_steps(self) -> int | None:
        """Steps after which the run finishes. None if a script did not say."""
        return self._integer("total_steps")

    @property
    def progress(self) -> float:
        """Share of the steps that are done, from 0 to 1. It is 0 if the number of steps is unknown."""
        return min(1.0, self.step / self.total_steps) if self.total_steps else 0.0

    @property
    def episodes(self) -> int:
        """Finished training episodes."""
        return int(self.data["episodes"])

    @property
    def steps_per_second(self) -> float | None:
        """Current training speed."""
        return self._number("steps_per_second")

    @property
    def seconds_left(self) -> float | None:
        """Estimated remaining training time."""
        return self._number("seconds_left")

    @property
    def trained_seconds(self) -> float:
        """Training time without waiting and pauses."""
        return float(self._detail("trained_seconds"))

    @property
    def last_return(self) -> float | None:
        """Mean return of the last 100 training episodes."""
        return self._number("last_return")

    @property
    def computed(self) -> dict[str, float | None]:
        """Values of the computed columns of a list."""
        return dict(self.data.get("computed") or {})

    @property
    def best_return(self) -> float | None:
        """Highest value of last_return."""
        return self._number("best_return")

    @property
    def created_at(self) -> datetime:
        """Time of the launch."""
        return self._required_time("created_at")

    @property
    def started_at(self) -> datetime | None:
        """Time of the first attempt."""
        return self._time("started_at")

    @property
    def finished_at(self) -> datetime | None:
        """Time when the run ended."""
        return self._time("finished_at")

    @property
    def failure(self) -> str | None:
        """Message of the error that ended the run."""
        return None if self.data["failure"] is None else str(self.data["failure"]["message"])

    @property
    def traceback(self) -> str | None:
        """Traceback of the error that ended the run."""
        if self.data["failure"] is None:
            return None
        if "traceback" not in self.data["failure"]:
            self._load_details()
        found = self.data["failure"]["traceback"]
        return None if found is None else str(found)

    @property
    def warnings(self) -> list[str]:
        """Newest warnings in the log of the latest attempt."""
        return list(self._detail("warnings"))

    @property
    def study_id(self) -> int | None:
        """Number of the run's study."""
        study = self._detail("study")
        return None if study is None else int(study["id"])

    @property
    def parent_id(self) -> int | None:
        """Number of the run that this one was forked from."""
        return None if self.data["parent"] is None else int(self.data["parent"]["run_id"])

    def __repr__(self) -> str:
        share = f", {self.progress:.0%}" if self.step else ""
        score = f", return {self.last_return:.4g}" if self.last_return is not None else ""
        return f"<Run {self.id} {self.name!r}: {self.state}{share}{score}>"


def explain_missing(run: RunRecord, noun: str) -> str:
    """Return why a run has no checkpoint or no replay, and what to do."""
    if run.data["origin"] in ("reported", "imported"):
        hint = "Files that its script logged are artifacts: see `arcadia artifacts list`."
        return f"Run {run.id} has no {noun}, because Arcadia did not train it. {hint}"
    if run.has_ended:
        return f"Run {run.id} has no {noun}, and it has ended."
    return f"Run {run.id} has no {noun} yet. Try again after it has saved one."
