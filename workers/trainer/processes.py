"""Child processes that a method acts and learns in: forked by a clean server, watched, and never outliving us."""

import contextlib
import os
import signal
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from multiprocessing import connection, resource_tracker
from multiprocessing.process import BaseProcess
from typing import Any, TypeVarTuple, cast

import torch.multiprocessing

Arguments = TypeVarTuple("Arguments")
Pipe = connection.Connection

GRACE_SECONDS = 1.0
# The server imports these once; what it forks has them, and none of our threads, locks and CUDA contexts.
PRELOADED = ["workers.trainer.algorithms"]
DEAF_TO = {signal.SIGINT, signal.SIGTERM}


class ActorFailed(Exception):  # noqa: N818, it says what happened
    """A process crashed or was killed; a note holds its traceback, if it left one."""


class Link:
    """A process's line to the main process."""

    def __init__(self, number: int, pipe: Pipe) -> None:
        self.number = number
        self.stopping = False
        self._pipe = pipe
        threading.Thread(target=self._listen, name="link", daemon=True).start()

    def send(self, message: object) -> None:
        """Hand a small message to the main process."""
        self.tell("message", message)

    def tell(self, kind: str, content: object) -> None:
        """Hand something over, of the kinds that `Processes` knows; with nobody to hear it there is no use in us."""
        try:
            self._pipe.send((kind, content))
        except (BrokenPipeError, ConnectionResetError):
            os._exit(1)

    def _listen(self) -> None:
        """Hear the request to stop, and then the silence of a main process that is gone, however it went."""
        try:
            self._pipe.recv()
            self.stopping = True
            self._pipe.recv()
        except (EOFError, OSError):
            os._exit(1)


@dataclass
class Child:
    """A process as the main process knows it."""

    number: int
    name: str
    process: BaseProcess
    pipe: Pipe
    launch: "Future[None]"
    asked_to_stop: bool = False
    returned: bool = False
    traceback: str | None = None

    @property
    def launched(self) -> bool:
        return self.launch.done() and not self.launch.cancelled() and self.launch.exception() is None


class Processes:
    """The processes of a run; each has a pipe of its own, so that a killed one cannot block another.

    A thread starts them: the server imports torch first, and meanwhile the run must be able to stop.
    """

    def __init__(self) -> None:
        self._context = torch.multiprocessing.get_context("forkserver")
        self._context.set_forkserver_preload(PRELOADED)
        self._starter = ThreadPoolExecutor(1, "starter", initializer=_be_deaf)
        # Starting a process also looks after those that have ended, which two threads must not do at once.
        self._lock = threading.Lock()
        self._children: dict[int, Child] = {}
        self._started = 0
        self._failure: BaseException | None = None

    @property
    def running(self) -> list[int]:
        """The numbers of the processes that have not ended yet; raises when a process has failed."""
        if self._failure:  # which may have come together with the last messages of the last process
            raise self._failure
        return list(self._children)

    def start(self, function: Callable[[Link, *Arguments], None], *arguments: *Arguments) -> int:
        """Have `function(link, *arguments)` run in a new process, and return the process's number at once."""
        number = self._started
        self._started += 1
        ours, theirs = self._context.Pipe()
        process = self._context.Process(target=_run, args=(number, theirs, function, arguments))
        launch = self._starter.submit(self._launch, process, theirs)
        self._children[number] = Child(number, f"{function.__name__} {number}", process, ours, launch)
        return number

    def receive(self, timeout: float) -> list[tuple[int, Any]]:
        """Wait for messages of any process and return all there are; raise when a process has failed."""
        if self._failure:  # noticed last time, with the last messages; the others may never fall silent
            raise self._failure
        messages = list(self._received(timeout))
        if self._failure and not messages:
            raise self._failure
        return messages

    def stop(self, number: int) -> None:
        """Ask one process to end; it counts as running until it has."""
        child = self._children.get(number)
        if child and not child.asked_to_stop:
            child.asked_to_stop = True
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # it has just ended by itself
                child.pipe.send("stop")

    def close(self) -> list[tuple[int, Any]]:
        """Ask all to stop, wait a moment, and kill the rest; return the messages that still came."""
        for number in self._children:
            self.stop(number)
        messages: list[tuple[int, Any]] = []
        deadline = time.monotonic() + GRACE_SECONDS
        while self._children and (left := deadline - time.monotonic()) > 0:
            messages += self._received(left)
        self._starter.shutdown(wait=False, cancel_futures=True)
        for child in self._children.values():
            child.pipe.close()  # one that is still to be born finds this and ends
            if child.launched:
                child.process.kill()
                self._reap(child)
        self._children.clear()
        self._failure = None  # nobody waits for what they would still have done
        return messages

    def __enter__(self) -> "Processes":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _launch(self, process: BaseProcess, theirs: Pipe) -> None:
        with theirs, self._lock:
            process.start()

    def _reap(self, child: Child) -> None:
        with self._lock:
            child.process.join()

    def _received(self, timeout: float) -> Iterator[tuple[int, Any]]:
        """Yield what was sent, and take note of the processes that ended."""
        children = {child.pipe: child for child in self._children.values()}
        for pipe in connection.wait(children, timeout):
            child = children[cast(Pipe, pipe)]
            try:
                while child.pipe.poll():
                    kind, content = child.pipe.recv()
                    if kind == "message":
                        yield child.number, content
                    else:
                        child.returned, child.traceback = kind == "returned", content
            except (EOFError, ConnectionResetError):
                del self._children[child.number]
                child.pipe.close()
                self._failure = self._failure or self._failure_of(child)

    def _failure_of(self, child: Child) -> BaseException | None:
        """Reap a process that has ended, and say what went wrong with it, if anything did."""
        if error := child.launch.exception():
            return error
        self._reap(child)
        if child.returned:
            return None
        if child.traceback is None:
            return ActorFailed(f"{child.name} {_in_words(child.process.exitcode or 0)}")
        failure = ActorFailed(f"{child.name} failed: {child.traceback.strip().splitlines()[-1]}")
        failure.add_note(f"{child.name}: {child.traceback}")
        return failure


def _run(number: int, pipe: Pipe, function: Callable[[Link, *Arguments], None], arguments: tuple[*Arguments]) -> None:
    """What a new process does."""
    torch.set_num_threads(1)
    link = Link(number, pipe)
    try:
        function(link, *arguments)
    except Exception:
        link.tell("failed", traceback.format_exc())
    else:
        link.tell("returned", None)


def _be_deaf() -> None:
    """Leave the signals to the main thread; the server and all its children inherit this from who starts them."""
    resource_tracker.ensure_running()  # the server's companion; when it is started, it unblocks the signals
    signal.pthread_sigmask(signal.SIG_BLOCK, DEAF_TO)


def _in_words(exitcode: int) -> str:
    if exitcode >= 0:
        return f"ended with status {exitcode} before its work was done"
    hint = ", as happens when the memory runs out" if exitcode == -signal.SIGKILL else ""
    return f"was killed by signal {-exitcode} ({signal.Signals(-exitcode).name}){hint}"
