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
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Iterator
from contextlib import (
    AbstractContextManager,
    AsyncExitStack,
    asynccontextmanager,
    contextmanager,
    nullcontext,
    suppress,
)
from dataclasses import dataclass
from itertools import takewhile
from types import FrameType
from typing import Any, Protocol

from arcadia_backend.live.channel import Channel

log = logging.getLogger(__name__)

CHANNEL = "arcadia.notices"
REFETCH = "refetch"
# A ring for workers that wait at a backend. It is not for pages.
RUNG = "doorbell.rung"
# The roles or credentials of somebody have changed, so open connections check theirs.
RIGHTS_CHANGED = "rights.changed"
# Repeats of a notice within this time are merged.
COALESCE_SECONDS = 0.1
PAGE_QUEUE_LIMIT = 256
# Characters of waiting events. Beyond this, changes of documents wait until the page has taken some.
PAGE_QUEUE_LENGTH = 1_000_000
# Distinct notices that are remembered for pages that may have missed some.
RECENT_NOTICES = 2_000
CHANNEL_QUEUE_LIMIT = 1_000
MAX_NOTICE_BYTES = 10_000

Payload = dict[str, Any]


@dataclass(frozen=True)
class Event:
    """An event of a stream. A page sends the last id when it reconnects, since it may have missed some."""

    id: str
    name: str
    # The data as JSON.
    text: str


@dataclass(frozen=True)
class Notice(Event):
    """A change that pages should know."""

    payload: Payload


class Stream:
    """The queue of events for one page."""

    def __init__(self) -> None:
        self._waiting: asyncio.Queue[Event | None] = asyncio.Queue(PAGE_QUEUE_LIMIT)
        self._length = 0
        # The notices that the page wants, or None for all.
        self.topics: Collection[Topic] | None = None
        # Called after each event that the page has taken.
        self.on_taken: Callable[[], None] = lambda: None

    @property
    def has_room(self) -> bool:
        """True if the page keeps up, so that large events may be added."""
        return self._waiting.qsize() < PAGE_QUEUE_LIMIT // 2 and self._length < PAGE_QUEUE_LENGTH

    def put(self, event: Event) -> None:
        """Add an event that the page wants. If the page is too slow, replace all that wait by `refetch`."""
        if isinstance(event, Notice):
            is_wanted = self.topics is None or concerns(event, self.topics)
            if event.name == RUNG or not is_wanted:
                return
        if self._waiting.full():
            self._empty()
            event = Notice(event.id, REFETCH, "{}", {})
        self._waiting.put_nowait(event)
        self._length += len(event.text)

    def end(self) -> None:
        """Drop all events and end the page's connection."""
        self._empty()
        self._waiting.put_nowait(None)

    async def next(self, timeout: float) -> Event | None:
        """Return the next event, or None once the stream has ended or the timeout is over."""
        with suppress(TimeoutError):
            async with asyncio.timeout(timeout):
                event = await self._waiting.get()
                self._length -= len(event.text) if event else 0
                self.on_taken()
                return event
        return None

    def _empty(self) -> None:
        while not self._waiting.empty():
            self._waiting.get_nowait()
        self._length = 0


@dataclass(frozen=True)
class Topic:
    """The notices that announce a change of one object: their names, and the part of the payload that identifies it."""

    names: frozenset[str]
    payload: Payload

    def matches(self, notice: Notice) -> bool:
        """Return True if a notice is of this topic. A notice about many runs names none, and is about each."""
        if notice.name not in self.names:
            return False
        found = notice.payload
        return all(found.get(key) == value for key, value in self.payload.items() if key in found or key != "run_id")


def concerns(notice: Notice, topics: Iterable[Topic]) -> bool:
    """Return True if a notice is of one of the topics, or if notices may have been lost."""
    return notice.name == REFETCH or any(topic.matches(notice) for topic in topics)


class Waiter:
    """A flag that a notice of a topic sets, for a request that waits. Other notices do not wake its task."""

    def __init__(self) -> None:
        self.topic: Topic | None = None
        # True if every notice sets the flag.
        self.hears_all = False
        self.has_ended = False
        self._changed = asyncio.Event()

    def put(self, notice: Notice) -> None:
        """Set the flag if the notice is of the topic, or if notices may have been lost."""
        if self.hears_all or concerns(notice, [self.topic] if self.topic else []):
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


class Receiver(Protocol):
    """A receiver of notices."""

    def put(self, notice: Notice, /) -> None:
        """Receive a notice."""

    def end(self) -> None:
        """End, because no notices will follow."""


class Hub:
    """Passes notices to the streams of one event loop, and to other processes."""

    def __init__(self, broker_url: str) -> None:
        self._loop = asyncio.get_running_loop()
        self._lock = threading.Lock()
        self._origin = secrets.token_hex(8)
        self._count = 0
        self._open = True
        # The newest notice of each name and payload with its number, in their order.
        self._recent: OrderedDict[tuple[str, str], tuple[int, Notice]] = OrderedDict()
        self._forgotten = 0
        # By name and payload: True if other processes need the notice too.
        self._pending: dict[tuple[str, str], bool] = {}
        self.streams: set[Stream] = set()
        self.waiters: set[Waiter] = set()
        self.others: set[Receiver] = set()
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
    def _receivers(self) -> list[Receiver]:
        return [*self.streams, *self.waiters, *self.others]

    @property
    def newest(self) -> str:
        """The id of the newest notice."""
        return f"{self._origin}-{self._count}"

    def may_have_missed(self, last: str | None, topics: Collection[Topic]) -> bool:
        """Return True if a notice of the topics came after the one with this id, or may have come."""
        origin, _, count = (last or "").rpartition("-")
        if origin != self._origin or not self._forgotten <= int(count) <= self._count:
            return True
        later = takewhile(lambda recent: recent[0] > int(count), reversed(self._recent.values()))
        return any(concerns(notice, topics) for _, notice in later)

    def since(self, first: str) -> list[Notice]:
        """Return the remembered notices after the one with this id, in their order."""
        count = int(first.rpartition("-")[2])
        return [notice for number, notice in self._recent.values() if number > count]

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
            notice = Notice(self.newest, name, payload, json.loads(payload))
            key = (name, payload)
            self._recent[key] = self._count, notice
            self._recent.move_to_end(key)
            if len(self._recent) > RECENT_NOTICES:
                _, (self._forgotten, _) = self._recent.popitem(last=False)
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
        """End every stream and waiter. Safe from a signal handler."""
        self._loop.call_soon_threadsafe(self.end)

    def end_streams(self) -> None:
        """End the streams of all pages, which connect again."""
        for stream in self.streams:
            stream.end()

    def end(self) -> None:
        """End every stream and waiter, and ignore later notices."""
        with self._lock:
            self._open = False
        for receiver in self._receivers:
            receiver.end()

    @contextmanager
    def join(self, stream: Stream | None = None) -> Iterator[Stream]:
        """Open a stream of the notices from now on."""
        stream = Stream() if stream is None else stream
        self.streams.add(stream)
        if not self._open:
            stream.end()
        try:
            yield stream
        finally:
            self.streams.discard(stream)

    @contextmanager
    def wait(self) -> Iterator[Waiter]:
        """Open a waiter for one topic."""
        waiter = Waiter()
        self.waiters.add(waiter)
        if not self._open:
            waiter.end()
        try:
            yield waiter
        finally:
            self.waiters.discard(waiter)


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
async def running(broker_url: str) -> AsyncIterator[Hub]:
    """Carry notices while the application runs. Streams end when the application has to stop."""
    hub = Hub(broker_url)
    _hubs.add(hub)
    try:
        async with hub.connected():
            with _ending_on_signals(hub):
                yield hub
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
