"""Events of an evaluation or another job, in the format of a trainer's events, and the document as text."""

import socket
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Literal

from arcadia_workers.contract import events
from arcadia_workers.contract.events import CheckpointFile
from arcadia_workers.contract.games import ENVIRONMENTS
from arcadia_workers.contract.protocols import PROTOCOLS
from arcadia_workers.contract.protocols.document import EvaluationDocument, PlayedEpisode
from arcadia_workers.contract.protocols.starts import HeldAction
from arcadia_workers.trainer.errors import reason, stack
from arcadia_workers.trainer.run import provenance
from arcadia_workers.trainer.run.journal import Journal
from arcadia_workers.trainer.run.recorder import RecordedReplay

ADVANCE_SECONDS = 1.0


@dataclass(frozen=True)
class SavedPoints:
    """Start points of one game, as `events.StartPointsEvent` describes them."""

    seed: int
    actions: Sequence[HeldAction]
    emulator: str
    screens: Sequence[tuple[int, str]]


@dataclass(frozen=True)
class KeptPlay:
    """Game played by a person, as `events.GameKept` describes it."""

    seed: int
    actions: Sequence[HeldAction]
    played: int
    score: float
    ended: Literal["over", "cut off", "unfinished"]
    emulator: str
    screens: Sequence[tuple[int, str]]
    continued: events.Continued | None = None


class JobReport:
    """Writer of a job's events to the journal, if there is one, with the step and frames of the checkpoint.

    With `begin`, the journal is opened with the first episode, so that a refused request leaves no files.
    """

    def __init__(
        self,
        journal: Journal | None = None,
        *,
        begin: Callable[[], Journal] | None = None,
        command: Sequence[str] = (),
    ) -> None:
        self._journal, self._begin, self._command = journal, begin, command
        self._step = self._frames = 0
        self.done = self.episodes = 0
        self._next_advance = 0.0

    def started(self, checkpoint: CheckpointFile | None, seed: int, episodes: int = 1) -> None:
        """Report that the first episode begins, of a checkpoint's agent if there is one."""
        self._step, self._frames = (checkpoint.step, checkpoint.frames) if checkpoint else (0, 0)
        self.episodes = episodes
        if self._begin:
            self._journal = self._begin()
        self._emit(
            events.Started,
            seed=seed,
            device="cpu",
            precision="float32",
            command=[*self._command],
            versions=provenance.captured(),
            host=socket.gethostname(),
        )

    def episode(self, episode: PlayedEpisode) -> None:
        """Report that an episode has ended."""
        self.done += 1
        self._emit(events.EvaluatedEpisode, episode=episode, done=self.done, episodes=self.episodes)
        if sys.stderr.isatty():
            end = "\n" if self.done == self.episodes else ""
            print(f"\r{self.done} of {self.episodes} episodes", end=end, file=sys.stderr, flush=True)

    def evaluated(self, document: EvaluationDocument) -> None:
        """Report the result of the evaluation."""
        self._emit(events.EvaluationEvent, returns=document.scores, document=document)

    def finished(self) -> None:
        """Report that the evaluation is finished."""
        self._emit(events.Finished)

    def recorded(self, checkpoint: str, replay: RecordedReplay) -> None:
        """Report the files of a checkpoint's recording."""
        fields = asdict(replay)
        fields.pop("complete")
        self._emit(events.ReplayEvent, checkpoint=checkpoint, **fields)
        if missing := replay.what_is_missing(self._step):
            # A job's warnings are shown next to its result.
            self._emit(events.Log, level="warning", message=missing)
        self._emit(events.Finished)

    def advanced(self, done: int, total: int) -> None:
        """Report progress, about once per second."""
        if done < total and time.monotonic() < self._next_advance:
            return
        self._next_advance = time.monotonic() + ADVANCE_SECONDS
        self._emit(events.Advanced, done=done, total=total)

    def known(self, kind: type[events.Event], **fields: object) -> None:
        """Report what a job has found so far."""
        self._emit(kind, **fields)

    def result(self, kind: type[events.Event], **fields: object) -> None:
        """Report the result of a job, which ends it."""
        self._emit(kind, **fields)
        self._emit(events.Finished)

    def kept(self, game: KeptPlay) -> None:
        """Report a game that a person saved."""
        self._emit(events.GameKept, **asdict(game))

    def ended(self, reason: str) -> None:
        """Report that a live game is over."""
        self._emit(events.Log, message=f"Over: {reason}")
        self._emit(events.Finished)

    def stopped(self, reason: str) -> None:
        """Report that the job was stopped."""
        self._emit(events.Stopped, reason=reason)

    def failed(self, error: Exception) -> None:
        """Report why the job failed."""
        self._emit(events.Failed, message=reason(error), traceback=stack(error))

    def _emit(self, kind: type[events.Event], **fields: object) -> None:
        if self._journal:
            self._journal.emit(kind, step=self._step, frames=self._frames, **fields)


def table(document: EvaluationDocument) -> str:
    """Return the document as text: who played, each episode, and the statistics."""
    return "\n".join([*_head(document), "", *_episodes(document), "", *_verdict(document)])


def rounded(number: float) -> str:
    """Format a number with at most two decimals."""
    return f"{number:,.2f}".removesuffix("0").removesuffix(".0")


def _head(document: EvaluationDocument) -> list[str]:
    title, step = ENVIRONMENTS[document.env].title, document.checkpoint_step
    who = "the random policy" if step is None else f"{document.algorithm}, checkpoint of step {step:,}"
    lines = [
        f"{title} ({document.env}): {who}, acting {document.acting}, seed {document.seed}",
        f"{document.protocol}: {PROTOCOLS[document.protocol].sentence}",
    ]
    if used := document.starts:
        lines.append(f"Start points: {used.source} ({used.starts} points, sha256 {used.sha256[:12]}…)")
    return [*lines, *document.unlike_training]


def _episodes(document: EvaluationDocument) -> list[str]:
    rows = [
        f"{episode.number:7}  {rounded(episode.score):>12}  {episode.frames:9,}  {episode.length:8,}  {episode.ended}"
        for episode in document.episodes
    ]
    return [f"{'episode':>7}  {'score':>12}  {'frames':>9}  {'length':>8}  ended", *rows]


def _verdict(document: EvaluationDocument) -> list[str]:
    lines = [f"mean            {rounded(document.mean)}", f"median          {rounded(document.median)}"]
    if document.distinct is not None and document.distinct < len(document.scores):
        lines.append(f"distinct        {document.distinct} of {len(document.scores)} episodes; the others repeat them")
    if document.standard_error is not None and document.interval is not None:
        low, high = document.interval
        lines.append(f"standard error  {rounded(document.standard_error)}")
        lines.append(f"interval        {rounded(low)} to {rounded(high)} (95 %, of the mean)")
    if document.human_normalized is not None and (by := document.normalized_by):
        lines.append(
            f"normalized      {document.human_normalized:,.1f} % "
            f"(random {rounded(by.random)} is 0, human {rounded(by.human)} is 100: {by.source}, {by.table})"
        )
    else:
        lines.append(f"normalized      no: {document.not_normalized_because}")
    return lines
