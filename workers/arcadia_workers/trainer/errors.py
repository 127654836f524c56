"""Errors of the trainer, each with what to do, and requests to stop.

TrainerError
├── LaunchError              the command line or the configuration is wrong
├── DirectoryBusyError       another trainer uses the run directory
├── DeviceError              the device does not exist
├── MemoryShortageError      the host has too little memory
├── SharedMemoryError        the host has too little shared memory
├── TooManyProcessesError    the system allows too few open files
├── ScheduleError            a requested change of the configuration is not possible
├── CheckpointError          a checkpoint cannot be read or written
├── DivergedError            a weight of the network is NaN or infinite
├── NothingToPracticeError   reviews show too few mistakes to practice and to measure
├── PracticeStartError       a mistake cannot be reached again
├── ArmFailedError           the training of an arm has failed
├── RequestError             the command line requests an impossible evaluation
├── NoCheckpointError        no checkpoint can be evaluated
├── ExportError              an agent cannot be written to a file
├── MissingGameError         the ROM of the game was not found
├── TrainerHalfError         the trainer half of a plug-in's method cannot be used, with a stack trace
├── UnsupportedSpaceError    agents cannot read an environment's observations or choose its actions
├── ActingError              the agent cannot act in the requested way
├── StartsError              a set of start points cannot be used or created
├── StartPointError          a start point leads to a different screen than the stored one
├── StoppedError             the user stopped a recording, another job or a live game
├── OtherEpisodeError        the actions of a recording lead to another result
├── OtherGameError           the actions of a kept game lead to another result
├── OtherFutureError         a filmed future differs from the simulated one
├── ClusterError             Ray cannot be started or joined
├── RayLostError             Ray was killed, or all hosts of the cluster are gone; the run continues later
├── ActorFailed              a process was killed or ended early
│   └── ActorCrashed         a process raised an exception, which is a bug
├── ShardUnreachableError    a parameter shard does not answer; the caller retries
└── QueueClosed              a queue's writers have ended; its reader ends too

Each is defined next to the code that raises it. Any other exception that ends a run is a bug.
"""

import contextlib
import os
import signal
import sys
import traceback
from types import FrameType
from typing import ClassVar


class TrainerError(Exception):
    """Expected error of the trainer, with a message for the user."""

    # True if the stack trace is more useful than the message.
    is_bug: ClassVar[bool] = False
    # True if the attempt ends as if the trainer had been killed, so that the run is queued again and continues.
    ends_as_killed: ClassVar[bool] = False


def reason(error: BaseException) -> str:
    """Return the error message, with the type of the exception if it is not a TrainerError."""
    return str(error) if isinstance(error, TrainerError) else f"{type(error).__name__}: {error}"


def stack(error: Exception) -> str:
    """Return the stack trace of a bug, or an empty string for an expected error."""
    if isinstance(error, TrainerError) and not error.is_bug:
        return ""
    return "".join(traceback.format_exception(error))


def show(error: Exception) -> None:
    """Print the error on standard error, with the stack trace of a bug."""
    with contextlib.suppress(OSError):  # the output is closed
        sys.stderr.write(stack(error) or f"{error}\n")


class StopRequest:
    """Request to stop, with its reason."""

    def __init__(self) -> None:
        self.reason: str | None = None
        # While modules load, there is no state to save, so a signal ends the program immediately.
        self.interrupts = True

    def requested(self) -> bool:
        """Return True if a stop was requested."""
        return self.reason is not None

    def interrupt_if_requested(self) -> None:
        """Raise KeyboardInterrupt if the stop was requested before there was a run to stop."""
        if self.requested():
            raise KeyboardInterrupt

    def listen(self) -> None:
        """Install the signal handlers."""
        signal.signal(signal.SIGTERM, self._receive)
        signal.signal(signal.SIGINT, self._receive)

    def _receive(self, number: int, _frame: FrameType | None) -> None:
        self.reason = "stopped by Ctrl-C" if number == signal.SIGINT else "stopped by SIGTERM"
        if number == signal.SIGINT:
            signal.signal(signal.SIGINT, _end_immediately)
        if self.interrupts:
            raise KeyboardInterrupt


def _end_immediately(number: int, _frame: FrameType | None) -> None:
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
