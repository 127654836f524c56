"""The fields of jobs: evaluations, calibrations, futures, replays and start sets."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from arcadia.records import Record, parse_interval, parse_number

JOB_ENDED_STATES = frozenset({"done", "failed", "cancelled"})


class JobRecord(Record):
    """The fields of a job: a short task of a worker in addition to training."""

    noun = "Job"

    id: int
    """Number of the job's result."""

    run_id: int
    """Number of the run."""

    state: str
    """One of queued, running, done, failed and cancelled."""

    reason: str | None
    """Sentence that says why it waits or has failed."""

    traceback: str | None
    """Traceback of an unexpected failure."""

    @property
    def has_ended(self) -> bool:
        """True if the job is done, failed or cancelled."""
        return self.state in JOB_ENDED_STATES

    done: int
    """Progress, in the unit of the total."""

    total: int
    """0 while it is unknown."""

    created_at: datetime
    """Time of the request."""

    finished_at: datetime | None
    """Time when it ended."""


class EpisodesRecord(JobRecord):
    """The fields of a job that plays episodes of a checkpoint."""

    checkpoint_id: int
    """Number of the checkpoint."""

    step: int
    """Step of the checkpoint."""

    protocol: str
    """Rules of the episodes, such as no-op-5min."""

    seed: int
    """Seed of the episodes."""

    worker: str | None
    """Name of the worker."""

    def __repr__(self) -> str:
        return f"<{self.noun} {self.id} of run {self.run_id} at step {self.step:,}: {self.state}>"


class RecordingRecord(EpisodesRecord):
    """The fields of a recording, the job that makes a replay."""

    noun = "Recording"

    replay_id: int | None
    """Number of the replay. None until it is done."""

    episode: int
    """Index of the episode in an evaluation with this seed, from 0."""


class CalibrationRecord(EpisodesRecord):
    """The fields of a calibration: values of a checkpoint's critic compared with the returns of futures."""

    noun = "Calibration"

    @property
    def bias(self) -> float | None:
        """Mean of value minus mean return: positive if the critic overestimates. None until it is done."""
        return self._error("bias")

    @property
    def bias_interval(self) -> tuple[float, float] | None:
        """95 % t-interval of the bias."""
        return parse_interval((self.data["errors"] or {}).get("bias_interval"))

    @property
    def rmse(self) -> float | None:
        """Root mean square error of the values, corrected for the noise of the mean returns."""
        return self._error("rmse")

    @property
    def correlation(self) -> float | None:
        """Correlation of values and mean returns. None if one of them is constant."""
        return self._error("correlation")

    @property
    def skill(self) -> float | None:
        """1 if all values are right, 0 if they are no better than always predicting the mean return."""
        return self._error("skill")

    @property
    def bootstrap_weight(self) -> float | None:
        """Mean weight of the critic's own values in the returns, which hide that share of a bias."""
        return self._error("bootstrap_weight")

    @property
    def regret_interval(self) -> tuple[float, float] | None:
        """95 % interval of the mean return that the chosen action loses against the best one.

        None if it was not measured, or for a single episode.
        """
        regret = (self.data["errors"] or {}).get("regret")
        return None if regret is None else parse_interval(regret["interval"])

    moments_done: int
    """Number of judged decisions."""

    moments_total: int
    """Number of decisions to judge. 0 until the episodes have been played."""

    @property
    def bins(self) -> list[dict[str, Any]]:
        """Groups of decisions with similar values. Lists of calibrations leave them out."""
        return list((self.data.get("document") or {}).get("bins", []))

    @property
    def worst(self) -> list[dict[str, Any]]:
        """The decisions with the largest errors. Lists of calibrations leave them out."""
        return list((self.data.get("document") or {}).get("worst", []))

    @property
    def moments(self) -> list[dict[str, Any]]:
        """All judged decisions. Lists of calibrations leave them out."""
        return list((self.data.get("document") or {}).get("moments", []))

    def _error(self, name: str) -> float | None:
        errors = self.data["errors"]
        return None if errors is None else parse_number(errors[name])

    def __repr__(self) -> str:
        bias = f", bias {self.bias:.4g}" if self.bias is not None else ""
        return f"<Calibration {self.id} of run {self.run_id} at step {self.step:,}: {self.state}{bias}>"


class EvaluationRecord(EpisodesRecord):
    """The fields of an evaluation: episodes played from a checkpoint by a protocol."""

    noun = "Evaluation"

    mean: float | None
    """Mean score. None until it is done."""

    median: float | None
    """Median score."""

    distinct: int | None
    """Number of episodes that do not repeat another. None until it is done, and if an earlier version did it."""

    standard_error: float | None
    """Standard error of the mean."""

    interval: tuple[float, float] | None
    """95 % interval of the mean, for which repeated episodes are one."""

    human_normalized: float | None
    """Human-normalized score in percent."""

    episodes_done: int
    """Number of finished episodes."""

    episodes_total: int
    """Number of episodes."""

    acting: dict[str, Any]
    """How actions are chosen."""

    @property
    def scores(self) -> list[float | None]:
        """Score of each finished episode. Lists of evaluations leave them out."""
        return [parse_number(episode["score"]) for episode in self.data.get("episodes", [])]

    def __repr__(self) -> str:
        score = f", mean {self.mean:.4g}" if self.mean is not None else ""
        return f"<Evaluation {self.id} of run {self.run_id} at step {self.step:,}: {self.state}{score}>"


class FuturesRecord(JobRecord):
    """The fields of futures: simulated continuations of an episode from one of its decisions."""

    noun = "Futures"

    replay_id: int
    """Number of the replay."""

    decision: int
    """The decision that they continue from, counted from 0."""

    agent_run_id: int
    """Number of the run whose agent acts."""

    agent_step: int
    """Step of the checkpoint that acts."""

    value: float | None
    """V(s), or the highest Q(s, a), at the decision. None until they are done."""

    mean: float | None
    """Mean discounted return. None until they are done."""

    interval: tuple[float, float] | None
    """95 % t-interval of the mean."""

    @property
    def returns(self) -> list[float | None]:
        """Discounted return of each future. Lists of futures leave them out."""
        return [parse_number(each) for each in self.document.get("returns", [])]

    @property
    def actions(self) -> list[dict[str, Any]]:
        """Mean return of each first action, if requested. Lists of futures leave them out."""
        return list(self.document.get("actions", []))

    @property
    def document(self) -> dict[str, Any]:
        """The whole result, as `arcadia futures --json` prints it. Empty until they are done."""
        return dict(self.data.get("document") or {})

    def __repr__(self) -> str:
        values = f", value {self.value:.4g}, mean {self.mean:.4g}" if None not in (self.value, self.mean) else ""
        return f"<Futures {self.id} of replay {self.replay_id} at decision {self.decision:,}: {self.state}{values}>"


class ReplayRecord(Record):
    """The fields of a replay, the recording of one episode."""

    id: int
    """Number of the replay."""

    run_id: int
    """Number of the run."""

    step: int
    """Step of the checkpoint that played."""

    file_id: int | None
    """Number of the video's file. None if it was pruned."""

    poster_file_id: int | None
    """Number of the picture's file."""

    track_file_id: int | None
    """Number of the track's file."""

    episode_return: float
    """Return of the episode."""

    length: int
    """Number of decisions in the episode."""

    seconds: float
    """Length of the video in seconds."""

    @property
    def is_pinned(self) -> bool:
        """True if pruning never deletes the replay."""
        return bool(self.data["pinned"])

    created_at: datetime
    """Time when it was recorded."""

    def __repr__(self) -> str:
        return f"<Replay {self.id} of run {self.run_id} at step {self.step:,}: return {self.episode_return:g}>"


class StartSet(Record):
    """Stored start points of a game. Pass `id` to `run.evaluate(protocol, start_set=id)`."""

    id: int
    """Number of the set."""

    name: str
    """Name, unique for the game."""

    env: str
    """Environment of the game."""

    player: str
    """Who played the games: human or agent."""

    protocol: str
    """Protocol of evaluations from these points, such as agent-starts."""

    points: int
    """Number of points."""

    def __repr__(self) -> str:
        return f"<StartSet {self.id} {self.name!r} of {self.env}: {self.points} points>"


class BulkAction(Record):
    """An action on many runs."""

    id: int
    """Its id."""

    action: str
    """The action, such as stop."""

    state: str
    """running, done or cancelled."""

    total: int
    """Number of runs."""

    done: int
    """Number of changed runs."""

    skipped: dict[int, str]
    """Why runs were skipped, by their ids."""

    message: str | None
    """Why the server ended it early."""

    def __repr__(self) -> str:
        return f"<BulkAction {self.id} {self.action}: {self.done} of {self.total} done, {len(self.skipped)} skipped>"
