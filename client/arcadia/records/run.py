"""The fields of runs and of their groups, findings, forecasts, log lines and changes."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from arcadia.records import Record

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

    id: int
    """Number of the run."""

    name: str
    """Name of the run."""

    state: str
    """One of queued, starting, running, paused, finished, failed and stopped."""

    state_reason: str | None
    """Sentence that explains the state."""

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

    algorithm: str
    """Method of the run, such as paac."""

    env: str
    """Environment, such as ALE/Pong-v5."""

    @property
    def config(self) -> dict[str, Any]:
        """All settings of the run."""
        return dict(self._detail("config"))

    @property
    def seed(self) -> int | None:
        """Seed of the run."""
        seed = self.config.get("seed")
        return None if seed is None else int(seed)

    tags: list[str]
    """Tags of the run."""

    @property
    def notes(self) -> str:
        """Notes, as Markdown."""
        return str(self._detail("notes"))

    queue: str | None
    """The queue, cpu or gpu. None for a reported run."""

    origin: str
    """Where the run comes from: trained by Arcadia, reported by a script, or imported."""

    project: str
    """Name of the project."""

    priority: int
    """Priority in the queue."""

    executor: str
    """Where it trains: workers, or a scheduler such as slurm."""

    attempt: int
    """Number of times that a worker has claimed the run."""

    worker: str | None
    """Name of the worker that trains or trained the run."""

    step: int
    """Agent steps so far."""

    frames: int
    """Emulator frames so far. Atari agents see four frames per step."""

    total_steps: int | None
    """Steps after which the run finishes. None if a script did not say."""

    @property
    def progress(self) -> float:
        """Share of the steps that are done, from 0 to 1. It is 0 if the number of steps is unknown."""
        return min(1.0, self.step / self.total_steps) if self.total_steps else 0.0

    episodes: int
    """Finished training episodes."""

    steps_per_second: float | None
    """Current training speed."""

    seconds_left: float | None
    """Estimated remaining training time."""

    @property
    def trained_seconds(self) -> float:
        """Training time without waiting and pauses."""
        return float(self._detail("trained_seconds"))

    last_return: float | None
    """Mean return of the last 100 training episodes."""

    @property
    def computed(self) -> dict[str, float | None]:
        """Values of the computed columns of a list."""
        return dict(self.data.get("computed") or {})

    best_return: float | None
    """Highest value of last_return."""

    created_at: datetime
    """Time of the launch."""

    started_at: datetime | None
    """Time of the first attempt."""

    finished_at: datetime | None
    """Time when the run ended."""

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
        text = self.data["failure"]["traceback"]
        return None if text is None else str(text)

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
        """Number of the run that this one was forked from. None if you have no access to it."""
        parent = self.data["parent"] or {"run_id": None}
        return None if parent["run_id"] is None else int(parent["run_id"])

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


class RunGroup(Record):
    """Runs with equal values."""

    label: str
    """Readable name, such as A3C · Pong · lr 7e-4."""

    values: dict[str, Any]
    """The values that the runs share, by name."""

    filter: str
    """The filter that selects the runs of the group."""

    runs: int
    """Number of runs."""

    states: dict[str, int]
    """Number of runs in each state."""

    seeds: list[Any]
    """Different seeds, 20 at most."""

    newest: datetime
    """When the newest run was created, started or finished."""

    statistics: dict[str, dict[str, float | None]]
    """The mean, the standard deviation and the number n of each requested value."""


class Finding(Record):
    """A fault of a run, with its cause, its evidence and the settings that may fix it."""

    rule: str
    """Name of the rule that found it."""

    title: str
    """Title such as "Return stalled"."""

    cause: str
    """Why it happens."""

    detail: str
    """Numbers of this run."""

    @property
    def metric(self) -> str:
        """Metric that shows it."""
        return str(self.data["evidence"]["metric"])

    @property
    def steps(self) -> tuple[int, int]:
        """First and last step that show it."""
        evidence = self.data["evidence"]
        return int(evidence["first_step"]), int(evidence["last_step"])

    @property
    def settings(self) -> dict[str, Any]:
        """Suggested values by field. Empty if no setting fixes it."""
        return {each["field"]: each["suggested"] for each in self.data["settings"]}

    @property
    def current_settings(self) -> dict[str, Any]:
        """Current values of the same fields."""
        return {each["field"]: each["current"] for each in self.data["settings"]}

    @property
    def test(self) -> dict[str, Any] | None:
        """Study that tests the settings, for `client.launch_study(**test)`. None if there is nothing to test."""
        fix: dict[str, Any] | None = self.data["test"]
        return fix

    @property
    def verdicts(self) -> dict[int, str | None]:
        """Verdict of each study that tests it, by study number. None until a study has finished."""
        return {each["study_id"]: each["verdict"] for each in self.data["tests"]}

    def __repr__(self) -> str:
        return f"<Finding {self.rule!r}: {self.settings or 'no settings'}>"


class RunForecast(Record):
    """A run's needs, the resources of the connected workers, and the expected start."""

    queue: str
    """The queue that it would wait in, cpu or gpu."""

    executor: str | None
    """Where it would train. None from an earlier server."""

    seconds: float | None
    """Duration on a worker, at the speed of earlier runs here. None if no run like it was measured."""

    steps_per_second: float | None
    """Speed of the earlier runs."""

    measured_runs: int
    """Number of earlier runs behind the forecast."""

    measured_on: str | None
    """Method and environment of the earlier runs."""

    memory_bytes: float | None
    """Largest memory of the earlier runs."""

    gpu_memory_bytes: float | None
    """Largest GPU memory of the earlier runs."""

    cores: float | None
    """Cores that the earlier runs kept busy."""

    @property
    def workers(self) -> int:
        """Number of connected workers of the queue."""
        return int(self.data["capacity"]["workers"])

    @property
    def idle_workers(self) -> int:
        """Number of them that train nothing."""
        return int(self.data["capacity"]["idle"])

    runs_ahead: int
    """Number of queued runs that start earlier."""

    starts_in_seconds: float | None
    """Expected wait. None if it is unknown."""

    starts_by_seconds: float | None
    """In 9 of 10 cases it does not wait longer. None if too few runs like those ahead have ended."""

    warnings: list[str]
    """Caps that are nearly used."""

    start_unknown: str | None
    """Sentence that says why the start is unknown."""

    def __repr__(self) -> str:
        seconds = "an unknown time" if self.seconds is None else f"{self.seconds:,.0f} s"
        return f"<RunForecast: {seconds} on a {self.queue} worker>"


class LogLine(Record):
    """A line of a run's log."""

    id: int
    """Number of the line. Later lines have higher numbers."""

    time: datetime
    """Time of the line."""

    attempt: int
    """Attempt that wrote the line."""

    level: str
    """Level, such as info, warning or error."""

    message: str
    """Text of the line."""

    def __str__(self) -> str:
        return f"{self.time:%Y-%m-%d %H:%M:%S} {self.level:7} {self.message}"

    def __repr__(self) -> str:
        return f"<LogLine {self.level}: {self.message!r}>"


class Change(Record):
    """A change of fields of a run's configuration."""

    number: int
    """Number of the change within its run."""

    fields: dict[str, Any]
    """The new values."""

    previous: dict[str, Any]
    """The previous values."""

    requested_at: datetime
    """Time of the request."""

    requested_by: str | None
    """Name of the user, if the server knows it."""

    @property
    def is_applied(self) -> bool:
        """True if the run uses the new values."""
        return self.data["applied_at"] is not None

    applied_at: datetime | None
    """Time when the trainer applied it. None while it waits."""

    applied_step: int | None
    """Updates after this step use the new values. None while it waits."""

    def __repr__(self) -> str:
        state = f"applied at step {self.applied_step:,}" if self.is_applied else "waiting"
        return f"<Change {self.number}: {', '.join(f'{name}={value}' for name, value in self.fields.items())}, {state}>"
