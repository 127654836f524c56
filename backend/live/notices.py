"""Notices that something changed, to every open page: lossy on purpose, since each only says what to fetch again.

Inside this process they are handed on directly; Redis, while it runs, carries them to other backend processes.
Whenever some may have been lost, `refetch` tells pages to fetch everything they show.
"""

import asyncio
import json
import logging
import secrets
import signal
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import AbstractContextManager, asynccontextmanager, contextmanager, nullcontext
from dataclasses import dataclass
from types import FrameType
from typing import Any

from backend.live.relay import Relay

log = logging.getLogger(__name__)

REFETCH = "refetch"
# Repeats of a notice within this time become one.
COALESCE_SECONDS = 0.1
MOST_WAITING = 256

Payload = dict[str, Any]


@dataclass(frozen=True)
class Notice:
    """What changed. The id only shows that a page reconnects, which may have missed notices."""

    id: str
    name: str
    payload: Payload


class Stream:
    """The notices that wait for one page."""

    def __init__(self) -> None:
        self._waiting: asyncio.Queue[Notice | None] = asyncio.Queue(MOST_WAITING)

    def put(self, notice: Notice) -> None:
        """Add a notice; when the page is too slow, all that waits becomes one request to fetch again."""
        if self._waiting.full():
            self._empty()
            notice = Notice(notice.id, REFETCH, {})
        self._waiting.put_nowait(notice)

    def end(self) -> None:
        """Let the page's connection end, whatever still waits."""
        self._empty()
        self._waiting.put_nowait(None)

    async def next(self, timeout: float) -> Notice | None:
        """The next notice; None once the stream has ended or the time is over."""
        try:
            return await asyncio.wait_for(self._waiting.get(), timeout)
        except TimeoutError:
            return None

    def _empty(self) -> None:
        while not self._waiting.empty():
            self._waiting.get_nowait()


class Hub:
    """Hands notices to the streams of one event loop."""

    def __init__(self, broker_url: str) -> None:
        self._loop = asyncio.get_running_loop()
        self._lock = threading.Lock()
        self._origin = secrets.token_hex(8)
        self._count = 0
        self._open = True
        # By name and payload: whether other processes are still to be told.
        self._pending: dict[tuple[str, str], bool] = {}
        self.streams: set[Stream] = set()
        refetch = self._message(REFETCH, {})
        self._relay = Relay(broker_url, self._from_elsewhere, self._lost, refetch) if broker_url else None

    def publish(self, name: str, payload: Payload, *, ours: bool = True) -> None:
        """Hand a notice on soon, together with its repeats; from any thread."""
        key = (name, json.dumps(payload, sort_keys=True))
        with self._lock:
            if not self._open:
                return
            if not self._pending:
                self._loop.call_soon_threadsafe(self._loop.call_later, COALESCE_SECONDS, self._flush)
            self._pending[key] = self._pending.get(key, False) or ours

    def _flush(self) -> None:
        with self._lock:
            pending, self._pending = self._pending, {}
        for (name, payload), ours in pending.items():
            self._count += 1
            notice = Notice(f"{self._origin}-{self._count}", name, json.loads(payload))
            for stream in self.streams:
                stream.put(notice)
            if ours and self._relay is not None:
                self._relay.send(self._message(name, notice.payload))

    def _message(self, name: str, payload: Payload) -> Payload:
        return {"origin": self._origin, "name": name, "payload": payload}

    def _from_elsewhere(self, message: Payload) -> None:
        name, payload = message.get("name"), message.get("payload")
        if message.get("origin") != self._origin and isinstance(name, str) and isinstance(payload, dict):
            self.publish(name, payload, ours=False)

    def _lost(self) -> None:
        self.publish(REFETCH, {}, ours=False)

    @asynccontextmanager
    async def relaying(self) -> AsyncIterator[None]:
        """Exchange notices with other processes."""
        tasks = [asyncio.create_task(work) for work in self._relay.work()] if self._relay else []
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    @property
    def is_here(self) -> bool:
        """Whether this hub serves the running event loop."""
        return self._loop is asyncio.get_running_loop()

    def end_soon(self) -> None:
        """End every stream; may be called by a signal."""
        self._loop.call_soon_threadsafe(self.end)

    def end(self) -> None:
        """End every stream and take no more notices."""
        with self._lock:
            self._open = False
        for stream in self.streams:
            stream.end()

    @contextmanager
    def join(self) -> Iterator[Stream]:
        """A stream of what is published from now on."""
        stream = Stream()
        self.streams.add(stream)
        if not self._open:
            stream.end()
        try:
            yield stream
        finally:
            self.streams.discard(stream)


_hubs: set[Hub] = set()


def publish(name: str, payload: dict[str, Any]) -> None:
    """Tell every open page that something changed; never blocks, and does nothing where no application runs."""
    for hub in tuple(_hubs):
        hub.publish(name, payload)


def current_hub() -> Hub:
    """The hub of the application that runs in this event loop."""
    return next(hub for hub in _hubs if hub.is_here)


@asynccontextmanager
async def running(broker_url: str) -> AsyncIterator[None]:
    """Carry notices while the application runs; streams end as soon as it is asked to stop."""
    hub = Hub(broker_url)
    _hubs.add(hub)
    try:
        async with hub.relaying():
            with _ending_on_signals(hub):
                yield
    finally:
        _hubs.discard(hub)
        hub.end()


def _ending_on_signals(hub: Hub) -> AbstractContextManager[None]:
    """End streams on a signal: the server waits for open responses before it stops the application."""
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
