"""One live game in this process: hands the player's pictures to every viewer, and the viewers' orders to the player.

All of it happens in one event loop, and nothing waits for a viewer: one that is slow misses pictures. The player may
be connected to another backend process than a viewer; `beyond` carries what is said to the stages there.
"""

import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Literal

from backend.live_games.viewer import Clock, EndError, Post, Viewer
from workers.contract.live import ALONE_SECONDS, AWAY, ENDED, LARGEST_PICTURE, STALE, Audience, Ordered
from workers.contract.orders import HandBack

# A stage says so often that it is there; one that has been silent for longer is gone.
BEAT_SECONDS = 1.0
SILENT_SECONDS = 5.0

# picture, scene, audience: of the stage that has the player. viewers, order: of the others.
Said = Literal["picture", "scene", "audience", "viewers", "order", "away"]
Beyond = Callable[[Said, bytes], None]


class Stage:
    """A live game: its player, if it is connected here, and its viewers."""

    def __init__(self, clock: Clock = time.monotonic, beyond: Beyond = lambda _said, _what: None) -> None:
        self._clock, self._beyond = clock, beyond
        self._name = secrets.token_hex(3)
        self._count = 0
        self._scene: str | None = None
        self._picture: bytes | None = None
        self._alone_since = self._player_heard = clock()
        # The viewers of each other stage, and when it last told of them.
        self._elsewhere: dict[str, tuple[int, float]] = {}
        # How many watch in all, as the stage that has the player last told.
        self._in_all = 0
        self.viewers: set[Viewer] = set()
        self.player: Post | None = None

    @property
    def is_empty(self) -> bool:
        """Whether nobody is connected here."""
        return not self.viewers and self.player is None

    @contextmanager
    def watched(self) -> Iterator[Viewer]:
        """Add a viewer, who sees at once what the others see."""
        self._count += 1
        viewer = Viewer(f"{self._name}-{self._count}", self._clock)
        self.viewers.add(viewer)
        viewer.tell(self._scene or AWAY)
        if self._picture:
            viewer.show(self._picture)
        self._audience_changed()
        try:
            yield viewer
        finally:
            self.viewers.discard(viewer)
            # Who played plays no longer.
            self.order(Ordered(viewer=viewer.name, order=HandBack()))
            self._alone_since = self._clock()
            self._audience_changed()

    @contextmanager
    def played(self) -> Iterator[Post]:
        """Connect the player; another that is still there is one of an attempt before."""
        player = Post()
        if self.player is not None:
            self.player.end(EndError(STALE, "Another attempt plays this game now."))
        self.player = player
        self._alone_since = self._clock()
        try:
            yield player
        finally:
            if self.player is player:
                self.player = None
                self._away()
                self._beyond("away", b"")

    def take(self, message: str | bytes | None) -> None:
        """Hand on what the player has sent: a picture, or what stands on the stage now."""
        if not message or len(message) > LARGEST_PICTURE:
            raise EndError(1009, f"A message of {len(message or ''):,} bytes is none of a live game's.")
        if isinstance(message, bytes):
            self._show(message)
            if self._elsewhere:
                self._beyond("picture", message)
        else:
            self._set(message)
            self._beyond("scene", message.encode())

    @property
    def is_watched(self) -> bool:
        """Whether anybody watches, here or at another process."""
        return bool(self.viewers) or any(count for count, _ in self._elsewhere.values())

    @property
    def is_abandoned(self) -> bool:
        """Whether nobody has watched for a while."""
        return not self.is_watched and self._clock() - self._alone_since >= ALONE_SECONDS

    def order(self, ordered: Ordered) -> None:
        """Hand an order to the player; one that is not there misses it."""
        told = ordered.model_dump_json()
        if self.player:
            self.player.tell(told)
        else:
            self._beyond("order", told.encode())

    def hear(self, origin: str, said: Said, what: bytes) -> None:
        """Heed what the stage of another process has said."""
        if said == "viewers":
            new = origin not in self._elsewhere
            self._elsewhere[origin] = int(what), self._clock()
            if self.player:
                self._audience_changed(newcomer=new)
        elif said == "order" and self.player:
            self.player.tell(what.decode())
        elif self.player is None:
            self._hear_player(said, what)

    def beat(self) -> None:
        """Do what is due every BEAT_SECONDS; end the game once nobody has watched for a while."""
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
            self.player.end(EndError(ENDED, f"Nobody has watched for {ALONE_SECONDS:g} seconds."))

    def _hear_player(self, said: Said, what: bytes) -> None:
        self._player_heard = self._clock()
        if said == "picture":
            self._show(what)
        elif said == "scene":
            self._set(what.decode())
        elif said == "audience":
            self._in_all = int(what)
            self._tell_audience()
        elif said == "away":
            self._away()

    def _audience(self) -> int:
        """Count the viewers of all stages, as far as this one knows."""
        if self.player is None:
            return max(len(self.viewers), self._in_all)
        return len(self.viewers) + sum(count for count, _ in self._elsewhere.values())

    def _audience_changed(self, newcomer: bool = False) -> None:
        count = self._audience()
        if self.player is None:
            self._beyond("viewers", str(len(self.viewers)).encode())
        else:
            self._beyond("audience", str(count).encode())
        if newcomer and self._scene:
            self._beyond("scene", self._scene.encode())
            if self._picture:
                self._beyond("picture", self._picture)
        self._tell_audience()

    def _tell_audience(self) -> None:
        for viewer in self.viewers:
            viewer.tell_audience(Audience(viewers=self._audience(), you=viewer.name))

    def _set(self, scene: str) -> None:
        self._scene = scene
        for viewer in self.viewers:
            viewer.tell(scene)

    def _show(self, picture: bytes) -> None:
        self._picture = picture
        for viewer in self.viewers:
            viewer.show(picture)

    def _away(self) -> None:
        self._scene = self._picture = None
        self._in_all = 0
        for viewer in self.viewers:
            viewer.tell_away()
