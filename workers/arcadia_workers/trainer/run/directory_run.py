"""Run in a directory, with its events, checkpoints and replays."""

import math
import sys
import time
from collections import deque
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import torch
from pydantic import JsonValue

from arcadia_workers.contract import events, layout
from arcadia_workers.contract.config import TrainingConfig
from arcadia_workers.contract.events import CheckpointFile, LogLevel, RolePlace
from arcadia_workers.trainer.errors import TrainerError
from arcadia_workers.trainer.host.meters import SystemMeter
from arcadia_workers.trainer.run import checkpoints
from arcadia_workers.trainer.run.checkpoints import RETURN_WINDOW, CheckpointError, Retention, RunFacts, kept
from arcadia_workers.trainer.run.config_changes import ConfigChanges
from arcadia_workers.trainer.run.journal import Journal
from arcadia_workers.trainer.run.progress import (
    DeadLayerAlarm,
    Milestones,
    ProgressBar,
    RateMeter,
    RunProgress,
    duration,
)
from arcadia_workers.trainer.run.provenance import LAST_SECONDS, ProvenanceReport
from arcadia_workers.trainer.run.recorder import Recorder, RecordingResult
from arcadia_workers.trainer.run.run import TrainingState, snapshot

TICK_SECONDS = 0.25
METRICS_SECONDS = 0.35
PROGRESS_SECONDS = 1.0
EPISODES_PER_EVENT = 1000
LAST_REPLAYS_SECONDS = 60.0
# The first checkpoint of a new run comes early, so that its page soon has a picture.
FIRST_CHECKPOINT_SECONDS = 10.0
# The key of the run's own facts in a checkpoint.
OWN_FACTS = "run"

Milestone = events.Progress | events.Stopped | events.Finished | events.Failed


class DivergedError(TrainerError):
    """A weight of the network is NaN or infinite."""


@dataclass(frozen=True)
class Writing:
    """Checkpoint that is being written."""

    name: str
    file: Future[CheckpointFile]
    retention: Retention
    return_mean: float | None
    is_milestone: bool


class DirectoryRun:
    """Run in a directory. It implements `TrainingRun`."""

    def __init__(
        self,
        directory: Path,
        config: TrainingConfig,
        journal: Journal,
        device: torch.device,
        versions: Mapping[str, str],
        restored: TrainingState | None,
        should_stop: Callable[[], bool],
        recorder: Recorder,
        provenance: ProvenanceReport,
        bar: ProgressBar | None,
        changes_applied: Collection[int] = (),
    ) -> None:
        self.restored = restored
        self.device = device
        self.should_stop = should_stop
        self.step, self.frames = (restored.step, restored.frames) if restored else (0, 0)
        self._directory, self._config, self._journal, self._versions = directory, config, journal, versions
        self._bar = bar
        self._changes = ConfigChanges(directory, journal, set(changes_applied), self.log)
        facts = RunFacts.model_validate(restored.facts.get(OWN_FACTS, {})) if restored else RunFacts()
        self._returns: deque[float] = deque(facts.returns, maxlen=RETURN_WINDOW)
        self._retention = facts.retention
        self._kept = self._kept_after(restored.step) if restored else []
        self._pending: list[tuple[int, int, float, int]] = []
        self._updates = 0
        self._rates = RateMeter(self.step)
        self._system = SystemMeter(device)
        self._alarm = DeadLayerAlarm()
        self._milestones = Milestones(config.environment.solved_at, facts.retention.full_window_best)
        self._recorder, self._provenance = recorder, provenance
        for file in checkpoints.without_replay(directory, self._kept):
            recorder.add(file)
        self._writer = ThreadPoolExecutor(max_workers=1, thread_name_prefix="checkpoint")
        self._writing: Writing | None = None
        self._saved_step = restored.step if restored else None
        self._write_error: CheckpointError | None = None
        now = time.monotonic()
        self._started, self._first_step, self._seconds = now, self.step, 0.0
        self._next_tick = self._next_metrics = now
        self._next_progress = now + PROGRESS_SECONDS
        self._next_checkpoint = now + config.checkpoint_seconds
        if restored is None:
            self._next_checkpoint = min(self._next_checkpoint, now + FIRST_CHECKPOINT_SECONDS)
        self._was_non_finite = False
        self._is_starting = False

    def advance(self, step: int, frames: int, updates: int = 1) -> None:
        self.step, self.frames = step, frames
        self._updates += updates
        if self._is_starting and self._updates:
            self._is_starting = False
            self._journal.emit(events.StartStep, step=self.step, frames=self.frames, name=None)
        now = time.monotonic()
        if now >= self._next_tick:
            self._tick(now)

    def episode(self, step: int, frames: int, episode_return: float, length: int) -> None:
        self._pending.append((step, frames, episode_return, length))
        self._returns.append(episode_return)

    def metrics_due(self) -> bool:
        return time.monotonic() >= self._next_metrics

    def metrics(self, values: Mapping[str, float]) -> None:
        now = time.monotonic()
        self._next_metrics = now + METRICS_SECONDS
        self._rates.mark(now, self.step, self._updates)
        reported = {name: float(value) for name, value in values.items()}
        if self._rates.steps_per_second > 0:
            reported["throughput/steps_per_second"] = self._rates.steps_per_second
            reported["throughput/updates_per_second"] = self._rates.updates_per_second
        self._report({**reported, **self._system.sample()})
        for warning in self._alarm.check(reported):
            self.log(warning, "warning")
        if not self._was_non_finite and not all(map(math.isfinite, reported.values())):
            self._was_non_finite, self._next_checkpoint = True, now  # saving checks the weights

    def checkpoint_due(self) -> bool:
        return time.monotonic() >= self._next_checkpoint

    def save(self, state: TrainingState) -> None:
        """Copy the state and write it in the background, after all metrics reported so far.

        Raise if the state has diverged: it must not replace a checkpoint from which a run can continue.
        """
        self.step, self.frames = state.step, state.frames
        self._next_checkpoint = time.monotonic() + self._config.checkpoint_seconds
        self._collect_checkpoint(wait=True)
        copy = snapshot(state)  # first, because actor-learners keep changing the original
        if copy.has_diverged:
            raise self._divergence()
        if copy.step == self._saved_step:
            return
        self._flush_episodes()
        if self.should_stop() or copy.step >= self._config.total_steps:
            self._journal.reserve.release()  # this checkpoint is the last one
        name = layout.checkpoint_file(copy.step)
        retention = self._retention.after(name, list(self._returns))
        facts = RunFacts(returns=tuple(self._returns), retention=retention)
        copy.facts[OWN_FACTS] = facts.model_dump(mode="json")
        file = self._writer.submit(checkpoints.write, self._directory, copy, self._config.model_copy(), self._versions)
        self._writing = Writing(name, file, retention, self.return_mean, self._reach_milestone())

    def start_step(self, name: str) -> None:
        self._is_starting = True
        self._journal.emit(events.StartStep, step=self.step, frames=self.frames, name=name)
        if self._bar:
            self._bar.line(name)

    def apply_changes(self, config: TrainingConfig) -> dict[str, JsonValue]:
        fields = self._changes.apply(config, self.step, self.frames)
        if "checkpoint_seconds" in fields:
            self._next_checkpoint = min(self._next_checkpoint, time.monotonic() + config.checkpoint_seconds)
        return fields

    def log(self, message: str, level: LogLevel = "info") -> None:
        self._journal.emit(events.Log, step=self.step, frames=self.frames, level=level, message=message)
        if self._bar:
            self._bar.line(message if level == "info" else f"{level}: {message}")

    def roles(self, places: Sequence[RolePlace]) -> None:
        self._journal.emit(events.Roles, step=self.step, frames=self.frames, roles=places)

    @property
    def return_mean(self) -> float | None:
        """The mean raw return of up to the last hundred episodes."""
        return sum(self._returns) / len(self._returns) if self._returns else None

    def complete(self, reason: str) -> None:
        """Finish the last checkpoint, wait for replays unless the run was stopped, and report how it ended."""
        self._seconds = time.monotonic() - self._started
        self._flush_episodes()
        self._provenance.report(self.step, self.frames, LAST_SECONDS)
        self._collect_checkpoint(wait=True)
        is_stopped = self.step < self._config.total_steps
        if self._write_error and not (is_stopped and self._write_error.is_disk_full):
            raise self._write_error
        if self._write_error:
            print(self._write_error, file=sys.stderr, flush=True)  # the worker reports what is lost
        if is_stopped:
            self._emit(events.Stopped, reason=reason)
            return
        self._start_replays()
        self._record_last_replays()
        self._emit(events.Finished)

    def _record_last_replays(self) -> None:
        """Record the replays that remain, and report how many are left. A fast training has more than there is time."""
        total = len(self._recorder.unfinished_steps)

        def report_left() -> None:
            left = len(self._recorder.unfinished_steps)
            self._journal.emit(events.RecordingReplays, step=self.step, frames=self.frames, left=left, total=total)

        if total:
            report_left()
        for recording in self._recorder.drain(LAST_REPLAYS_SECONDS, give_up=self.should_stop):
            self._report_recording(recording)
            report_left()
        if steps := self._recorder.unfinished_steps:
            which = f"step {steps[0]:,}" if len(steps) == 1 else f"{len(steps)} of its checkpoints"
            self.log(f"The training ended before the replay of {which} was recorded")

    @property
    def _is_at_milestone(self) -> bool:
        """True if the agent is clearly better than every checkpoint recorded so far."""
        mean = self.return_mean
        is_full = mean is not None and len(self._returns) >= RETURN_WINDOW
        return is_full and mean is not None and self._milestones.is_reached(mean, time.monotonic())

    def _reach_milestone(self) -> bool:
        """Return True if the checkpoint being saved is a milestone, and log the first solve."""
        mean = self.return_mean
        if mean is None or not self._is_at_milestone:
            return False
        if self._milestones.is_first_solve(mean):
            needed = self._config.environment.solved_at
            self.log(f"Solved: the last {RETURN_WINDOW} episodes have a mean return of {mean:.1f}, at least {needed:g}")
        self._milestones.reach(mean, time.monotonic())
        return True

    def summary(self) -> str:
        """Return a summary of this attempt in one line."""
        steps = self.step - self._first_step
        mean = self.return_mean
        outcome = "" if mean is None else f", mean return of the last {len(self._returns)} episodes {mean:.1f}"
        return f"{steps:,} steps in {duration(self._seconds)}: {steps / self._seconds:,.0f} steps/s{outcome}"

    def fail(self, message: str, traceback: str) -> None:
        """Report that the run failed. A checkpoint that is still being written is kept."""
        self._flush_episodes()
        self._provenance.report(self.step, self.frames, LAST_SECONDS)
        self._collect_checkpoint(wait=True)
        self._emit(events.Failed, message=message, traceback=traceback)

    def close(self) -> None:
        """Stop the recorder and the checkpoint writer."""
        self._recorder.close()
        self._writer.shutdown()
        if self._bar:
            self._bar.close()

    def _tick(self, now: float) -> None:
        """Do the periodic work that is too expensive after every update."""
        self._next_tick = now + TICK_SECONDS
        self._rates.mark(now, self.step, self._updates)
        self._collect_checkpoint(wait=False)
        self._provenance.report(self.step, self.frames)
        self._start_replays()
        if self._is_at_milestone:
            self._next_checkpoint = now
        standing = RunProgress(
            step=self.step,
            total_steps=self._config.total_steps,
            steps_per_second=self._rates.steps_per_second,
            frames_per_second=self._rates.steps_per_second * self._config.environment.frames_per_step,
            return_mean=self.return_mean,
        )
        if self._bar:
            self._bar.show(standing)
        if now >= self._next_progress:
            self._next_progress = now + PROGRESS_SECONDS
            self._emit(
                events.Progress,
                total_steps=standing.total_steps,
                steps_per_second=standing.steps_per_second,
                seconds_left=standing.seconds_left,
            )

    def _divergence(self) -> DivergedError:
        other_way = f", or fork it from the checkpoint of step {self._saved_step:,}," if self._saved_step else ""
        return DivergedError(
            f"{events.DIVERGED}: at step {self.step:,} some weights of its network are NaN or infinite, "
            f"so it cannot learn anymore. Start it again{other_way} with a smaller learning rate, "
            "a lower gradient norm limit or a larger ε in the optimizer."
        )

    def _emit(self, kind: type[Milestone], **fields: object) -> None:
        self._journal.emit(kind, step=self.step, frames=self.frames, **fields)

    def _report(self, values: Mapping[str, float]) -> None:
        names = ("step", "frames", "episode_return", "length")
        while True:
            episodes = [dict(zip(names, episode, strict=True)) for episode in self._pending[:EPISODES_PER_EVENT]]
            del self._pending[:EPISODES_PER_EVENT]
            self._journal.emit(events.Metrics, step=self.step, frames=self.frames, values=values, episodes=episodes)
            if not self._pending:
                return
            values = {}

    def _flush_episodes(self) -> None:
        if self._pending:
            self._report({})

    def _collect_checkpoint(self, wait: bool) -> None:
        """Report a checkpoint once it is on the disk, or warn that it could not be written."""
        if self._writing is None or not (wait or self._writing.file.done()):
            return
        written, self._writing = self._writing, None
        try:
            file = written.file.result()
        except CheckpointError as error:
            self._write_error = error
            self.log(str(error), "warning")
            return
        self._write_error = None
        self._saved_step = file.step
        if not self.should_stop():
            self._journal.reserve.hold(file.bytes)
        self._retention = written.retention
        self._kept = self._kept_after(file.step)
        self._journal.emit(
            events.CheckpointEvent,
            step=file.step,
            frames=file.frames,
            checkpoint=file,
            return_mean=written.return_mean,
            best=written.retention.best == file.file,
            kept=self._kept,
        )
        self._recorder.add(file, first=written.is_milestone)
        self._recorder.forget_all_but(self._kept)
        self._prune()

    def _kept_after(self, step: int) -> list[str]:
        return kept(self._directory, step, self._config.checkpoints_kept, self._retention.best)

    def _prune(self) -> None:
        # The checkpoint being written may already be on the disk although it was not reported yet.
        being_written = [self._writing.name] if self._writing else []
        checkpoints.prune(self._directory, [*self._kept, *self._recorder.in_use, *being_written])

    def _start_replays(self) -> None:
        if recording := self._recorder.poll():
            self._report_recording(recording)

    def _report_recording(self, recording: RecordingResult) -> None:
        checkpoint, outcome = recording.checkpoint, recording.outcome
        self._prune()  # the checkpoint may have been kept only for its recording
        if checkpoint.file not in self._kept:
            return  # its replay was deleted with it
        if isinstance(outcome, str):
            self.log(f"The replay of step {checkpoint.step:,} could not be recorded: {outcome}", "warning")
            return
        self._journal.emit(
            events.ReplayEvent,
            step=checkpoint.step,
            frames=checkpoint.frames,
            file=outcome.file,
            poster=outcome.poster,
            seen=outcome.seen,
            track=outcome.track,
            checkpoint=checkpoint.file,
            episode_return=outcome.episode_return,
            length=outcome.length,
            seconds=outcome.seconds,
        )
        if missing := outcome.what_is_missing(checkpoint.step):
            self.log(missing)
