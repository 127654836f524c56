"""Child processes for acting and learning, forked by a clean server. They end with the main process."""

import contextlib
import os
import signal
import threading
import time
import traceback
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from multiprocessing import connection, resource_tracker
from multiprocessing.process import BaseProcess
from typing import Any, TypeVarTuple, cast

import torch.multiprocessing

from arcadia_workers.contract.plugins.loading import load_named_in_environment
from arcadia_workers.trainer.errors import TrainerError
from arcadia_workers.trainer.host import devices

Arguments = TypeVarTuple("Arguments")
Pipe = connection.Connection

GRACE_SECONDS = 1.0
STOP = "stop"
# The server imports these once. Its forks inherit them, but no threads, locks or CUDA contexts.
PRELOADED = ["arcadia_workers.trainer.methods"]
DEAF_TO = {signal.SIGINT, signal.SIGTERM}


class ActorFailed(TrainerError):  # noqa: N818, the name says what happened
    """A process was killed, or ended before its work was done."""


class ActorCrashed(ActorFailed):
    """A process raised an exception; a note holds its traceback."""

    is_bug = True


class Link:
    """A child process's connection to the main process."""

    def __init__(self, number: int, pipe: Pipe) -> None:
        self.number = number
        self.stopping = False
        # Messages of the main process, oldest first.
        self.received: deque[Any] = deque()
        self._pipe = pipe
        threading.Thread(target=self._listen, name="link", daemon=True).start()

    def send(self, message: object) -> None:
        """Send a small message to the main process."""
        self.tell("message", message)

    def tell(self, kind: str, content: object) -> None:
        """Send content of a kind that `Processes` knows. End this process if the main process is gone."""
        try:
            self._pipe.send((kind, content))
        except (BrokenPipeError, ConnectionResetError):
            os._exit(1)

    def _listen(self) -> None:
        """Receive messages until a stop request, then wait for the main process to end. End this process with it."""
        try:
            while (message := self._pipe.recv()) != STOP:
                self.received.append(message)
            self.stopping = True
            self._pipe.recv()
        except (EOFError, OSError):
            os._exit(1)


@dataclass
class Child:
    """A child process, as seen by the main process."""

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
    """Processes of a run. Each has its own pipe, so that a killed one cannot block another.

    A thread starts them, because the server first imports torch and the run must be able to stop during that time.
    """

    def __init__(self) -> None:
        self._context = torch.multiprocessing.get_context("forkserver")
        self._context.set_forkserver_preload(PRELOADED)
        self._starter = ThreadPoolExecutor(1, "starter", initializer=_block_signals)
        # Starting a process also reaps ended ones, which two threads must not do at once.
        self._lock = threading.Lock()
        self._children: dict[int, Child] = {}
        self._started = 0
        self._failure: BaseException | None = None

    @property
    def running(self) -> list[int]:
        """The numbers of the running processes. Raises if a process has failed."""
        if self._failure:  # the last process may have failed right after its last messages
            raise self._failure
        return list(self._children)

    def start(self, function: Callable[[Link, *Arguments], None], *arguments: *Arguments) -> int:
        """Run `function(link, *arguments)` in a new process, and return the process's number without waiting."""
        number = self._started
        self._started += 1
        ours, theirs = self._context.Pipe()
        process = self._context.Process(target=_run, args=(number, theirs, function, arguments))
        launch = self._starter.submit(self._launch, process, theirs)
        self._children[number] = Child(number, f"{function.__name__} {number}", process, ours, launch)
        return number

    def receive(self, timeout: float) -> list[tuple[int, Any]]:
        """Wait for messages from any process and return all of them; raise if a process has failed."""
        if self._failure:  # raised one call late, after the messages, because other processes may keep sending forever
            raise self._failure
        messages = list(self._received(timeout))
        if self._failure and not messages:
            raise self._failure
        return messages

    def stop(self, number: int) -> None:
        """Request that one process ends. It counts as running until it has ended."""
        child = self._children.get(number)
        if child and not child.asked_to_stop:
            child.asked_to_stop = True
            _send(child, STOP)

    def send_to_all(self, message: object) -> None:
        """Send a small message to every process."""
        for child in self._children.values():
            _send(child, message)

    def close(self) -> list[tuple[int, Any]]:
        """Request that all processes stop, kill those that do not, and return their last messages."""
        for number in self._children:
            self.stop(number)
        messages: list[tuple[int, Any]] = []
        deadline = time.monotonic() + GRACE_SECONDS
        while self._children and (left := deadline - time.monotonic()) > 0:
            messages += self._received(left)
        self._starter.shutdown(wait=False, cancel_futures=True)
        for child in self._children.values():
            child.pipe.close()  # a process that starts later finds this and ends
            if child.launched:
                child.process.kill()
                self._reap(child)
        self._children.clear()
        self._failure = None  # after closing, failures no longer matter
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
        """Yield the received messages and record which processes ended."""
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
        """Reap an ended process, and return its failure, if it failed."""
        if error := child.launch.exception():
            return error
        self._reap(child)
        if child.returned:
            return None
        if child.traceback is None:
            return ActorFailed(f"{child.name} {_in_words(child.process.exitcode or 0)}")
        failure = ActorCrashed(f"{child.name} failed: {child.traceback.strip().splitlines()[-1]}")
        failure.add_note(f"{child.name}: {child.traceback}")
        return failure


def prepare_child() -> None:
    """Prepare a new process of a run: it computes in one thread and has the plug-ins of the trainer."""
    devices.compute_in(1)
    load_named_in_environment()


def _run(number: int, pipe: Pipe, function: Callable[[Link, *Arguments], None], arguments: tuple[*Arguments]) -> None:
    """Run the function in the new process, and report how it ended."""
    prepare_child()
    link = Link(number, pipe)
    try:
        function(link, *arguments)
    except Exception:
        link.tell("failed", traceback.format_exc())
    else:
        link.tell("returned", None)


def _send(child: Child, message: object) -> None:
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # the process has just ended
        child.pipe.send(message)


def _block_signals() -> None:
    """Block signals so that only the main thread gets them. The server and its children inherit this."""
    resource_tracker.ensure_running()  # start the tracker first: starting it unblocks the signals
    signal.pthread_sigmask(signal.SIG_BLOCK, DEAF_TO)


def _in_words(exitcode: int) -> str:
    if exitcode >= 0:
        return f"ended with status {exitcode} before its work was done"
    hint = ", as happens when the memory runs out" if exitcode == -signal.SIGKILL else ""
    return f"was killed by signal {-exitcode} ({signal.Signals(-exitcode).name}){hint}"
