"""Recorder that plays one episode of every kept checkpoint in a separate process, one after another.

Training never waits for it. If it cannot keep up, it next records the checkpoint that is farthest from those already
recorded, so that replays are spread over training. The last minute of a run fills the gaps. A milestone, such as the
first solve, goes first.
"""

import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from arcadia_workers.contract.events import CheckpointFile

# Much longer than the longest replay takes on a busy machine.
RECORDING_SECONDS = 900.0
# Gives the recorder a quarter of a busy core next to the trainer. A replay still takes only seconds.
NICENESS = 5
RECORDER = (sys.executable, "-m", "arcadia_workers.trainer.replay")
# Limit for the part of a recorder's output that is read.
LAST_WORDS_BYTES = 10_000


@dataclass(frozen=True)
class RecordedReplay:
    """Recorded episode, as described by the recorder process."""

    file: str
    poster: str
    # The video of what the network saw; None if it sees no pixels.
    seen: str | None
    track: str
    episode_return: float
    length: int
    seconds: float
    complete: bool

    def what_is_missing(self, step: int) -> str | None:
        """Return a warning if the replay was cut, so that its score covers only a part of the episode."""
        if self.complete:
            return None
        minutes = f"{self.seconds / 60:.0f} minutes"
        return (
            f"The replay of step {step:,} shows only the first {minutes} of its episode, and its return covers only "
            "that part"
        )


@dataclass(frozen=True)
class RecordingResult:
    """Result of a checkpoint's recording: a replay, or why it failed."""

    checkpoint: CheckpointFile
    outcome: RecordedReplay | str


class Recorder:
    """Queue of recordings, which starts recorder processes. They end with the trainer, even if it is killed."""

    def __init__(self, directory: Path, command: Sequence[str] = RECORDER) -> None:
        self._directory = directory
        self._command = command
        self._waiting: list[CheckpointFile] = []
        self._milestone: str | None = None
        self._played: list[CheckpointFile] = []
        self._checkpoint: CheckpointFile | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._output: IO[bytes] | None = None
        self._errors: IO[bytes] | None = None
        self._deadline = 0.0

    @property
    def in_use(self) -> list[str]:
        """The checkpoint that a recorder is reading."""
        return [self._checkpoint.file] if self._checkpoint else []

    @property
    def unfinished_steps(self) -> list[int]:
        """The steps of the queued checkpoints and of the one being recorded, in order."""
        current = [self._checkpoint] if self._checkpoint else []
        return sorted(checkpoint.step for checkpoint in [*self._waiting, *current])

    def add(self, checkpoint: CheckpointFile, *, first: bool = False) -> None:
        """Queue the recording of a checkpoint, or put it first."""
        self._waiting.append(checkpoint)
        if first:
            self._milestone = checkpoint.file

    def forget_all_but(self, kept: Iterable[str]) -> None:
        """Drop queued recordings of checkpoints that no longer exist. This also bounds the queue."""
        names = set(kept)
        self._waiting = [checkpoint for checkpoint in self._waiting if checkpoint.file in names]
        self._played = [checkpoint for checkpoint in self._played if checkpoint.file in names]

    def poll(self) -> RecordingResult | None:
        """Return a recording that has ended, and start the next one. Errors do not stop training."""
        ended = self._collect()
        if self._process is None and self._waiting:
            checkpoint = self._next()
            try:
                self._start(checkpoint)
            except OSError as error:
                self._checkpoint = None
                ended = ended or RecordingResult(checkpoint, f"the recorder could not be started: {error.strerror}")
        return ended

    def drain(self, seconds: float, give_up: Callable[[], bool]) -> Iterable[RecordingResult]:
        """Yield the remaining recordings until the time limit."""
        deadline = time.monotonic() + seconds
        while (self._process or self._waiting) and time.monotonic() < deadline and not give_up():
            if recording := self.poll():
                yield recording
            elif self._process:
                try:
                    self._process.wait(timeout=0.1)
                except subprocess.TimeoutExpired:
                    continue

    def close(self) -> None:
        """Kill the running recorder without waiting for it, and drop the queue."""
        self._waiting.clear()
        if self._process:
            self._process.kill()

    def _next(self) -> CheckpointFile:
        """Take the latest milestone, or the checkpoint farthest from all recorded ones. Ties go to the first added."""

        def rank(checkpoint: CheckpointFile) -> tuple[bool, int]:
            distance = min((abs(checkpoint.step - played.step) for played in self._played), default=0)
            return checkpoint.file == self._milestone, distance

        chosen = max(self._waiting, key=rank)
        self._waiting.remove(chosen)
        self._played.append(chosen)
        return chosen

    def _start(self, checkpoint: CheckpointFile) -> None:
        self._checkpoint = checkpoint
        self._deadline = time.monotonic() + RECORDING_SECONDS
        # Files, because a full pipe would block the recorder. They are closed after they are read.
        self._output, self._errors = tempfile.TemporaryFile(), tempfile.TemporaryFile()  # noqa: SIM115
        self._process = subprocess.Popen(
            [*self._command, str(self._directory), checkpoint.file, "--parent", str(os.getpid())],
            stdin=subprocess.DEVNULL,
            stdout=self._output,
            stderr=self._errors,
            env={**os.environ, "OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": "", "SDL_VIDEODRIVER": "dummy"},
        )
        niceness = min(19, os.getpriority(os.PRIO_PROCESS, 0) + NICENESS)
        with contextlib.suppress(ProcessLookupError):  # it has already ended
            os.setpriority(os.PRIO_PROCESS, self._process.pid, niceness)

    def _collect(self) -> RecordingResult | None:
        if self._process is None or self._checkpoint is None:
            return None
        if self._process.poll() is None:
            if time.monotonic() < self._deadline:
                return None
            self._process.kill()
        self._process.wait()
        outcome = self._outcome(self._process.returncode, _end_of(self._output), _end_of(self._errors))
        checkpoint, self._process, self._checkpoint = self._checkpoint, None, None
        return RecordingResult(checkpoint, outcome)

    def _outcome(self, returncode: int, output: bytes, errors: bytes) -> RecordedReplay | str:
        if returncode == 0:
            try:
                return RecordedReplay(**json.loads(output.splitlines()[-1]))
            except (IndexError, ValueError, TypeError):
                return "the recorder did not describe it"
        if time.monotonic() >= self._deadline:
            return f"it took longer than {RECORDING_SECONDS / 60:.0f} minutes"
        lines = errors.decode(errors="replace").strip().splitlines()
        return lines[-1] if lines else f"the recorder ended with status {returncode}"


def _end_of(file: IO[bytes] | None) -> bytes:
    if file is None:
        return b""
    with file:
        file.seek(max(0, file.seek(0, os.SEEK_END) - LAST_WORDS_BYTES))
        return file.read()
