"""The errors of the trainer: each says in one sentence what went wrong and what would be right.

TrainerError
├── LaunchError              the command line or the configuration is wrong
├── DirectoryBusyError       another trainer is at work in the run directory
├── DeviceError              there is no such device
├── MemoryShortageError      the host has too little memory
├── SharedMemoryError        the host has too little shared memory
├── TooManyProcessesError    the system allows too few open files
├── CheckpointError          a checkpoint cannot be read or written
├── DivergedError            a weight of the network is NaN or infinite
├── RequestError             the command line asks for what cannot be evaluated
├── NoCheckpointError        there is no checkpoint that can be evaluated
├── MissingGameError         the ROM of the game is not where it is looked for
├── ActingError              the agent cannot act as was asked for
├── StartsError              a set of start points cannot be used or made
├── StartPointError          a start point leads to another screen than the stored one
├── StoppedError             somebody ended a recording, a saliency or a live game early
├── OtherEpisodeError        the actions of a recording lead elsewhere than they did
├── OtherGameError           the actions of a kept game lead elsewhere than they did
├── ClusterError             Ray cannot be started or joined
├── ActorFailed              a process was killed or ended early
│   └── ActorCrashed         a process raised an exception, which is a bug
├── UnreachableError         a parameter shard does not answer; its asker tries again
└── QueueClosed              a queue's writers have ended; its reader ends too

Each stands beside the code that raises it. Any other exception that ends a run is a bug.
"""

import contextlib
import sys
import traceback
from typing import ClassVar


class TrainerError(Exception):
    """What the trainer itself finds wrong; its text is a sentence for the user."""

    # Whether the stack tells more than the sentence.
    is_bug: ClassVar[bool] = False


def reason(error: Exception) -> str:
    """Say what went wrong: our own errors are sentences, others need their type."""
    return str(error) if isinstance(error, TrainerError) else f"{type(error).__name__}: {error}"


def stack(error: Exception) -> str:
    """Return where a bug was met, and nothing for an error that is a sentence."""
    if isinstance(error, TrainerError) and not error.is_bug:
        return ""
    return "".join(traceback.format_exception(error))


def show(error: Exception) -> None:
    """Print the error on standard error, a bug with its stack."""
    with contextlib.suppress(OSError):  # nobody reads it
        sys.stderr.write(stack(error) or f"{error}\n")
