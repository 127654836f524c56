"""Connection from a live game's process to the backend: pictures, their pace, and the keys of a person."""

import contextlib
import io
import queue
import sys
import threading
import time
from collections.abc import Callable, Collection, Sequence
from typing import Self
from urllib.parse import urlsplit

from PIL import Image
from websockets.exceptions import ConnectionClosed, InvalidStatus, WebSocketException
from websockets.sync.client import ClientConnection, connect

from arcadia_workers.contract.live import (
    ENDED,
    NO_ACTION,
    NO_SUCH_GAME,
    SILENT_HANDS_SECONDS,
    STALE,
    Key,
    LiveAddress,
    nearest,
)
from arcadia_workers.trainer.games.video import Frame

# Fast, and small for pictures with few colors.
PNG_LEVEL = 1


def png(picture: Frame) -> bytes:
    """Return a picture as PNG."""
    file = io.BytesIO()
    Image.fromarray(picture).save(file, "PNG", compress_level=PNG_LEVEL)
    return file.getvalue()


# If a game is further behind than this, it does not try to catch up.
LATE_SECONDS = 0.1


class Pace:
    """Timer that waits after each picture until the next one is due."""

    def __init__(
        self,
        pictures_per_second: int,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._seconds, self._clock, self._sleep = 1 / pictures_per_second, clock, sleep
        self._due = clock()

    def wait(self) -> None:
        """Wait until the next picture is due."""
        now = self._clock()
        self._due = max(self._due + self._seconds, now - LATE_SECONDS)
        if self._due > now:
            self._sleep(self._due - now)


class PlayerInput:
    """The viewer who plays, if any, and the keys that they hold."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self.free()

    def free(self) -> None:
        """Remove the playing viewer."""
        self.viewer: str | None = None
        self._held: frozenset[Key] = frozenset()
        self._pressed: frozenset[Key] = frozenset()

    def take(self, viewer: str) -> None:
        """Let a viewer play unless another one does."""
        if self.viewer is None:
            self.viewer = viewer
            self.hear(viewer)

    def hear(self, viewer: str) -> None:
        """Record that a viewer is still connected."""
        if viewer == self.viewer:
            self._heard = self._clock()

    @property
    def silent(self) -> bool:
        """True if the playing viewer has been silent for too long."""
        return self.viewer is not None and self._clock() - self._heard > SILENT_HANDS_SECONDS

    def hold(self, viewer: str, keys: Collection[Key]) -> None:
        """Set the held keys if this viewer plays."""
        if viewer == self.viewer:
            self._pressed |= frozenset(keys) - self._held
            self._held = frozenset(keys)

    def action(self, names: Sequence[str]) -> str:
        """Return the action for the next frame. A short key press counts for at least one frame."""
        action = self._wish(names)
        self._pressed = frozenset()
        return action

    def mean_action(self, names: Sequence[str]) -> bool:
        """Return True if the keys mean an action other than none."""
        return self._wish(names) != NO_ACTION

    def _wish(self, names: Sequence[str]) -> str:
        return nearest(self._held | self._pressed, names)


LOOPBACK = {"localhost", "127.0.0.1", "::1"}
RETRY_SECONDS = 1.0
# A restarted backend is back within this time.
RECONNECT_TIMEOUT_SECONDS = 60.0
OPEN_SECONDS = 10.0
OVER = (ENDED, NO_SUCH_GAME, STALE)


class LiveConnection:
    """WebSocket connection with a queue of received messages. A None in the queue marks each new connection."""

    def __init__(self, address: LiveAddress, clock: Callable[[], float] = time.monotonic) -> None:
        self._address, self._clock = address, clock
        self._connection: ClientConnection | None = None
        self.heard: queue.SimpleQueue[str | bytes | None] = queue.SimpleQueue()
        # The reason why the connection ended permanently.
        self.over: str | None = None
        threading.Thread(target=self._listen, name="line", daemon=True).start()

    def send(self, message: str | bytes) -> None:
        """Send a message. Without a connection it is dropped, because nobody watches."""
        connection = self._connection
        if connection is not None:
            with contextlib.suppress(ConnectionClosed):  # the listening thread notices and reconnects
                connection.send(message)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.over = self.over or "it was closed"
        if self._connection is not None:
            self._connection.close()

    def _listen(self) -> None:
        last_there = self._clock()
        while self.over is None:
            try:
                with self._opened() as connection:
                    self._connection = connection
                    self.heard.put(None)
                    for message in connection:
                        self.heard.put(message)
                # The iteration ends without an exception when the backend closes the connection normally.
                self._judge(connection.close_code, connection.close_reason)
            except ConnectionClosed as closed:
                self._judge(closed.rcvd.code if closed.rcvd else None, closed.rcvd.reason if closed.rcvd else None)
            except InvalidStatus as refused:
                status = refused.response.status_code
                if status in (401, 403):
                    self.over = (
                        f"the backend refused its ticket with status {status}. If the worker token has changed, "
                        "start the worker with the new ARCADIA_WORKER_TOKEN"
                    )
                elif status < 500:
                    self.over = f"the backend refused it with status {status}"
            except (OSError, WebSocketException) as error:
                print(f"the backend cannot be reached: {error}", file=sys.stderr)
            if self._connection is not None:
                # The backend was connected until now even if no message came: viewers may send nothing.
                self._connection, last_there = None, self._clock()
            elif self._clock() - last_there > RECONNECT_TIMEOUT_SECONDS:
                self.over = self.over or f"the backend has been away for {RECONNECT_TIMEOUT_SECONDS:g} seconds"
            time.sleep(0 if self.over else RETRY_SECONDS)

    def _judge(self, code: int | None, reason: str | None) -> None:
        if code in OVER:
            self.over = reason or "the backend ended it"

    def _opened(self) -> ClientConnection:
        return connect(
            self._address.url,
            additional_headers={"Authorization": f"Bearer {self._address.ticket}"},
            proxy=None if urlsplit(self._address.url).hostname in LOOPBACK else True,
            compression=None,
            open_timeout=OPEN_SECONDS,
            close_timeout=2,
        )
