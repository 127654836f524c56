"""Outgoing message queues of live game connections, and the orders that pages may send."""

import asyncio
from collections import deque
from collections.abc import Callable

from pydantic import ValidationError

from workers.contract.live import AWAY, TOO_SLOW, WRONG_ORDER, Audience, Ordered
from workers.contract.orders import LARGEST_ORDER, SEEN_EVERY, Seen, order_adapter

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
        self._check_rate()
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

    def _check_rate(self) -> None:
        now = self._clock()
        self._orders = min(ORDERS_PER_SECOND, self._orders + (now - self._counted_at) * ORDERS_PER_SECOND) - 1
        self._counted_at = now
        if self._orders < 0:
            raise EndError(1008, f"Too many orders: the limit is {ORDERS_PER_SECOND} per second.")

    def ready(self) -> str | bytes | None:
        """Return the next message, else the newest picture, or None if nothing waits."""
        text = super().ready()
        if text is not None or self._picture is None or self._unseen >= MAX_UNSEEN_PICTURES:
            return text
        picture, self._picture = self._picture, None
        self._unseen += 1
        return picture
