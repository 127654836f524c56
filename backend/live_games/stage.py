"""The stage of one live game in this process. It passes the player's pictures to viewers, and their orders back.

Everything runs in one event loop and nothing waits for a viewer: a slow one misses pictures. The player may be
connected to another backend process. `send_to_others` carries messages to the stages of the same game there.
"""

import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Literal

from backend.live_games.viewer import Clock, EndError, Outbox, Viewer
from workers.contract.live import ALONE_SECONDS, AWAY, ENDED, LARGEST_PICTURE, STALE, Audience, Ordered
from workers.contract.orders import HandBack

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
