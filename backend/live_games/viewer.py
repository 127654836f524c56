"""What waits to be sent over one connection of a live game, and what a page may send."""

import asyncio
from collections import deque
from collections.abc import Callable

from pydantic import ValidationError

from workers.contract.live import AWAY, TOO_SLOW, WRONG_ORDER, Audience, Ordered
from workers.contract.orders import LARGEST_ORDER, SEEN_EVERY, Seen, order_adapter

MOST_UNSEEN = 5 * SEEN_EVERY
MOST_TEXTS = 100
# More orders at once than anybody gives; so many more come to be allowed each second.
MOST_ORDERS = 120

Clock = Callable[[], float]


class EndError(Exception):
    """A connection ends, with a number and a sentence."""

    def __init__(self, code: int, reason: str) -> None:
        super().__init__(reason)
        self.code, self.reason = code, reason


class Post:
    """What waits to be sent over one connection."""

    def __init__(self) -> None:
        self._texts: deque[str | bytes] = deque()
        self._more = asyncio.Event()
        self._less = asyncio.Event()
        self._end: EndError | None = None

    def tell(self, message: str | bytes) -> None:
        """Send a message that must not be missed."""
        if len(self._texts) >= MOST_TEXTS:
            self.end(EndError(TOO_SLOW, "Too much waits for this connection: it is too slow."))
            return
        self._texts.append(message)
        self._more.set()

    def end(self, end: EndError) -> None:
        """Have the connection end."""
        self._end = self._end or end
        self._more.set()

    async def emptied(self) -> None:
        """Wait until all messages are on their way, for one who has many to send."""
        while self._texts:
            self._less.clear()
            await self._less.wait()

    async def next(self) -> str | bytes:
        """The next message, once there is one; raises what ends the connection."""
        while (message := self.ready()) is None:
            self._more.clear()
            await self._more.wait()
        return message

    def ready(self) -> str | bytes | None:
        """Return the next message if there is one now; raises what ends the connection."""
        if self._end:
            raise self._end
        if not self._texts:
            return None
        self._less.set()
        return self._texts.popleft()


class Viewer(Post):
    """A page that watches. Of the pictures that it was not sent in time it gets only the newest."""

    def __init__(self, name: str, clock: Clock) -> None:
        super().__init__()
        self.name, self._clock = name, clock
        self._picture: bytes | None = None
        self._audience: Audience | None = None
        self._unseen = 0
        self._orders, self._counted_at = float(MOST_ORDERS), clock()

    def show(self, picture: bytes) -> None:
        """Show a picture in place of one that still waits."""
        self._picture = picture
        self._more.set()

    def tell_away(self) -> None:
        """Tell that nobody plays any more; the picture that still waits is nobody's either."""
        self._picture = None
        self.tell(AWAY)

    def tell_audience(self, audience: Audience) -> None:
        """Tell how many watch, if the page does not know."""
        if audience != self._audience:
            self._audience = audience
            self.tell(audience.model_dump_json())

    def hear(self, message: str | bytes | None) -> Ordered | None:
        """Read what the page has sent: an order for the player, or nothing for it."""
        text = message if isinstance(message, str) else ""
        if message is not None and len(message) > LARGEST_ORDER:
            raise EndError(1009, f"A message of {len(message):,} bytes is too large: {LARGEST_ORDER:,} is the most.")
        self._count()
        try:
            order = order_adapter.validate_json(text)
        except ValidationError as error:
            told = error.errors(include_url=False)[0]["msg"] if text else "send text"
            raise EndError(WRONG_ORDER, f"This is no order for a live game: {told}"[:120]) from None
        if isinstance(order, Seen):
            self._unseen = max(0, self._unseen - SEEN_EVERY)
            self._more.set()
            return None
        return Ordered(viewer=self.name, order=order)

    def _count(self) -> None:
        now = self._clock()
        self._orders = min(MOST_ORDERS, self._orders + (now - self._counted_at) * MOST_ORDERS) - 1
        self._counted_at = now
        if self._orders < 0:
            raise EndError(1008, f"Too many orders: {MOST_ORDERS} a second are the most.")

    def ready(self) -> str | bytes | None:
        """Return the next message, or the newest picture, if there is one now."""
        text = super().ready()
        if text is not None or self._picture is None or self._unseen >= MOST_UNSEEN:
            return text
        picture, self._picture = self._picture, None
        self._unseen += 1
        return picture
