"""The stages of live games in this process, and the end of games that nobody watches.

A stage passes the player's pictures to viewers, and their orders back. Everything runs in one event loop and nothing
waits for a viewer: a slow one misses pictures. The player may be connected to another backend process.
`send_to_others` carries messages to the stages of the same game there.
"""

import asyncio
import logging
import secrets
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Literal, get_args

from fastapi.concurrency import run_in_threadpool
from pydantic import ValidationError
from sqlalchemy import select

from arcadia_backend import jobs
from arcadia_backend.database.engine import Database
from arcadia_backend.database.scope import BACKEND, acting_as
from arcadia_backend.database.tables import Job
from arcadia_backend.failure_log import FailureLog
from arcadia_backend.live.channel import Channel, cancel_all
from arcadia_backend.live.notices import current_hub
from arcadia_workers.contract.jobs import LIVE_GAMES
from arcadia_workers.contract.live import (
    ALONE_SECONDS,
    AWAY,
    ENDED,
    LARGEST_ORDER,
    LARGEST_PICTURE,
    SEEN_EVERY,
    STALE,
    TOO_SLOW,
    WRONG_ORDER,
    Audience,
    HandBack,
    Ordered,
    Seen,
    order_adapter,
)

MAX_UNSEEN_PICTURES = 5 * SEEN_EVERY
MAX_QUEUED_MESSAGES = 100
# Rate limit of a viewer's orders: burst size, and refill per second.
ORDERS_PER_SECOND = 120

Clock = Callable[[], float]


class EndError(Exception):
    """The end of a connection, with a close code and a reason."""

    def __init__(self, code: int, reason: str) -> None:
        super().__init__(reason)
        self.code, self.reason = code, reason


class Outbox:
    """The outgoing message queue of one WebSocket connection."""

    def __init__(self) -> None:
        self._texts: deque[str | bytes] = deque()
        self._more = asyncio.Event()
        self._less = asyncio.Event()
        self._end: EndError | None = None

    def send(self, message: str | bytes) -> None:
        """Queue a message. End the connection if the queue is full."""
        if len(self._texts) >= MAX_QUEUED_MESSAGES:
            self.end(EndError(TOO_SLOW, "This connection is too slow."))
            return
        self._texts.append(message)
        self._more.set()

    def end(self, end: EndError) -> None:
        """Close the connection."""
        self._end = self._end or end
        self._more.set()

    async def wait_until_empty(self) -> None:
        """Wait until all messages are sent. Callers with many messages use this to avoid filling the queue."""
        while self._texts:
            self._less.clear()
            await self._less.wait()

    async def next(self) -> str | bytes:
        """Wait for the next message. Raise EndError if the connection ends."""
        while (message := self.ready()) is None:
            self._more.clear()
            await self._more.wait()
        return message

    def ready(self) -> str | bytes | None:
        """Return the next message, or None if none waits. Raise EndError if the connection ends."""
        if self._end:
            raise self._end
        if not self._texts:
            return None
        self._less.set()
        return self._texts.popleft()


class Viewer(Outbox):
    """The connection of a page that watches. A slow page receives only the newest picture."""

    def __init__(self, name: str, clock: Clock) -> None:
        super().__init__()
        self.name, self._clock = name, clock
        self._picture: bytes | None = None
        self._audience: Audience | None = None
        self._unseen = 0
        self._orders, self._counted_at = float(ORDERS_PER_SECOND), clock()

    def show(self, picture: bytes) -> None:
        """Queue a picture. It replaces an unsent picture."""
        self._picture = picture
        self._more.set()

    def send_away(self) -> None:
        """Notify the page that the player left, and drop the queued picture."""
        self._picture = None
        self.send(AWAY)

    def send_audience(self, audience: Audience) -> None:
        """Send the number of viewers if it changed."""
        if audience != self._audience:
            self._audience = audience
            self.send(audience.model_dump_json())

    def receive(self, message: str | bytes | None) -> Ordered | None:
        """Parse a message of the page. Return its order for the player, or None for an acknowledgement."""
        text = message if isinstance(message, str) else ""
        if message is not None and len(message) > LARGEST_ORDER:
            raise EndError(1009, f"A message of {len(message):,} bytes is too large. The limit is {LARGEST_ORDER:,}.")
        now = self._clock()
        self._orders = min(ORDERS_PER_SECOND, self._orders + (now - self._counted_at) * ORDERS_PER_SECOND) - 1
        self._counted_at = now
        if self._orders < 0:
            raise EndError(1008, f"Too many orders: the limit is {ORDERS_PER_SECOND} per second.")
        try:
            order = order_adapter.validate_json(text)
        except ValidationError as error:
            reason = error.errors(include_url=False)[0]["msg"] if text else "send text"
            raise EndError(WRONG_ORDER, f"This is not an order for a live game: {reason}"[:120]) from None
        if isinstance(order, Seen):
            self._unseen = max(0, self._unseen - SEEN_EVERY)
            self._more.set()
            return None
        return Ordered(viewer=self.name, order=order)

    def ready(self) -> str | bytes | None:
        """Return the next message, else the newest picture, or None if nothing waits."""
        text = super().ready()
        if text is not None or self._picture is None or self._unseen >= MAX_UNSEEN_PICTURES:
            return text
        picture, self._picture = self._picture, None
        self._unseen += 1
        return picture


# Each stage sends a heartbeat. One that is silent for longer is gone.
BEAT_SECONDS = 1.0
SILENT_SECONDS = 5.0

# picture, scene, audience: from the stage of the player. viewers, order: from the other stages.
MessageKind = Literal["picture", "scene", "audience", "viewers", "order", "away"]
SendToOthers = Callable[[MessageKind, bytes], None]


class Stage:
    """A live game with its viewers and, if it is connected to this process, its player."""

    def __init__(
        self, clock: Clock = time.monotonic, send_to_others: SendToOthers = lambda _kind, _content: None
    ) -> None:
        self._clock, self._send_to_others = clock, send_to_others
        self._name = secrets.token_hex(3)
        self._count = 0
        self._scene: str | None = None
        self._picture: bytes | None = None
        self._alone_since = self._player_heard = clock()
        # Number of viewers of each other stage, and the time of its last message.
        self._elsewhere: dict[str, tuple[int, float]] = {}
        # Number of viewers of all stages, as the player's stage last reported it.
        self._total_viewers = 0
        self.viewers: set[Viewer] = set()
        self.player: Outbox | None = None

    @property
    def is_empty(self) -> bool:
        """Return True if no player and no viewer is connected to this process."""
        return not self.viewers and self.player is None

    @contextmanager
    def watched(self) -> Iterator[Viewer]:
        """Connect a viewer, and show them the current picture."""
        self._count += 1
        viewer = Viewer(f"{self._name}-{self._count}", self._clock)
        self.viewers.add(viewer)
        viewer.send(self._scene or AWAY)
        if self._picture:
            viewer.show(self._picture)
        self._audience_changed()
        try:
            yield viewer
        finally:
            self.viewers.discard(viewer)
            # A viewer who played no longer does.
            self.order(Ordered(viewer=viewer.name, order=HandBack()))
            self._alone_since = self._clock()
            self._audience_changed()

    @contextmanager
    def played(self) -> Iterator[Outbox]:
        """Connect the player. If another is still connected, it belongs to an earlier attempt and is ended."""
        player = Outbox()
        if self.player is not None:
            self.player.end(EndError(STALE, "A newer attempt plays this game now."))
        self.player = player
        self._alone_since = self._clock()
        try:
            yield player
        finally:
            if self.player is player:
                self.player = None
                self._away()
                self._send_to_others("away", b"")

    def take(self, message: str | bytes | None) -> None:
        """Pass on a message of the player: a picture, or the scene as JSON."""
        if not message or len(message) > LARGEST_PICTURE:
            raise EndError(1009, f"A live game sends no message of {len(message or ''):,} bytes.")
        if isinstance(message, bytes):
            self._show(message)
            if self._elsewhere:
                self._send_to_others("picture", message)
        else:
            self._set(message)
            self._send_to_others("scene", message.encode())

    @property
    def is_watched(self) -> bool:
        """Return True if anyone watches, in this process or another."""
        return bool(self.viewers) or any(count for count, _ in self._elsewhere.values())

    @property
    def is_abandoned(self) -> bool:
        """Return True if no one has watched for ALONE_SECONDS."""
        return not self.is_watched and self._clock() - self._alone_since >= ALONE_SECONDS

    def order(self, ordered: Ordered) -> None:
        """Pass an order to the player. Without a player it is lost."""
        document = ordered.model_dump_json()
        if self.player:
            self.player.send(document)
        else:
            self._send_to_others("order", document.encode())

    def receive(self, origin: str, kind: MessageKind, content: bytes) -> None:
        """Handle a message from the stage of another process."""
        if kind == "viewers":
            new = origin not in self._elsewhere
            self._elsewhere[origin] = int(content), self._clock()
            if self.player:
                self._audience_changed(newcomer=new)
        elif kind == "order" and self.player:
            self.player.send(content.decode())
        elif self.player is None:
            self._receive_from_player(kind, content)

    def beat(self) -> None:
        """Send the heartbeat, drop silent stages, and end a game that no one watches. Called every BEAT_SECONDS."""
        now = self._clock()
        for origin in [origin for origin, (_, heard) in self._elsewhere.items() if now - heard > SILENT_SECONDS]:
            del self._elsewhere[origin]
            self._alone_since = now
        if self.is_watched:
            self._alone_since = now
        self._audience_changed()
        if self.player is None:
            if self._scene and now - self._player_heard > SILENT_SECONDS:
                self._away()
        elif self.is_abandoned:
            self.player.end(EndError(ENDED, f"No one has watched for {ALONE_SECONDS:g} seconds."))

    def _receive_from_player(self, kind: MessageKind, content: bytes) -> None:
        self._player_heard = self._clock()
        if kind == "picture":
            self._show(content)
        elif kind == "scene":
            self._set(content.decode())
        elif kind == "audience":
            self._total_viewers = int(content)
            self._send_audience()
        elif kind == "away":
            self._away()

    def _audience(self) -> int:
        """Return the number of viewers of all stages known to this one."""
        if self.player is None:
            return max(len(self.viewers), self._total_viewers)
        return len(self.viewers) + sum(count for count, _ in self._elsewhere.values())

    def _audience_changed(self, newcomer: bool = False) -> None:
        count = self._audience()
        if self.player is None:
            self._send_to_others("viewers", str(len(self.viewers)).encode())
        else:
            self._send_to_others("audience", str(count).encode())
        if newcomer and self._scene:
            self._send_to_others("scene", self._scene.encode())
            if self._picture:
                self._send_to_others("picture", self._picture)
        self._send_audience()

    def _send_audience(self) -> None:
        for viewer in self.viewers:
            viewer.send_audience(Audience(viewers=self._audience(), you=viewer.name))

    def _set(self, scene: str) -> None:
        self._scene = scene
        for viewer in self.viewers:
            viewer.send(scene)

    def _show(self, picture: bytes) -> None:
        self._picture = picture
        for viewer in self.viewers:
            viewer.show(picture)

    def _away(self) -> None:
        self._scene = self._picture = None
        self._total_viewers = 0
        for viewer in self.viewers:
            viewer.send_away()


log = logging.getLogger(__name__)

CHANNEL = "arcadia.live"
CHANNEL_QUEUE_LIMIT = 60
MESSAGE_KINDS: tuple[MessageKind, ...] = get_args(MessageKind)


@dataclass
class _Open:
    """An open stage with its number of connections and its background task."""

    stage: Stage
    working: asyncio.Task[None]
    users: int = 0


class Stages:
    """The open stages by job id."""

    def __init__(self, broker_url: str) -> None:
        self._broker_url = broker_url
        self._open: dict[int, _Open] = {}
        # The event loop keeps only weak references to tasks.
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def viewers(self) -> int:
        """Return the number of viewers connected to this process."""
        return sum(len(each.stage.viewers) for each in self._open.values())

    @contextmanager
    def on(self, number: int) -> Iterator[Stage]:
        """Open the stage of a live game for one connection."""
        opened = self._open.get(number) or self._opened(number)
        opened.users += 1
        try:
            yield opened.stage
        finally:
            opened.users -= 1
            if not opened.users:
                del self._open[number]
                self._end(opened.working)

    def _end(self, working: asyncio.Task[None]) -> None:
        self._tasks.add(working)
        working.add_done_callback(self._tasks.discard)
        working.cancel()

    def _opened(self, number: int) -> _Open:
        channel = self._channel(number) if self._broker_url else None
        stage = Stage(send_to_others=partial(_send, channel)) if channel else Stage()
        opened = self._open[number] = _Open(stage, asyncio.create_task(_work(stage, channel)))
        return opened

    def _channel(self, number: int) -> Channel:
        return Channel(
            self._broker_url, f"{CHANNEL}.{number}", queue_limit=CHANNEL_QUEUE_LIMIT, max_bytes=LARGEST_PICTURE
        )


async def _work(stage: Stage, channel: Channel | None) -> None:
    async with AsyncExitStack() as stack:
        if channel:
            await stack.enter_async_context(channel.open(partial(_receive, stage)))
        while True:
            await asyncio.sleep(BEAT_SECONDS)
            stage.beat()


def _send(channel: Channel, kind: MessageKind, content: bytes) -> None:
    channel.send(b" ".join((kind.encode(), content)))


def _receive(stage: Stage, origin: str, message: bytes) -> None:
    name, _, content = message.partition(b" ")
    kind = next((known for known in MESSAGE_KINDS if known.encode() == name), None)
    if kind is None:
        log.warning("a message on channel %s is not of a live game", CHANNEL)
    else:
        stage.receive(origin, kind, content)


# The interval of checks while games are queued, and the longest one otherwise.
CHECK_SECONDS, IDLE_SECONDS = 2.0, 30.0


@asynccontextmanager
async def cancel_unwatched_games(db: Database, stages: Stages) -> AsyncIterator[None]:
    """Cancel unwatched games in the background inside the block."""
    task = asyncio.create_task(_repeat(QueuedGames(db, stages)))
    try:
        yield
    finally:
        await cancel_all([task])


class QueuedGames:
    """The queued games. Each keeps its stage open, which knows when it was last watched."""

    def __init__(self, db: Database, stages: Stages) -> None:
        self._db, self._stages = db, stages
        self._open: dict[int, tuple[Stage, ExitStack]] = {}

    @property
    def are_queued(self) -> bool:
        """True if there was a queued game at the last check."""
        return bool(self._open)

    async def cancel_unwatched(self) -> None:
        """Cancel the queued games that no one has watched for a while."""
        queued = await run_in_threadpool(_queued, self._db)
        for number in self._open.keys() - queued:
            self._close(number)
        for number in queued - self._open.keys():
            stack = ExitStack()
            self._open[number] = stack.enter_context(self._stages.on(number)), stack
        for number in [number for number, (stage, _) in self._open.items() if stage.is_abandoned]:
            await run_in_threadpool(_cancel, self._db, number)

    def close(self) -> None:
        """Close all stages."""
        for number in list(self._open):
            self._close(number)

    def _close(self, number: int) -> None:
        _, stack = self._open.pop(number)
        stack.close()


async def _repeat(games: QueuedGames) -> None:
    failures = FailureLog(log)
    try:
        with current_hub().wait() as changes:
            changes.hears_all = True
            while True:
                with acting_as(BACKEND), failures.guard("Cancelling unwatched live games"):
                    await games.cancel_unwatched()
                await asyncio.sleep(CHECK_SECONDS)
                if not games.are_queued:
                    await changes.next(IDLE_SECONDS)
    finally:
        games.close()


def _queued(db: Database) -> set[int]:
    with db.read() as session:
        return set(session.scalars(select(Job.id).where(Job.state == "queued", Job.kind.in_(LIVE_GAMES))))


def _cancel(db: Database, number: int) -> None:
    """Cancel a game, unless a worker has claimed it."""
    with db.write() as session:
        job = session.get(Job, number, with_for_update=True)
        if job is not None and job.state == "queued":
            jobs.cancel(session, job)
