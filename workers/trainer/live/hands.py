"""A person who plays an Atari game: who it is, what is held down, and which of the game's actions that is."""

import time
from collections.abc import Callable, Collection, Sequence

from workers.contract.orders import SILENT_HANDS_SECONDS, Key

NO_ACTION = "NOOP"

Meaning = tuple[int, int, int]
"""Where a stick is held: to the right (1) or the left (−1), up (1) or down (−1); and whether fire is pressed (1)."""


class Hands:
    """The one viewer who plays, if somebody does."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self.free()

    def free(self) -> None:
        """Let nobody play."""
        self.viewer: str | None = None
        self._held: frozenset[Key] = frozenset()
        self._pressed: frozenset[Key] = frozenset()

    def take(self, viewer: str) -> None:
        """Let a viewer play, unless somebody does."""
        if self.viewer is None:
            self.viewer = viewer
            self.hear(viewer)

    def hear(self, viewer: str) -> None:
        """Note that a viewer is there."""
        if viewer == self.viewer:
            self._heard = self._clock()

    @property
    def silent(self) -> bool:
        """Whether who plays has not been heard for too long."""
        return self.viewer is not None and self._clock() - self._heard > SILENT_HANDS_SECONDS

    def hold(self, viewer: str, keys: Collection[Key]) -> None:
        """Hold these keys down, and no others, if it is this viewer who plays."""
        if viewer == self.viewer:
            self._pressed |= frozenset(keys) - self._held
            self._held = frozenset(keys)

    def action(self, names: Sequence[str]) -> str:
        """Return the action for the next frame; a key counts in one at least, however shortly it was pressed."""
        held, self._pressed = self._held | self._pressed, frozenset()
        return nearest(held, names)


def nearest(held: Collection[Key], names: Sequence[str]) -> str:
    """Return the action of a game that is nearest to what is held down, the first one of several."""
    across, up = ("right" in held) - ("left" in held), ("up" in held) - ("down" in held)
    meant = [_meaning(name) for name in names]
    # Pong's paddle goes up by RIGHT. Where the stick has one direction, the keys of the other one move it too.
    if not any(each[1] for each in meant):
        across, up = across or up, 0
    elif not any(each[0] for each in meant):
        across, up = 0, up or across
    wish = (across, up, int("fire" in held))
    # A person can do nothing in each game, also where its set leaves that out.
    choices = dict(zip((NO_ACTION, *names), ((0, 0, 0), *meant), strict=True))
    return min(choices, key=lambda name: sum(abs(a - b) for a, b in zip(choices[name], wish, strict=True)))


def _meaning(name: str) -> Meaning:
    return ("RIGHT" in name) - ("LEFT" in name), ("UP" in name) - ("DOWN" in name), int("FIRE" in name)
