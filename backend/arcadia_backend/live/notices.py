"""Notices to open pages about changes. They may be lost, since each only names what to fetch again.

`job.changed` has the progress of a job as well, so that pages need not fetch it. The next one corrects a lost one.

Inside this process, notices go directly to the pages. Redis, while it runs, carries them to other backend processes.
If some may have been lost, `refetch` makes pages fetch everything they show.
"""

import asyncio
import json
import logging
import secrets
import signal
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import (
    AbstractContextManager,
    AsyncExitStack,
    asynccontextmanager,
    contextmanager,
    nullcontext,
    suppress,
)
from dataclasses import dataclass
from types import FrameType
from typing import Any

from arcadia_backend.live.channel import Channel

log = logging.getLogger(__name__)

CHANNEL = "arcadia.notices"
REFETCH = "refetch"
# Repeats of a notice within this time are merged.
COALESCE_SECONDS = 0.1
PAGE_QUEUE_LIMIT = 256
CHANNEL_QUEUE_LIMIT = 1_000
MAX_NOTICE_BYTES = 10_000

Payload = dict[str, Any]


@dataclass(frozen=True)
class Notice:
    """A change that pages should know. A page sends the last id when it reconnects, since it may have missed some."""

    id: str
    name: str
    payload: Payload


class Stream:
    """The queue of notices for one page."""

    def __init__(self) -> None:
        self._waiting: asyncio.Queue[Notice | None] = asyncio.Queue(PAGE_QUEUE_LIMIT)

    def put(self, notice: Notice) -> None:
        """Add a notice. If the page is too slow, replace all that wait by `refetch`."""
        if self._waiting.full():
            self._empty()
            notice = Notice(notice.id, REFETCH, {})
        self._waiting.put_nowait(notice)

    def end(self) -> None:
        """Drop all notices and end the page's connection."""
        self._empty()
        self._waiting.put_nowait(None)

    async def next(self, timeout: float) -> Notice | None:
        """Return the next notice, or None once the stream has ended or the timeout is over."""
        with suppress(TimeoutError):
            async with asyncio.timeout(timeout):
                return await self._waiting.get()
        return None

    def _empty(self) -> None:
        while not self._waiting.empty():
            self._waiting.get_nowait()


@dataclass(frozen=True)
class Topic:
    """The notices that announce a change of one object: their names, and the part of the payload that identifies it."""

    names: frozenset[str]
    payload: Payload


class Watch:
    """A flag that a notice of a topic sets, for a request that waits. Other notices do not wake its task."""

    def __init__(self) -> None:
        self.topic: Topic | None = None
        # True if every notice sets the flag.
        self.hears_all = False
        self.has_ended = False
        self._changed = asyncio.Event()

    def put(self, notice: Notice) -> None:
        """Set the flag if the notice is of the topic, or if notices may have been lost."""
        topic = self.topic
        is_of_topic = (
            topic is not None and notice.name in topic.names and topic.payload.items() <= notice.payload.items()
        )
        if self.hears_all or notice.name == REFETCH or is_of_topic:
            self._changed.set()

    def end(self) -> None:
        """End the wait."""
        self.has_ended = True
        self._changed.set()

    async def next(self, timeout: float) -> None:
        """Wait for a change, the end or the timeout, and reset the flag."""
        with suppress(TimeoutError):
            async with asyncio.timeout(timeout):
                await self._changed.wait()
        self._changed.clear()


class Hub:
    """Passes notices to the streams of one event loop, and to other processes."""

    def __init__(self, broker_url: str) -> None:
        self._loop = asyncio.get_running_loop()
        self._lock = threading.Lock()
        self._origin = secrets.token_hex(8)
        self._count = 0
        self._open = True
        # By name and payload: True if other processes need the notice too.
        self._pending: dict[tuple[str, str], bool] = {}
        self.streams: set[Stream] = set()
        self.watches: set[Watch] = set()
        self._channel = (
            Channel(
                broker_url,
                CHANNEL,
                queue_limit=CHANNEL_QUEUE_LIMIT,
                max_bytes=MAX_NOTICE_BYTES,
                replacement=_message(REFETCH, {}),
            )
            if broker_url
            else None
        )

    @property
    def _receivers(self) -> list[Stream | Watch]:
        return [*self.streams, *self.watches]

    def publish(self, name: str, payload: Payload, *, to_others: bool = True) -> None:
        """Pass a notice on soon, merged with its repeats. Safe from any thread."""
        key = (name, json.dumps(payload, sort_keys=True))
        with self._lock:
            if not self._open:
                return
            if not self._pending:
                self._loop.call_soon_threadsafe(self._loop.call_later, COALESCE_SECONDS, self._flush)
            # A repeat moves to the end, since a notice that carries a state must come after those of earlier states.
            self._pending[key] = self._pending.pop(key, False) or to_others
        for changed in tuple(_listeners):
            changed.set()

    def _flush(self) -> None:
        with self._lock:
            pending, self._pending = self._pending, {}
        for (name, payload), to_others in pending.items():
            self._count += 1
            notice = Notice(f"{self._origin}-{self._count}", name, json.loads(payload))
            for receiver in self._receivers:
                receiver.put(notice)
            if to_others and self._channel is not None:
                self._channel.send(_message(name, notice.payload))

    def _receive(self, _origin: str, message: bytes) -> None:
        try:
            notice = json.loads(message)
        except (ValueError, RecursionError):
            log.warning("a message on channel %s is not a notice", CHANNEL)
            return
        if not isinstance(notice, dict):
            return
        name, payload = notice.get("name"), notice.get("payload")
        if isinstance(name, str) and isinstance(payload, dict):
            self.publish(name, payload, to_others=False)

    def _refetch(self) -> None:
        self.publish(REFETCH, {}, to_others=False)

    @asynccontextmanager
    async def connected(self) -> AsyncIterator[None]:
        """Exchange notices with other processes inside the block."""
        async with AsyncExitStack() as stack:
            if self._channel is not None:
                await stack.enter_async_context(self._channel.open(self._receive, on_loss=self._refetch))
            yield

    @property
    def is_here(self) -> bool:
        """Return True if this hub serves the running event loop."""
        return self._loop is asyncio.get_running_loop()

    def end_soon(self) -> None:
        """End every stream and watch. Safe from a signal handler."""
        self._loop.call_soon_threadsafe(self.end)

    def end(self) -> None:
        """End every stream and watch, and ignore later notices."""
        with self._lock:
            self._open = False
        for receiver in self._receivers:
            receiver.end()

    @contextmanager
    def join(self) -> Iterator[Stream]:
        """Open a stream of the notices from now on."""
        stream = Stream()
        self.streams.add(stream)
        if not self._open:
            stream.end()
        try:
            yield stream
        finally:
            self.streams.discard(stream)

    @contextmanager
    def watch(self) -> Iterator[Watch]:
        """Open a watch of one topic."""
        watch = Watch()
        self.watches.add(watch)
        if not self._open:
            watch.end()
        try:
            yield watch
        finally:
            self.watches.discard(watch)


def _message(name: str, payload: Payload) -> bytes:
    return json.dumps({"name": name, "payload": payload}).encode()


_hubs: set[Hub] = set()
_listeners: set[threading.Event] = set()


def publish(name: str, payload: dict[str, Any]) -> None:
    """Notify every open page of a change. Never blocks, and does nothing if no application runs."""
    for hub in tuple(_hubs):
        hub.publish(name, payload)


@contextmanager
def noticing(changed: threading.Event) -> Iterator[None]:
    """Set an event at each notice of this or another process inside the block."""
    _listeners.add(changed)
    try:
        yield
    finally:
        _listeners.discard(changed)


def has_pages() -> bool:
    """Return True if a page is open."""
    return any(hub.streams for hub in tuple(_hubs))


def current_hub() -> Hub:
    """Return the hub of the application that runs in this event loop."""
    return next(hub for hub in _hubs if hub.is_here)


@asynccontextmanager
async def running(broker_url: str) -> AsyncIterator[None]:
    """Carry notices while the application runs. Streams end when the application has to stop."""
    hub = Hub(broker_url)
    _hubs.add(hub)
    try:
        async with hub.connected():
            with _ending_on_signals(hub):
                yield
    finally:
        _hubs.discard(hub)
        hub.end()


def _ending_on_signals(hub: Hub) -> AbstractContextManager[None]:
    """End streams on a signal, because the server waits for open responses before it stops the application."""
    if threading.current_thread() is not threading.main_thread():
        return nullcontext()
    return _signals_chained(hub)


@contextmanager
def _signals_chained(hub: Hub) -> Iterator[None]:
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

    def end_streams(number: int, frame: FrameType | None) -> None:
        hub.end_soon()
        handler = before[signal.Signals(number)]
        if callable(handler):
            handler(number, frame)

    # Without a handler, the default action ends the process and its streams.
    chained = [number for number, handler in before.items() if callable(handler)]
    for number in chained:
        signal.signal(number, end_streams)
    try:
        yield
    finally:
        for number in chained:
            signal.signal(number, before[number])


# Without a notice of a change, look this often: Redis may have lost it, or it may come from outside.
IDLE_SECONDS = 30.0


class BackgroundThread:
    """Thread that repeats its work.

    `work` returns the seconds until something is due that no change announces. A change makes the thread work earlier,
    but never more often than once in `seconds`.
    """

    def __init__(self, name: str, seconds: float, work: Callable[[], float]) -> None:
        self._seconds, self._work = seconds, work
        self._changed, self._stopping = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def stop(self) -> None:
        """Stop the thread."""
        self._stopping.set()
        self._changed.set()
        if self._thread.is_alive():
            self._thread.join(timeout=10)

    def _run(self) -> None:
        with noticing(self._changed):
            while not self._stopping.wait(self._seconds):
                # Before the work, so that a change during it is not missed.
                self._changed.clear()
                rest = min(self._work(), IDLE_SECONDS) - self._seconds
                if rest > 0 and not self._stopping.is_set():
                    self._changed.wait(rest)
